"""Forks, threads, and a million checks."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import redis
import valkey
from rules import in_memory, per_ip

from labkit_ratelimit import Limiter

if TYPE_CHECKING:
    from collections.abc import Callable

    from private_redis import PrivateRedis


def in_child(work: Callable[[], Any]) -> Any:
    """Run in a forked child; a child that hangs is a failure."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    child = context.Process(target=lambda: theirs.send(work()))
    child.start()
    try:
        assert ours.poll(20), "the child hangs"
        return ours.recv()
    finally:
        # One that hangs would be waited for when this process ends.
        child.join(5)
        child.kill()


def test_a_child_goes_on_in_memory() -> None:
    limiter = in_memory(per_ip(2))
    limiter.check({"ip": "1"})

    def work() -> Any:
        grandchild = in_child(lambda: [limiter.check({"ip": "1"}).action for _ in range(2)])
        return grandchild, limiter.check({"ip": "1"}).action

    # Counters of memory are each process's own from then on.
    assert in_child(work) == (["allow", "block"], "allow")
    assert limiter.check({"ip": "1"}).allowed


def test_a_child_goes_on_on_redis(server: PrivateRedis) -> None:
    limiter = Limiter("forked", [per_ip(4)], redis.Redis(port=server.port), deadline=5)
    assert limiter.check({"ip": "1"}).info.count == 1  # type: ignore[union-attr]

    def count() -> Any:
        info = limiter.check({"ip": "1"}).info
        return info and info.count

    assert [in_child(count), count(), in_child(count), count()] == [2, 3, 4, 5]


@pytest.mark.parametrize("pool", [redis.ConnectionPool, redis.BlockingConnectionPool, valkey.ConnectionPool])
def test_a_child_goes_on_though_a_thread_of_its_parent_had_the_lock_of_the_pool(
    server: PrivateRedis, pool: Any
) -> None:
    kind: Any = valkey.Valkey if pool is valkey.ConnectionPool else redis.Redis
    client = kind(connection_pool=pool(host="127.0.0.1", port=server.port))
    limiter = Limiter(f"locked_{pool.__module__[:5]}_{pool.__name__.lower()}", [per_ip(4)], client, deadline=5)
    assert limiter.check({"ip": "1"}).allowed
    has, end = threading.Event(), threading.Event()

    def work() -> None:
        with client.connection_pool._lock:
            has.set()
            end.wait()

    thread = threading.Thread(target=work)
    thread.start()
    has.wait()
    try:
        assert in_child(lambda: limiter.check({"ip": "1"}).error) is False
    finally:
        end.set()
        thread.join()
    assert limiter.peek({"ip": "1"}).info.count == 2  # type: ignore[union-attr]


def test_forks_while_threads_check(server: PrivateRedis) -> None:
    limiters = [
        in_memory(per_ip(10**9)),
        Limiter("busy", [per_ip(10**9)], redis.Redis(port=server.port), deadline=5),
    ]
    end = threading.Event()

    def work() -> None:
        while not end.is_set():
            for limiter in limiters:
                limiter.check({"ip": "1"})

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(20):
            assert in_child(lambda: [limiter.check({"ip": "1"}).error for limiter in limiters]) == [False, False]
    finally:
        end.set()
        for thread in threads:
            thread.join()


def test_threads_count_exactly_in_memory() -> None:
    limiter = in_memory(per_ip(10_000))
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    allowed: list[int] = []

    def work() -> None:
        allowed.append(sum(limiter.check({"ip": "1"}).allowed for _ in range(5_000)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    try:
        for thread in threads:
            thread.start()
    finally:
        for thread in threads:
            thread.join()
        sys.setswitchinterval(before)
    assert sum(allowed) == 10_000


def test_a_million_checks_leave_nothing_behind() -> None:
    soak = Path(__file__).with_name("soak.py")
    grown = subprocess.run([sys.executable, str(soak)], check=True, capture_output=True, text=True, timeout=300)
    assert int(grown.stdout) < 512
