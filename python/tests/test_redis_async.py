"""Checks on a real Redis, by clients that are awaited."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest
import redis.asyncio
import valkey.asyncio
from rules import per_ip

from labkit_ratelimit import Limiter
from labkit_ratelimit._deadline import Deadline, Late

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from private_redis import PrivateRedis


def limiter_on(client: Any, name: str, limit: int = 2, **more: Any) -> Limiter:
    return Limiter(name, [per_ip(limit)], client, **{"deadline": 5, **more})


@pytest.fixture(params=["redis", "valkey"])
async def client(request: pytest.FixtureRequest, own_server: PrivateRedis) -> AsyncIterator[Any]:
    kinds: dict[str, Any] = {"redis": redis.asyncio.Redis, "valkey": valkey.asyncio.Valkey}
    made = kinds[request.param](port=own_server.port)
    yield made
    await made.aclose()


async def test_check_peek_clear(client: Any) -> None:
    limiter = limiter_on(client, "basics")
    assert [(await limiter.acheck({"ip": "1"})).action for _ in range(3)] == ["allow", "allow", "block"]
    assert (await limiter.apeek({"ip": "1"})).blocked
    assert await limiter.aclear({"ip": "1"}) == 1
    assert (await limiter.aenforce({"ip": "1"})).allowed
    assert (await limiter.apeek({"ip": "1"})).info.count == 1  # type: ignore[union-attr]


async def test_many_at_once_let_exactly_the_limit_through(client: Any) -> None:
    limiter = limiter_on(client, "many", limit=100)
    # So many at once as a pool of redis-py has connections, where its host does not say.
    results = [
        result for _ in range(3) for result in await asyncio.gather(*(limiter.acheck({"ip": "1"}) for _ in range(100)))
    ]
    assert not any(result.error for result in results)
    assert sum(result.allowed for result in results) == 100


async def test_a_synchronous_half_needs_a_synchronous_client(client: Any) -> None:
    limiter = limiter_on(client, "halves")
    with pytest.raises(TypeError, match="await acheck"):
        limiter.check({"ip": "1"})


async def test_a_deadline(client: Any, own_server: PrivateRedis) -> None:
    limiter = limiter_on(client, "deadline", deadline=0.2)
    await limiter.acheck({"ip": "1"})
    own_server.pause()
    for _ in range(3):
        start = time.monotonic()
        assert (await limiter.acheck({"ip": "1"})).error
        assert 0.19 < time.monotonic() - start < 0.5
    own_server.go_on()
    await asyncio.sleep(0.1)
    assert (await limiter.apeek({"ip": "2"})).info.count == 0  # type: ignore[union-attr]


async def test_a_reply_that_is_there_is_used_however_late(client: Any, own_server: PrivateRedis) -> None:
    limiter = limiter_on(client, "late", deadline=0.1)
    await limiter.acheck({"ip": "1"})
    own_server.pause()
    check = asyncio.create_task(limiter.acheck({"ip": "1"}))
    await asyncio.sleep(0.02)
    own_server.go_on()
    # The loop is busy elsewhere: the reply comes meanwhile, and the deadline passes.
    time.sleep(0.3)  # noqa: ASYNC251
    result = await check
    assert (result.error, result.info.count) == (False, 2)  # type: ignore[union-attr]


async def test_a_cancelled_check_leaves_no_reply_behind(client: Any, own_server: PrivateRedis) -> None:
    limiter = limiter_on(client, "cancelled", limit=100)
    await limiter.acheck({"ip": "1"})
    for _ in range(3):
        own_server.pause()
        checks = [asyncio.create_task(limiter.acheck({"ip": "1"}, cost=5)) for _ in range(5)]
        await asyncio.sleep(0.05)
        for check in checks:
            check.cancel()
        assert all(
            isinstance(end, asyncio.CancelledError) for end in await asyncio.gather(*checks, return_exceptions=True)
        )
        own_server.go_on()
        results = await asyncio.gather(*(limiter.apeek({"ip": str(ip)}) for ip in range(2, 12)))
        assert [result.info.count for result in results] == [0] * 10  # type: ignore[union-attr]


async def test_a_dead_server(client: Any, own_server: PrivateRedis) -> None:
    limiter = limiter_on(client, "dead")
    await limiter.acheck({"ip": "1"})
    own_server.kill()
    start = time.monotonic()
    assert all([(await limiter.acheck({"ip": "1"})).error for _ in range(7)])
    assert time.monotonic() - start < 1
    own_server.start()
    limiter.close_circuit()
    assert (await limiter.acheck({"ip": "1"})).info.count == 1  # type: ignore[union-attr]


def test_a_limiter_outlives_event_loops(own_server: PrivateRedis) -> None:
    client = redis.asyncio.Redis(port=own_server.port)
    limiter = limiter_on(client, "loops")

    async def once() -> str:
        action = (await limiter.acheck({"ip": "1"})).action
        # Connections are of the loop that made them: a host closes them with it.
        await client.aclose()
        return action

    assert [asyncio.run(once()) for _ in range(3)] == ["allow", "allow", "block"]


async def test_an_unknown_client(client: Any, caplog: pytest.LogCaptureFixture) -> None:
    class Wrapper:
        async def execute_command(self, *words: Any) -> Any:
            return await client.execute_command(*words)

    limiter = limiter_on(Wrapper(), "unknown")
    assert [(await limiter.acheck({"ip": "1"})).action for _ in range(3)] == ["allow", "allow", "block"]
    assert [record.__dict__["rate_limit"]["message"] for record in caplog.records] == ["rate_limit_redis_client"]


async def test_a_subclass_of_an_odd_make_is_like_any(
    own_server: PrivateRedis, caplog: pytest.LogCaptureFixture
) -> None:
    class Odd(redis.asyncio.Redis):
        def __init__(self) -> None:
            super().__init__(port=own_server.port)

    odd = Odd()
    limiter = limiter_on(odd, "odd", deadline=0.2)
    assert [(await limiter.acheck({"ip": "1"})).action for _ in range(3)] == ["allow", "allow", "block"]
    # It is known, so nothing is said of it; and the deadline holds.
    assert not caplog.records
    own_server.pause()
    start = time.monotonic()
    assert (await limiter.acheck({"ip": "1"})).error
    assert 0.19 < time.monotonic() - start < 0.5
    own_server.go_on()
    await odd.aclose()


async def test_a_deadline_is_no_cancellation_of_somebody_else() -> None:
    async def work(seconds: float) -> None:
        with Deadline(seconds):
            await asyncio.sleep(10)

    with pytest.raises(Late):
        await work(0.01)
    task = asyncio.create_task(work(5))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with Deadline(5):
        await asyncio.sleep(0)
