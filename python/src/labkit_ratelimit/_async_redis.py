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

    __slots__ = ("_given", "_log", "_package", "_turns")

    def __init__(self, client: Any, log: Log) -> None:
        self._given = client
        self._log = log
        self._package = package_of(client)
        self._turns: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore]
        self._turns = weakref.WeakKeyDictionary()
        if self._package is None:
            log.say_unknown(client)

    async def run(self, answer: T | Call[T]) -> T:
        """Run call after call, until there is an answer."""
        while isinstance(answer, Call):
            answer = await self._settled(cast("Call[T]", answer))
        return answer

    async def _settled(self, call: Call[T]) -> T | Call[T]:
        try:
            here = self._here()
            if here is None:
                # Of any event loop: nothing of asyncio is used.
                reply = await _sent(self._given, call)
            else:
                client, turn = here
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
        here = self._here()
        if here is not None:
            await aclose(here[0])

    def _here(self) -> tuple[Any, asyncio.Semaphore] | None:
        """Give the client of the running event loop, and its turnstile, if the host's client is known here."""
        if self._package is None:
            return None
        loop = asyncio.get_running_loop()
        try:
            client = sibling(self._given, self._package, None, loop)
        except (AttributeError, TypeError):
            # Of a kind that is not made as the others are.
            self._package = None
            self._log.say_unknown(self._given)
            return None
        turn = self._turns.get(loop)
        if turn is None:
            turn = self._turns[loop] = asyncio.Semaphore(AT_ONCE)
        return client, turn


async def _sent(client: Any, call: Call[Any]) -> Any:
    try:
        return await client.execute_command(*call.evalsha())
    except Exception as error:
        if not is_unknown_script(error):
            raise
        # Nothing ran.
        return await client.execute_command(*call.eval())
