"""Servers of two workers under load: gunicorn, which forks them after the application is loaded, and uvicorn."""

from __future__ import annotations

import contextlib
import math
import time
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import pytest
from load import Load, Response
from server_process import ServerProcess, eventually

from labkit_ratelimit.limiter import DEADLINE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from private_redis import PrivateRedis

COMMANDS = {
    "gunicorn": "gunicorn --preload --workers 2 --threads 4 --bind 127.0.0.1:0 wsgi_app:app",
    "uvicorn": "uvicorn --workers 2 --host 127.0.0.1 --port 0 --no-access-log asgi_app:app",
}
LISTENS = r"(?:Listening at:|running on) http://127\.0\.0\.1:(\d+)"
BOOTED = r"(?:Booting worker with pid: |Started server process \[)(\d+)"


class Running(NamedTuple):
    """A server that answers."""

    port: int
    workers: set[str]
    process: ServerProcess


@contextlib.contextmanager
def running(kind: str, redis: PrivateRedis, limit: int, period_s: int, deadline: float) -> Iterator[Running]:
    process = ServerProcess(
        *COMMANDS[kind].split(),
        LIVE_REDIS=f"redis://127.0.0.1:{redis.port}",
        LIVE_LIMIT=str(limit),
        LIVE_PERIOD=str(period_s),
        LIVE_DEADLINE=str(deadline),
    )
    try:
        yield Running(int(process.says(LISTENS)[0]), set(process.says(BOOTED, times=2)), process)
    finally:
        process.stop()


def passed(responses: list[Response]) -> list[Response]:
    return [response for response in responses if response.status == 200]


def refusals(responses: list[Response]) -> int:
    return sum(response.status == 429 for response in responses)


def statuses(responses: list[Response]) -> set[int]:
    return {response.status for response in responses}


def windows(responses: list[Response], period_s: int) -> list[list[Response]]:
    """Group by window: two end a period apart, whatever the machine does meanwhile."""
    found: list[list[Response]] = []
    ends: Callable[[Response], float] = lambda response: float(response.fields["x-reset-at"])  # noqa: E731
    for response in sorted(responses, key=ends):
        if found and ends(response) - ends(found[-1][-1]) <= period_s / 2:
            found[-1].append(response)
        else:
            found.append([response])
    return found


def percentile(seconds: Iterator[float], share: float) -> float:
    ordered = sorted(seconds)
    return ordered[math.ceil((len(ordered) - 1) * share)]


@pytest.mark.parametrize("kind", COMMANDS)
def test_exactly_the_limit_passes_in_each_window_over_all_workers(kind: str, own_server: PrivateRedis) -> None:
    limit, period_s = 150, 2
    with running(kind, own_server, limit, period_s, deadline=5) as server:
        seen: list[Response] = []

        def three_windows() -> bool | None:
            seen.extend(load.take())
            return len(passed(seen)) >= 3 * limit or None

        with Load(server.port, "/exact", threads=16) as load:
            eventually("three windows of passes", three_windows, within=30)
            # The refusals of the third.
            time.sleep(0.3)
            seen.extend(load.stop())

    assert statuses(seen) == {200, 429}
    assert not any(response.failed_open for response in seen)
    full = windows(passed(seen), period_s)
    # On a slow machine one more may just have begun.
    if len(full) > 3 and len(full[-1]) < limit:
        full.pop()
    assert [len(window) for window in full] == [limit] * len(full)
    assert len(full) >= 3
    for window in full:
        assert sorted(int(response.fields["x-count"]) for response in window) == list(range(1, limit + 1))
    assert {response.worker for response in passed(seen)} == server.workers
    by_worker = list(Counter(response.worker for response in seen).values())
    print(f"measured: {len(seen)} requests, {len(full)} windows of {limit}, by worker {by_worker}")


def assert_limited(responses: list[Response], limit: int) -> None:
    """Hold the responses on one path against the limit.

    A machine that stalls may time a check out, which may have been charged all the same: then it took one place.
    """
    assert statuses(responses) == {200, 429}
    failed = sum(response.failed_open for response in responses)
    # One stall times out what is on its way.
    assert failed <= 8 + len(responses) / 100
    assert limit - failed <= len(passed(responses)) - failed <= limit


@pytest.mark.parametrize("how", ["killed", "hanging"])
@pytest.mark.parametrize("kind", COMMANDS)
def test_all_pass_marked_within_the_deadline_without_redis_then_it_enforces_again(
    kind: str, how: str, own_server: PrivateRedis
) -> None:
    limit = 100
    fail, mend = {
        "killed": (own_server.kill, own_server.start),
        "hanging": (own_server.pause, own_server.go_on),
    }[how]
    with running(kind, own_server, limit, 60, DEADLINE) as server:
        with Load(server.port, "/warm", threads=8) as load:
            # On a slow machine the first connections of a worker may take longer than the deadline.
            until_all_ask(load, server.workers, 0)
            load.path = "/healthy"
            assert_limited(until_refused(load, "/healthy"), limit)

            fail()
            failed = time.monotonic()
            time.sleep(1.5)
            mended = time.monotonic()
            # What was on its way when it failed or came back is in neither.
            down = [one for one in load.take() if one.began > failed and one.ended < mended]
            mend()
            assert statuses(down) == {200}
            assert all(one.failed_open for one in down)
            assert {one.worker for one in down} == server.workers
            assert_few_wait(down)
            if how == "killed":
                # A connection that is refused is known at once: nobody waits, as long as it takes to come and go.
                assert percentile((one.seconds for one in down), 0.99) < DEADLINE

            load.path = "/waiting"
            closed = until_all_ask(load, server.workers, mended)
            load.path = "/again"
            assert_limited(until_refused(load, "/again"), limit)
            assert statuses(load.stop()) <= {200, 429}
        log = server.process.log
    assert log.count("rate_limit_circuit_open") >= 2
    assert log.count("rate_limit_circuit_closed") >= 2
    slowest = max(one.seconds for one in down)
    print(
        f"measured: {how}: {len(down)} requests without Redis, slowest {slowest * 1000:.1f} ms; "
        f"enforcing {closed:.2f} s after"
    )


def until_refused(load: Load, path: str) -> list[Response]:
    """Wait for refusals, and give all responses on this path."""
    seen: list[Response] = []

    def refused() -> list[Response] | None:
        seen.extend(one for one in load.take() if one.path == path)
        return seen if refusals(seen) >= 300 else None

    return eventually("refusals", refused, within=20)


def until_all_ask(load: Load, workers: set[str], since: float) -> float:
    """Wait until both workers ask Redis, and give how long that took since then, in seconds."""
    recent: list[Response] = []

    def both() -> float | None:
        recent[:] = [*recent, *load.take()][-200:]
        asked = [one for one in recent if one.began > since and not one.failed_open]
        all_ask = len(asked) == 200 and {one.worker for one in asked} == workers
        return time.monotonic() - since if all_ask else None

    return eventually("both workers ask Redis", both, within=15)


def assert_few_wait(responses: list[Response]) -> None:
    """Hold the time against the deadline.

    In each worker five failures open the circuit, met by several requests at once; then one tries at a time. Beside
    those, a machine that stalls.
    """
    asked = [float(one.fields["x-seconds"]) for one in responses]
    assert max(asked) < DEADLINE * 5
    assert sum(seconds > DEADLINE * 0.8 for seconds in asked) <= 2 * (9 + 8) + len(asked) / 500
