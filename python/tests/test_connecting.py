"""Connections that are slow to make, and connections that the server closed, in both halves."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
import redis.asyncio
import redis.asyncio.cluster
import redis.cluster
import valkey
import valkey.asyncio
from rules import per_ip

from labkit_ratelimit import Limiter

if TYPE_CHECKING:
    from collections.abc import Callable

    from private_redis import PrivateCluster, PrivateRedis

AWAITED: dict[str, Any] = {"redis": redis.asyncio.Redis, "valkey": valkey.asyncio.Valkey}
CALLED: dict[str, Any] = {"redis": redis.Redis, "valkey": valkey.Valkey}


def limiter_on(client: Any, deadline: float = 5) -> Limiter:
    return Limiter("connecting", [per_ip(1000)], client, deadline=deadline)


async def errors(limiter: Limiter, count: int) -> int:
    """Say how many of so many checks at once fail."""
    results = await asyncio.gather(*(limiter.acheck({"ip": "1"}) for _ in range(count)))
    return sum(result.error for result in results)


async def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 5
    while not holds():
        assert time.monotonic() < end
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("package", AWAITED)
async def test_connects_of_a_burst_that_are_late_are_the_pool_s(own_server: PrivateRedis, package: str) -> None:
    client = AWAITED[package](port=own_server.port)
    limiter = limiter_on(client, deadline=0.1)
    own_server.pause()
    assert await errors(limiter, 20) == 20
    own_server.go_on()
    pool = client.connection_pool
    await until(lambda: not pool._in_use_connections)
    made = list(pool._available_connections)
    assert [connection.is_connected for connection in made] == [True] * 20
    # All of them are one failure of the store: the circuit is closed.
    assert (await limiter.apeek({"ip": "1"})).info.count == 0  # type: ignore[union-attr]
    assert await errors(limiter_on(client), 20) == 0
    assert set(pool._available_connections) == set(made)
    await client.aclose()


def test_threads_that_connect_too_late_together_are_one_failure(own_server: PrivateRedis) -> None:
    with redis.Redis(port=own_server.port) as client:
        limiter = limiter_on(client, deadline=0.2)
        own_server.pause()
        failed: list[bool] = []
        threads = [threading.Thread(target=lambda: failed.append(limiter.check({"ip": "1"}).error)) for _ in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failed == [True] * 10
        own_server.go_on()
        assert limiter.peek({"ip": "1"}).info.count == 0  # type: ignore[union-attr]
        own_server.pause()
        client.connection_pool.disconnect()
        assert [limiter.check({"ip": "1"}).error for _ in range(5)] == [True] * 5
        start = time.monotonic()
        assert limiter.check({"ip": "1"}).error
        assert time.monotonic() - start < 0.15
        own_server.go_on()


async def test_connects_that_are_late_one_after_the_other_open_the_circuit(own_server: PrivateRedis) -> None:
    client = redis.asyncio.Redis(port=own_server.port)
    limiter = limiter_on(client, deadline=0.05)
    own_server.pause()
    for _ in range(5):
        assert await errors(limiter, 3) == 3
    start = time.monotonic()
    assert await errors(limiter, 1) == 1
    assert time.monotonic() - start < 0.04
    own_server.go_on()
    await client.aclose()


def blocking(library: Any, port: int) -> Any:
    """Give a client of a pool that lets callers wait for its 6 connections."""
    return library(port=port, max_connections=6)


async def test_calls_that_had_a_connection_too_late_are_one_failure(own_server: PrivateRedis) -> None:
    pool: Any = blocking(redis.asyncio.BlockingConnectionPool, own_server.port)
    client = redis.asyncio.Redis(connection_pool=pool)
    limiter = limiter_on(client, deadline=0.4)
    used = [await pool.get_connection() for _ in range(6)]
    own_server.pause()
    checks = [asyncio.create_task(errors(limiter, 1)) for _ in range(6)]
    await asyncio.sleep(0.3)
    for connection in used:
        await pool.release(connection)
    assert await asyncio.gather(*checks) == [1] * 6
    own_server.go_on()
    # The store had 0.1 s of 0.4 s; it may answer as quickly as ever.
    assert await errors(limiter, 1) == 0
    used = [await pool.get_connection() for _ in range(6)]
    own_server.pause()
    for connection in used:
        await pool.release(connection)
    assert await errors(limiter, 6) == 6
    own_server.go_on()
    # Now it had all of it.
    assert await errors(limiter, 1) == 1
    await pool.disconnect()


def test_the_same_of_threads(own_server: PrivateRedis) -> None:
    pool: Any = blocking(redis.BlockingConnectionPool, own_server.port)
    client = redis.Redis(connection_pool=pool)
    limiter = limiter_on(client, deadline=0.4)
    failed: list[bool] = []

    def check_in_threads() -> list[threading.Thread]:
        threads = [threading.Thread(target=lambda: failed.append(limiter.check({"ip": "1"}).error)) for _ in range(6)]
        for thread in threads:
            thread.start()
        return threads

    used = [pool.get_connection() for _ in range(6)]
    own_server.pause()
    threads = check_in_threads()
    time.sleep(0.3)
    for connection in used:
        pool.release(connection)
    for thread in threads:
        thread.join()
    assert failed == [True] * 6
    own_server.go_on()
    assert not limiter.check({"ip": "1"}).error
    used = [pool.get_connection() for _ in range(6)]
    own_server.pause()
    for connection in used:
        pool.release(connection)
    for thread in check_in_threads():
        thread.join()
    own_server.go_on()
    assert limiter.check({"ip": "1"}).error
    pool.disconnect()


async def test_a_cluster_is_found_though_nobody_waits_for_it(cluster: PrivateCluster) -> None:
    client = redis.asyncio.cluster.RedisCluster(host="127.0.0.1", port=cluster.nodes[0].port)
    limiter = limiter_on(client, deadline=0.1)
    for node in cluster.nodes:
        node.pause()
    assert await errors(limiter, 20) == 20
    for node in cluster.nodes:
        node.go_on()
    await until(lambda: not client._initialize)
    await asyncio.sleep(0.05)
    assert await errors(limiter_on(client), 5) == 0
    # Each connects, and is late.
    await client.aclose()
    await client.initialize()
    for node in cluster.nodes:
        node.pause()
    assert await errors(limiter, 20) == 20
    for node in cluster.nodes:
        node.go_on()
    await asyncio.sleep(0.2)
    assert await errors(limiter, 1) == 0
    await client.aclose()


KINDS: list[dict[str, Any]] = [{"protocol": 2}, {"protocol": 3}, {"protocol": 3, "single_connection_client": True}]


@pytest.mark.parametrize("options", KINDS)
@pytest.mark.parametrize("package", AWAITED)
async def test_what_the_server_closed_is_not_sent_on(
    own_server: PrivateRedis, package: str, options: dict[str, Any]
) -> None:
    client = AWAITED[package](port=own_server.port, **options)
    limiter = limiter_on(client)
    assert await errors(limiter, 10) == 0
    close_all(own_server)
    await asyncio.sleep(0.1)
    assert await errors(limiter, 10) == 0
    await client.aclose()


async def test_what_a_cluster_closed_is_not_sent_on(cluster: PrivateCluster) -> None:
    client = redis.asyncio.cluster.RedisCluster(host="127.0.0.1", port=cluster.nodes[0].port)
    limiter = limiter_on(client)
    assert await errors(limiter, 10) == 0
    for node in cluster.nodes:
        close_all(node)
    await asyncio.sleep(0.1)
    assert await errors(limiter, 10) == 0
    await client.aclose()


@pytest.mark.parametrize("options", KINDS)
@pytest.mark.parametrize("package", CALLED)
def test_the_same_without_await(own_server: PrivateRedis, package: str, options: dict[str, Any]) -> None:
    with CALLED[package](port=own_server.port, **options) as client:
        limiter = limiter_on(client)
        for _ in range(2):
            assert not limiter.check({"ip": "1"}).error
            close_all(own_server)
            time.sleep(0.05)


def test_the_same_of_a_cluster(cluster: PrivateCluster) -> None:
    with redis.cluster.RedisCluster(host="127.0.0.1", port=cluster.nodes[0].port) as client:
        limiter = limiter_on(client)
        for _ in range(2):
            assert not limiter.check({"ip": "1"}).error
            for node in cluster.nodes:
                close_all(node)
            time.sleep(0.05)


def close_all(server: PrivateRedis) -> None:
    with redis.Redis(port=server.port) as other:
        other.client_kill_filter(_type="normal")


async def test_a_loop_that_somebody_held_is_not_the_store_s_lag(own_server: PrivateRedis) -> None:
    client = redis.asyncio.Redis(port=own_server.port)
    limiter = limiter_on(client, deadline=0.1)
    await limiter.acheck({"ip": "1"})
    for _ in range(7):
        task = asyncio.create_task(limiter.acheck({"ip": "1"}))
        # It has begun, and sent nothing.
        await asyncio.sleep(0)
        time.sleep(0.15)  # noqa: ASYNC251
        assert not (await task).error
    await client.aclose()


def test_a_pool_without_a_connection_is_no_dead_store(
    own_server: PrivateRedis, caplog: pytest.LogCaptureFixture
) -> None:
    with redis.Redis(port=own_server.port, max_connections=1) as client:
        limiter = limiter_on(client)
        taken = client.connection_pool.get_connection()
        assert [limiter.check({"ip": "1"}).error for _ in range(10)] == [True] * 10
        client.connection_pool.release(taken)
        assert not limiter.check({"ip": "1"}).error
    assert {line.rate_limit["class_name"] for line in caplog.records} == {"MaxConnectionsError"}  # type: ignore[attr-defined]


async def test_nor_is_one_of_asyncio(own_server: PrivateRedis, caplog: pytest.LogCaptureFixture) -> None:
    client = redis.asyncio.Redis(port=own_server.port, max_connections=1)
    limiter = limiter_on(client)
    taken = await client.connection_pool.get_connection()
    assert [(await limiter.acheck({"ip": "1"})).error for _ in range(10)] == [True] * 10
    await client.connection_pool.release(taken)
    assert not (await limiter.acheck({"ip": "1"})).error
    assert {line.rate_limit["class_name"] for line in caplog.records} == {"MaxConnectionsError"}  # type: ignore[attr-defined]
    await client.aclose()


CLOSED = """
import asyncio, gc, sys
import redis.asyncio
from labkit_ratelimit import Limiter, Rule

limiter = Limiter("closed", [Rule(name="all", limit=5, period_s=60)], redis.asyncio.Redis(port=int(sys.argv[1])))
sys.unraisablehook = lambda what: print(what.object, repr(what.exc_value))
loop = asyncio.new_event_loop()
task = loop.create_task(limiter.acheck({}))
loop.run_until_complete(asyncio.sleep(0.05))
loop.close()
del task
gc.collect()
"""


def test_a_loop_that_is_closed_under_a_call_is_silent(own_server: PrivateRedis) -> None:
    own_server.pause()
    words = [sys.executable, "-c", CLOSED, str(own_server.port)]
    said = subprocess.run(words, capture_output=True, text=True, timeout=30, check=True).stdout
    own_server.go_on()
    # What the client says is its own.
    assert "acheck" not in said, said
