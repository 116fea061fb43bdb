"""A host's Redis that is awaited."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, TypeVar, cast

from labkit_ratelimit._async_cluster import AsyncCluster
from labkit_ratelimit._bounded_pool import taken
from labkit_ratelimit._clients import is_cluster, on, once, package_of
from labkit_ratelimit._fault import Patience, abandon, fault_of, taken_along
from labkit_ratelimit._flight import Flight, tell
from labkit_ratelimit._hold import AsyncHold
from labkit_ratelimit._native import Call
from labkit_ratelimit._script import asent
from labkit_ratelimit._sync_redis import limits_of

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from labkit_ratelimit._log import Log

T = TypeVar("T")


class AsyncRedis:
    """Runs the calls of a plan, each once, and knows nothing of what they say."""

    __slots__ = ("_bounded", "_patience", "_run")

    def __init__(self, client: Any, log: Log) -> None:
        # Of an unknown client, of any event loop, nothing of asyncio is used.
        self._bounded = package_of(client) is not None
        self._run = way_of(client)
        self._patience = Patience()
        limits_of(client, log)

    async def run(self, answer: T | Call[T]) -> T:
        """Run call after call, until there is an answer."""
        while isinstance(answer, Call):
            answer = await self._settled(cast("Call[T]", answer))
        return answer

    async def _settled(self, call: Call[T]) -> T | Call[T]:
        flight = Flight(call.deadline)
        if not self._bounded:
            return await self._unbounded(call, flight)
        try:
            task = flight.begin(self._run(call, flight))
        except RuntimeError as error:
            # No loop of asyncio runs here.
            return call.fail(*fault_of(error))
        try:
            await flight.wait()
        except BaseException as gone:
            if task.done() and not task.cancelled():
                tell(task, call)
            else:
                abandon(call, gone)
                flight.leave(call, self._patience.is_news)
            raise
        if not task.done():
            answer = call.late() if self._patience.is_news(flight.ends) else call.unsent()
            await flight.stop()
            return answer
        if task.cancelled():
            return call.fail("CancelledError", "somebody cancelled the call, and not its check")
        failure = task.exception()
        if failure is None:
            return call.settle(task.result())
        if isinstance(failure, Exception):
            return self._patience.failed(call, failure, flight.ends)
        abandon(call, failure)
        raise failure

    async def _unbounded(self, call: Call[T], flight: Flight) -> T | Call[T]:
        """Run it as a client does of which nothing is known, not even whose event loop it waits in."""
        # Nor when it sends.
        flight.ends.sending()
        try:
            reply = await self._run(call, flight)
        except Exception as error:
            failure = error
        except BaseException as gone:
            taken_along(call, gone, flight.ends)
            raise
        else:
            return call.settle(reply)
        return self._patience.failed(call, failure, flight.ends)


def way_of(client: Any) -> Callable[[Call[Any], Flight], Coroutine[Any, Any, Any]]:
    """Give what runs a call on this client."""
    package = package_of(client)
    if package is None:
        return lambda call, _: asent(client, call)
    retry = once(package, asynchronous=True)
    if is_cluster(client):
        return AsyncCluster(client, retry).run
    return lambda call, flight: _run_on(client, call, retry, flight)


async def _run_on(client: Any, call: Call[Any], retry: Any, flight: Flight) -> Any:
    """Run a call on a connection of this client's; whoever awaits it keeps the time."""
    hold = AsyncHold(retry, flight)
    # It makes the connection of a client that has one.
    flight.is_connecting = True
    await client.initialize()
    flight.is_connecting = False
    if client.connection is not None:
        async with client._single_conn_lock:
            return await _through(client, client.connection, call, hold)
    pool = client.connection_pool
    connection = None
    try:
        connection = await taken(pool, hold)
        return await _through(client, connection, call, hold)
    finally:
        hold.let_go()
        if connection is not None:
            await _given_back(pool, connection)


async def _through(client: Any, connection: Any, call: Call[Any], hold: AsyncHold) -> Any:
    try:
        return await asent(on(client, await hold.ready(connection)), call)
    except BaseException as error:
        await hold.fail(error)
        raise
    finally:
        hold.let_go()


async def _given_back(pool: Any, connection: Any) -> None:
    try:
        await pool.release(connection)
    except asyncio.CancelledError:
        # That came while it waited for the pool's lock.
        with contextlib.suppress(Exception):
            await pool.release(connection)
        raise
