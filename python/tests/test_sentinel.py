"""Checks by clients of a real Sentinel, which makes another server the master."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, Any

import pytest
import redis.asyncio.sentinel
import redis.sentinel
import valkey.asyncio.sentinel
import valkey.sentinel
from private_sentinel import NAME, PrivateSentinel
from rules import per_ip

from labkit_ratelimit import Limiter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from labkit_ratelimit import Result

KINDS: dict[str, Any] = {
    "redis": redis.sentinel.Sentinel,
    "valkey": valkey.sentinel.Sentinel,
    "redis.asyncio": redis.asyncio.sentinel.Sentinel,
    "valkey.asyncio": valkey.asyncio.sentinel.Sentinel,
}


@pytest.fixture
def sentinel() -> Iterator[PrivateSentinel]:
    private = PrivateSentinel()
    yield private
    private.stop()


def counted(result: Result) -> float:
    assert not result.error
    assert result.info is not None
    return result.info.count


@pytest.mark.parametrize("kind", KINDS)
def test_counts_go_on_where_the_sentinel_says(kind: str, sentinel: PrivateSentinel) -> None:
    with contextlib.closing(asyncio.new_event_loop()) as loop:
        asked = KINDS[kind]([("127.0.0.1", sentinel.port)])
        client = asked.master_for(NAME)
        limiter = Limiter("watched", [per_ip(100)], client, deadline=5)
        asynchronous = "asyncio" in kind

        def check() -> Result:
            return loop.run_until_complete(limiter.acheck({"ip": "1"})) if asynchronous else limiter.check({"ip": "1"})

        assert [counted(check()) for _ in range(3)] == [1, 2, 3]
        sentinel.fail_over()
        # What was counted is on the other one. Nothing is counted where a check failed.
        assert counted(without_error(check)) == 4
        assert counted(check()) == 5
        with redis.Redis(port=sentinel.port_of_master()) as master:
            assert float(master.get("labkit:rl:{watched:per_ip:ip:1}") or 0) == 5
        loop.run_until_complete(close(client, asked, asynchronous=asynchronous))


def without_error(check: Callable[[], Result]) -> Result:
    """Check until the client has found the other server, and a circuit that opened meanwhile is closed."""
    end = time.monotonic() + 20
    while (result := check()).error:
        assert time.monotonic() < end
        time.sleep(0.05)
    return result


async def close(client: Any, asked: Any, *, asynchronous: bool) -> None:
    for one in (client, *asked.sentinels):
        if asynchronous:
            await one.aclose()
        else:
            one.close()
