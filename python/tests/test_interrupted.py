"""Callers that do not wait for an answer, and signals that come meanwhile."""

from __future__ import annotations

import asyncio
import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
import redis
import redis.asyncio
from rules import in_memory, per_ip

from labkit_ratelimit import Limiter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from private_redis import PrivateRedis


def limiter_on(client: Any, deadline: float = 0.1) -> Limiter:
    return Limiter("interrupted", [per_ip(1000)], client, deadline=deadline)


def failed(limiter: Limiter) -> int:
    """Say how many checks were counted as errors."""
    return sum(
        sample.value
        for sample in limiter.metrics()
        if "checks_total{" in sample.series and 'error="true"' in sample.series
    )


def messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.__dict__["rate_limit"]["message"] for record in caplog.records]


async def test_a_time_out_of_the_host_s_hides_no_dead_store(
    own_server: PrivateRedis, caplog: pytest.LogCaptureFixture
) -> None:
    client = redis.asyncio.Redis(port=own_server.port)
    limiter = limiter_on(client)
    await limiter.acheck({"ip": "1"})
    own_server.pause()
    for _ in range(10):
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(limiter.acheck({"ip": "1"}), 0.06)
        if "rate_limit_circuit_open" in messages(caplog):
            break
    assert messages(caplog).count("rate_limit_circuit_open") == 1
    assert failed(limiter) == messages(caplog).count("rate_limit_error") >= 5
    # It fails at once from now on.
    assert (await asyncio.wait_for(limiter.acheck({"ip": "1"}), 0.06)).error
    own_server.go_on()
    await client.aclose()


async def test_callers_that_go_say_nothing_of_a_store_that_answers(
    own_server: PrivateRedis, caplog: pytest.LogCaptureFixture
) -> None:
    client = redis.asyncio.Redis(port=own_server.port)
    limiter = limiter_on(client)
    await asyncio.gather(*(limiter.acheck({"ip": "1"}) for _ in range(20)))
    own_server.pause()
    checks = [asyncio.create_task(limiter.acheck({"ip": "2"})) for _ in range(20)]
    await asyncio.sleep(0.03)
    for check in checks:
        check.cancel()
    await asyncio.gather(*checks, return_exceptions=True)
    own_server.go_on()
    await asyncio.sleep(0.2)
    # They were sent, each once; their connections are as good as before.
    assert (await limiter.apeek({"ip": "2"})).info.count == 20  # type: ignore[union-attr]
    assert len(client.connection_pool._available_connections) == 20
    assert failed(limiter) == 20
    assert "rate_limit_circuit_open" not in messages(caplog)
    await client.aclose()


class Interrupt(BaseException):
    """What passes everything."""


class SoftTimeLimit(Exception):
    """As a worker's, that tells a task to come to its end."""


@contextmanager
def alarm(seconds: float, raised: BaseException) -> Iterator[None]:
    def ring(*_: object) -> None:
        raise raised

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("kind", [Interrupt, SoftTimeLimit, TimeoutError, ConnectionError])
def test_what_a_signal_raises_is_raised(own_server: PrivateRedis, kind: type[BaseException]) -> None:
    with redis.Redis(port=own_server.port) as client:
        limiter = limiter_on(client, deadline=2)
        limiter.check({"ip": "1"})
        own_server.pause()
        raised = kind("time is up")
        with pytest.raises(kind) as seen, alarm(0.05, raised):
            limiter.check({"ip": "1"})
        assert seen.value is raised
        assert failed(limiter) == 1
        own_server.go_on()
        # What was raised before the call is no business of it.
        own_server.kill()
        try:
            with alarm(0.01, raised):
                time.sleep(1)
        except kind:
            with alarm(10, Interrupt()):
                assert limiter.check({"ip": "1"}).error


def test_errors_that_are_each_other_s_causes_have_an_end() -> None:
    one, other = ValueError("one"), ValueError("other")
    one.__cause__, other.__cause__ = other, one

    class Client:
        def execute_command(self, *_: Any) -> bytes:
            raise one

    # Without a handler nothing is looked for.
    with alarm(5, Interrupt()):
        assert limiter_on(Client()).check({"ip": "1"}).error


async def test_what_a_signal_raises_is_raised_in_a_loop(own_server: PrivateRedis) -> None:
    kind: Any = redis.asyncio.Redis

    class Slow(kind):  # type: ignore[misc]
        async def execute_command(self, *words: Any, **options: Any) -> Any:
            time.sleep(0.2)  # noqa: ASYNC251
            return await super().execute_command(*words, **options)

    client = Slow(port=own_server.port)
    limiter = limiter_on(client, deadline=2)
    with pytest.raises(SoftTimeLimit), alarm(0.05, SoftTimeLimit()):
        await limiter.acheck({"ip": "1"})
    await client.aclose()


@pytest.mark.parametrize("kind", [Interrupt, SoftTimeLimit])
def test_what_a_signal_raises_in_a_callable_is_raised(kind: type[BaseException]) -> None:
    def slow() -> int:
        time.sleep(0.2)
        return 5

    limiter = in_memory(per_ip(slow))
    with pytest.raises(kind), alarm(0.05, kind()):
        limiter.check({"ip": "1"})
    assert limiter.peek({"ip": "1"}).info.count == 0  # type: ignore[union-attr]


def test_interruptions_hide_no_dead_store(own_server: PrivateRedis, caplog: pytest.LogCaptureFixture) -> None:
    with redis.Redis(port=own_server.port) as client:
        limiter = limiter_on(client)
        limiter.check({"ip": "1"})
        own_server.pause()
        for _ in range(10):
            with pytest.raises(Interrupt), alarm(0.06, Interrupt()):
                limiter.check({"ip": "1"})
        assert messages(caplog).count("rate_limit_circuit_open") == 1
        assert failed(limiter) == 10
        own_server.go_on()


def test_what_shares_its_code_with_a_handler_is_none() -> None:
    def traced(function: Any) -> Any:
        return lambda *words: function(*words)

    def fails() -> int:
        raise ValueError("no number")

    before = signal.signal(signal.SIGALRM, traced(print))
    try:
        assert in_memory(per_ip(traced(fails))).check({"ip": "1"}).error
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_handler_that_takes_its_leave_is_one_all_the_same() -> None:
    def once(*_: object) -> None:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        raise Interrupt

    def slow() -> int:
        time.sleep(0.2)
        return 5

    before = signal.signal(signal.SIGALRM, once)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(Interrupt):
            in_memory(per_ip(slow)).check({"ip": "1"})
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
