"""The script of a call, sent by a client whose commands run on one connection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit_ratelimit._fault import is_unknown_script
from labkit_ratelimit._values import dropped

if TYPE_CHECKING:
    from labkit_ratelimit._native import Call


def sent(client: Any, call: Call[Any], *, asking: bool = False) -> Any:
    """Send it; where the server does not know the digest nothing ran, and it is sent whole.

    `asking`: of a cluster, the slot is on its way to this node. That holds for one command, which must not be one that
    fails for want of the script.

    Raises:
        TypeError: the client gives an awaitable, and did not say so.

    """
    if asking:
        _reply(client.execute_command("ASKING"))
        return _reply(client.execute_command(*call.eval()))
    try:
        return _reply(client.execute_command(*call.evalsha()))
    except Exception as error:
        if not is_unknown_script(error):
            raise
        return _reply(client.execute_command(*call.eval()))


async def asent(client: Any, call: Call[Any], *, asking: bool = False) -> Any:
    """As `sent`, of a client that is awaited."""
    if asking:
        await client.execute_command("ASKING")
        return await client.execute_command(*call.eval())
    try:
        return await client.execute_command(*call.evalsha())
    except Exception as error:
        if not is_unknown_script(error):
            raise
        return await client.execute_command(*call.eval())


def _reply(given: Any) -> Any:
    if not hasattr(given.__class__, "__await__"):
        return given
    dropped(given)
    raise TypeError(
        f"execute_command gave an awaitable, a {type(given).__qualname__}, where a reply belongs: a client that is "
        "awaited has `async def execute_command`, and its limiter acheck"
    )
