"""A host's Redis that is awaited."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, TypeVar, cast

from labkit_ratelimit._async_cluster import AsyncCluster
from labkit_ratelimit._clients import is_a_reply, is_cluster, on, once, package_of, wants_a_command
from labkit_ratelimit._deadline import Deadline, Late
from labkit_ratelimit._fault import fault_of
from labkit_ratelimit._hold import Settings
from labkit_ratelimit._native import Call
from labkit_ratelimit._script import asent
from labkit_ratelimit._sync_redis import limits_of

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from labkit_ratelimit._log import Log

T = TypeVar("T")


class AsyncRedis:
    """Runs the calls of a plan, each once, and knows nothing of what they say."""

    __slots__ = ("_bounded", "_run")

    def __init__(self, client: Any, log: Log) -> None:
        # Of an unknown client, of any event loop, nothing of asyncio is used.
        self._bounded = package_of(client) is not None
        self._run = way_of(client)
        limits_of(client, log)

    async def run(self, answer: T | Call[T]) -> T:
        """Run call after call, until there is an answer."""
        while isinstance(answer, Call):
            answer = await self._settled(cast("Call[T]", answer))
        return answer

    async def _settled(self, call: Call[T]) -> T | Call[T]:
        try:
            if self._bounded:
                with Deadline(call.deadline):
                    reply = await self._run(call)
            else:
                reply = await self._run(call)
        except Late:
            return call.late()
        except Exception as error:
            return call.fail(*fault_of(error))
        return call.settle(reply)


def way_of(client: Any) -> Callable[[Call[Any]], Coroutine[Any, Any, Any]]:
    """Give what runs a call on this client."""
    package = package_of(client)
    if package is None:
        return lambda call: asent(client, call)
    if is_cluster(client):
        return AsyncCluster(client).run
    retry = once(package, asynchronous=True)
    return lambda call: _run_on(client, call, retry)


async def _run_on(client: Any, call: Call[Any], retry: Any) -> Any:
    """Run a call on a connection of this client's; whoever awaits it keeps the time."""
    # It takes the connection of a client that has one.
    await client.initialize()
    if client.connection is not None:
        async with client._single_conn_lock:
            return await _through(client, client.connection, call, retry)
    pool = client.connection_pool
    kind: Any = type(pool)
    connection = await (pool.get_connection("EVALSHA") if wants_a_command(kind) else pool.get_connection())
    try:
        return await _through(client, connection, call, retry)
    finally:
        await _given_back(pool, connection)


async def _through(client: Any, connection: Any, call: Call[Any], retry: Any) -> Any:
    settings = Settings()
    try:
        settings.once(connection, retry)
        return await asent(on(client, connection), call)
    except BaseException as error:
        # A reply may still come.
        if not is_a_reply(error):
            with contextlib.suppress(Exception):
                await connection.disconnect(nowait=True)
        raise
    finally:
        settings.restore()


async def _given_back(pool: Any, connection: Any) -> None:
    try:
        await pool.release(connection)
    except asyncio.CancelledError:
        # That came while it waited for the pool's lock.
        with contextlib.suppress(Exception):
            await pool.release(connection)
        raise
