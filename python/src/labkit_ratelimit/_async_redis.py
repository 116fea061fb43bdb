"""A host's Redis that is awaited."""

from __future__ import annotations

import asyncio
import weakref
from typing import TYPE_CHECKING, Any, TypeVar, cast

from labkit_ratelimit._deadline import Deadline, Late
from labkit_ratelimit._fault import fault_of, is_unknown_script
from labkit_ratelimit._native import Call
from labkit_ratelimit._sibling import aclose, package_of, sibling

if TYPE_CHECKING:
    from labkit_ratelimit._log import Log

T = TypeVar("T")

AT_ONCE = 50
"""So many calls of a limiter are on their way at once, in one event loop: as many connections. Others wait in turn."""


class AsyncRedis:
    """Runs the calls of a plan, each once, and knows nothing of what they say."""

    __slots__ = ("_given", "_package", "_turns")

    def __init__(self, client: Any, log: Log) -> None:
        self._given = client
        self._package = package_of(client)
        self._turns: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore]
        self._turns = weakref.WeakKeyDictionary()
        if self._package is None:
            log.say(
                "rate_limit_redis_client",
                f"{type(client).__qualname__} is no client known here: its own time-outs rule, not the deadline, and "
                "what it tries again by itself, it tries again",
            )

    async def run(self, answer: T | Call[T]) -> T:
        """Run call after call, until there is an answer."""
        while isinstance(answer, Call):
            answer = await self._settled(cast("Call[T]", answer))
        return answer

    async def _settled(self, call: Call[T]) -> T | Call[T]:
        try:
            if self._package is None:
                # Of any event loop: nothing of asyncio is used.
                reply = await _sent(self._given, call)
            else:
                client, turn = self._here(self._package)
                with Deadline(call.deadline):
                    async with turn:
                        reply = await _sent(client, call)
        except Late:
            return call.late()
        except Exception as error:
            return call.fail(*fault_of(error))
        return call.settle(reply)

    async def close(self) -> None:
        """Close the connections that limiters of this client made in this event loop. The next call makes others."""
        if self._package:
            client, _ = self._here(self._package)
            await aclose(client)

    def _here(self, package: str) -> tuple[Any, asyncio.Semaphore]:
        """Give the client of the running event loop, and its turnstile."""
        loop = asyncio.get_running_loop()
        turn = self._turns.get(loop)
        if turn is None:
            turn = self._turns[loop] = asyncio.Semaphore(AT_ONCE)
        return sibling(self._given, package, None, loop), turn


async def _sent(client: Any, call: Call[Any]) -> Any:
    try:
        return await client.execute_command(*call.evalsha())
    except Exception as error:
        if not is_unknown_script(error):
            raise
        # Nothing ran.
        return await client.execute_command(*call.eval())
