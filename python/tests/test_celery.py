"""The hook for Celery, in a worker of its own thread, on Celery's memory transport."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
import redis.asyncio
from celery import Celery, signals
from celery.contrib.testing.worker import start_worker
from rules import in_memory, per_ip

from labkit_ratelimit import Limiter, MemoryStore, RateLimitExceeded, Rule
from labkit_ratelimit.celery import limited_by

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def app() -> Iterator[Celery]:
    app = Celery("tested", broker="memory://", backend="cache+memory://", set_as_current=False)
    app.conf.update(worker_hijack_root_logger=False, broker_connection_retry_on_startup=False)
    # What is due is looked for as often, in seconds.
    app.conf.worker_timer_precision = 0.02
    root = logging.getLogger()
    level = root.level
    yield app
    app.close()
    # A worker sets it.
    root.setLevel(level)


def by_name(task: Any, _args: Any, _kwargs: Any) -> dict[str, Any]:
    return {"task": task.name}


def per_task(limit: int, period_s: int) -> Limiter:
    rule = Rule(name="per_task", limit=limit, period_s=period_s, characteristics=["task"])
    return Limiter("tasks", [rule], store=MemoryStore())


def test_a_refused_task_runs_later_when_it_may(app: Celery) -> None:
    ran: list[tuple[int, str, int, float]] = []
    put_off: list[tuple[str, float, float, float]] = []

    @app.task(base=limited_by(per_task(2, 1), by_name), bind=True, name="work", max_retries=0)
    def work(self: Any, number: int, *, more: str) -> int:
        ran.append((number, self.request.id, self.request.retries, time.time()))
        assert more == "kept"
        return number * 2

    @signals.task_retry.connect
    def tell(request: Any, reason: Any, **_: Any) -> None:
        put_off.append((request.id, time.time(), reason.when.timestamp(), reason.exc.retry_after))

    with start_worker(app, perform_ping_check=False, pool="solo"):
        results = [work.apply_async((number,), {"more": "kept"}) for number in range(6)]
        assert [result.get(timeout=20) for result in results] == [number * 2 for number in range(6)]
    signals.task_retry.disconnect(tell)

    # Each ran once, with the id that its caller has. To be refused is no attempt: those have none.
    assert sorted((number, id_) for number, id_, _, _ in ran) == [(at, results[at].id) for at in range(6)]
    assert [retries for _, _, retries, _ in ran] == [0] * 6
    times = sorted(at for _, _, _, at in ran)
    assert all(later - earlier > 0.9 for earlier, later in zip(times, times[2:], strict=False))
    assert len(put_off) >= 4
    assert len({id_ for id_, *_ in put_off}) == 4
    # The clock was read before, and is read after.
    shares = [(due - now) / wait for _, now, due, wait in put_off]
    assert all(0.8 < share < 1.2 for share in shares)
    assert max(shares) - min(shares) > 0.01


def test_a_task_without_an_identifier_runs(app: Celery) -> None:
    seen: list[Any] = []

    def identify(task: Any, args: Any, kwargs: Any) -> dict[str, Any] | None:
        seen.append((task.name, args, kwargs))
        return None

    @app.task(base=limited_by(per_task(1, 60), identify), name="free")
    def free(number: int, *, more: int) -> int:
        return number + more

    assert [free.apply((1,), {"more": 2}).get() for _ in range(3)] == [3] * 3
    assert seen == [("free", (1,), {"more": 2})] * 3


def test_a_task_that_runs_eagerly_fails_and_one_that_is_called_is_not_limited(app: Celery) -> None:
    @app.task(base=limited_by(in_memory(per_ip(1)), lambda *_: {"ip": "1"}), name="eager")
    def eager() -> str:
        return "ran"

    app.conf.task_always_eager = True
    assert eager.delay().get() == "ran"
    with pytest.raises(RateLimitExceeded) as refused:
        eager.delay().get()
    assert refused.value.result.rule == "per_ip"
    assert eager() == "ran"


def test_waits_as_it_is_told_where_no_wait_helps(app: Celery) -> None:
    due: list[float] = []
    told = threading.Event()
    limiter = in_memory(per_ip(lambda: 0))

    @app.task(base=limited_by(limiter, lambda *_: {"ip": "1"}, jitter=0, otherwise=300), name="never")
    def never() -> None:
        raise AssertionError

    @signals.task_retry.connect
    def tell(reason: Any, **_: Any) -> None:
        due.append(reason.when.timestamp() - time.time())
        told.set()

    with start_worker(app, perform_ping_check=False, pool="solo"):
        never.delay()
        assert told.wait(20)
    signals.task_retry.disconnect(tell)
    assert [round(wait / 10) for wait in due] == [30]


def test_a_celery_that_would_limit_nothing_is_refused() -> None:
    code = "import celery.app.task as task; del task.Task.before_start; import labkit_ratelimit.celery"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "ImportError: labkit_ratelimit.celery needs Celery 5.2" in ran.stderr


@pytest.mark.parametrize(
    "wrong",
    [
        {"jitter": -1},
        {"jitter": float("nan")},
        {"jitter": float("inf")},
        {"jitter": "1"},
        {"otherwise": 0},
        {"otherwise": float("inf")},
    ],
)
def test_mistakes(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        limited_by(in_memory(per_ip()), by_name, **wrong)


def test_a_limiter_that_is_awaited_is_a_mistake_that_says_so() -> None:
    limiter = Limiter("celery", [per_ip()], redis.asyncio.Redis())
    with pytest.raises(TypeError, match=r"asynchronous.* takes a client that is not asynchronous"):
        limited_by(limiter, by_name)
