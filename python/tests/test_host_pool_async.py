"""The connections of a limiter are its host's own, in asyncio."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest
import redis.asyncio
import valkey.asyncio
from private_redis import free_port
from rules import per_ip
from strange_servers import Counting, Slow

from labkit_ratelimit import Limiter

if TYPE_CHECKING:
    from private_redis import PrivateRedis

KINDS = {"redis": redis.asyncio.Redis, "valkey": valkey.asyncio.Valkey}
POOLS = {"redis": redis.asyncio.BlockingConnectionPool, "valkey": valkey.asyncio.BlockingConnectionPool}


@pytest.fixture(params=KINDS)
def package(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def limiter_on(client: Any, deadline: float = 5) -> Limiter:
    return Limiter("pooled", [per_ip(100)], client, deadline=deadline)


async def fails(limiter: Limiter) -> float:
    """Say how long a check took that fails."""
    start = time.monotonic()
    result = await limiter.acheck({"ip": "1"})
    assert (result.action, result.error) == ("allow", True)
    return time.monotonic() - start


def state(connection: Any) -> list[Any]:
    """Give what a limiter changes of a connection, while it holds it."""
    return [connection.retry, connection.health_check_interval, connection.socket_timeout]


async def test_no_connection_is_made_beside_the_host_s(own_server: PrivateRedis, package: str) -> None:
    client: Any = KINDS[package](port=own_server.port, health_check_interval=9, decode_responses=True)
    await client.ping()
    (connection,) = client.connection_pool._available_connections
    before = state(connection)
    for limiter in (limiter_on(client), limiter_on(client, deadline=1)):
        for _ in range(3):
            assert not (await limiter.acheck({"ip": "1"})).error
            await client.get("own")
    assert list(client.connection_pool._available_connections) == [connection]
    assert state(connection) == before
    assert len(await client.client_list()) == 1
    await client.aclose()


async def test_a_small_pool_that_waits(own_server: PrivateRedis, package: str) -> None:
    pool: Any = POOLS[package](port=own_server.port, max_connections=2, health_check_interval=9)
    client: Any = KINDS[package](connection_pool=pool)
    limiter = limiter_on(client, deadline=0.3)
    results = await asyncio.gather(*(limiter.acheck({"ip": "1"}) for _ in range(50)))
    assert [result.error for result in results] == [False] * 50
    connections = list(pool._available_connections)
    before = [state(each) for each in connections]
    own_server.pause()
    start = time.monotonic()
    results = await asyncio.gather(*(limiter.acheck({"ip": "1"}) for _ in range(20)))
    assert [result.error for result in results] == [True] * 20
    assert time.monotonic() - start < 0.9
    # All were given back, as they were, without what is still to come.
    assert not pool._in_use_connections
    assert set(pool._available_connections) == set(connections)
    assert [state(each) for each in connections] == before
    assert not any(each.is_connected for each in connections)
    own_server.go_on()
    limiter.close_circuit()
    assert (await limiter.apeek({"ip": "2"})).info.count == 0  # type: ignore[union-attr]
    assert await client.get("own") is None
    await pool.disconnect()


async def test_cancelled_in_the_queue_for_a_connection(own_server: PrivateRedis, package: str) -> None:
    pool: Any = POOLS[package](port=own_server.port, max_connections=1)
    client: Any = KINDS[package](connection_pool=pool)
    limiter = limiter_on(client)
    for turns in range(12):
        checks = [asyncio.create_task(limiter.acheck({"ip": "1"})) for _ in range(6)]
        for _ in range(turns):
            await asyncio.sleep(0)
        for check in checks[1:]:
            check.cancel()
        await asyncio.gather(*checks, return_exceptions=True)
        assert not pool._in_use_connections
        assert not (await limiter.acheck({"ip": "1"})).error
    await pool.disconnect()


async def test_a_pool_that_has_no_connection_left(server: PrivateRedis, package: str) -> None:
    client: Any = KINDS[package](port=server.port, max_connections=1)
    limiter = limiter_on(client)
    results = await asyncio.gather(*(limiter.acheck({"ip": "1"}) for _ in range(3)))
    # As its host set it up: it fails at once.
    assert [result.error for result in results] == [False, True, True]
    await client.aclose()


async def test_a_call_of_unknown_fate_is_sent_once(package: str) -> None:
    server = Counting()
    client: Any = KINDS[package](port=server.port, protocol=2, retry_on_error=[OSError], health_check_interval=1)
    assert await fails(limiter_on(client)) < 1
    assert server.count() == 1
    server.listener.close()
    await client.aclose()


@pytest.mark.parametrize("seconds", [None, 0.15])
async def test_a_deadline_is_for_all_that_it_takes_to_connect(package: str, seconds: float | None) -> None:
    server = Slow(seconds)
    client: Any = KINDS[package](port=server.port, protocol=2, password="secret", db=3, client_name="host")
    assert await fails(limiter_on(client, deadline=0.2)) < 0.4
    server.listener.close()
    await client.aclose()


async def test_nobody_is_tried_twice_while_connecting(package: str) -> None:
    library: Any = redis if package == "redis" else valkey
    patient = library.asyncio.retry.Retry(library.backoff.ConstantBackoff(1), 5)
    client: Any = KINDS[package](port=free_port(), retry=patient)
    assert await fails(limiter_on(client)) < 1
    await client.aclose()


async def test_the_classes_of_the_host_are_used(
    server: PrivateRedis, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    kind: Any = KINDS[package]

    class Client(kind):  # type: ignore[misc]
        async def execute_command(self, *words: Any, **options: Any) -> Any:
            seen.append(f"client {words[0]}")
            return await super().execute_command(*words, **options)

    usual = kind.execute_command

    async def traced(self: Any, *words: Any, **options: Any) -> Any:
        seen.append("trace")
        return await usual(self, *words, **options)

    monkeypatch.setattr(kind, "execute_command", traced)
    client = Client(port=server.port)
    assert not (await limiter_on(client).acheck({"ip": "1"})).error
    assert seen[:2] == ["client EVALSHA", "trace"]
    await client.aclose()


async def test_a_client_of_one_connection(own_server: PrivateRedis, package: str) -> None:
    client: Any = KINDS[package](port=own_server.port, single_connection_client=True)
    limiter = limiter_on(client, deadline=0.2)
    results = await asyncio.gather(*(limiter.acheck({"ip": "1"}) for _ in range(5)))
    assert [result.error for result in results] == [False] * 5
    one = client.connection
    before = state(one)
    own_server.pause()
    assert await fails(limiter) < 0.4
    assert (client.connection, state(one), one.is_connected) == (one, before, False)
    own_server.go_on()
    assert not (await limiter.acheck({"ip": "1"})).error
    assert await client.get("own") is None
    assert len(await client.client_list()) == 1
    await client.aclose()
