"""The script of a call, sent by a client whose commands run on one connection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit_ratelimit._fault import is_unknown_script

if TYPE_CHECKING:
    from labkit_ratelimit._native import Call


def sent(client: Any, call: Call[Any], *, asking: bool = False) -> Any:
    """Send it; where the server does not know the digest nothing ran, and it is sent whole.

    `asking`: of a cluster, the slot is on its way to this node. That holds for one command, which must not be one that
    fails for want of the script.
    """
    if asking:
        client.execute_command("ASKING")
        return client.execute_command(*call.eval())
    try:
        return client.execute_command(*call.evalsha())
    except Exception as error:
        if not is_unknown_script(error):
            raise
        return client.execute_command(*call.eval())


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
