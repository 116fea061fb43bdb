"""The GIL is held for microseconds: not while a check waits, and not for long while it works."""

from __future__ import annotations

import statistics
import threading
import time
from typing import TYPE_CHECKING

import redis
from rules import in_memory, per_ip

from labkit_ratelimit import Limiter, Rule

if TYPE_CHECKING:
    from private_redis import PrivateRedis


def test_other_threads_run_while_a_check_waits(own_server: PrivateRedis) -> None:
    limiter = Limiter("waiting", [per_ip()], redis.Redis(port=own_server.port), deadline=0.5)
    limiter.check({"ip": "1"})
    own_server.pause()
    errors: list[bool] = []
    waiting = threading.Thread(target=lambda: errors.append(limiter.check({"ip": "1"}).error))
    waiting.start()
    longest, last = 0.0, time.monotonic()
    while waiting.is_alive():
        time.sleep(0.001)
        now = time.monotonic()
        longest, last = max(longest, now - last), now
    waiting.join()
    assert errors == [True]
    # Held for all of the wait it would be half a second.
    assert longest < 0.25


def held_us(check: object, identifier: dict[str, str]) -> float:
    """Give the processor time of one check, in microseconds: so long it may hold the GIL."""
    assert callable(check)
    took: list[float] = []
    for _ in range(300):
        start = time.thread_time_ns()
        check(identifier)
        took.append((time.thread_time_ns() - start) / 1000)
    return statistics.median(took)


def test_a_check_of_many_rules_takes_microseconds() -> None:
    names = ["ip", "user", "path", "country", "agent"]
    chain = [
        Rule(name=f"rule_{at}", limit=10**9, period_s=60, characteristics=[names[at % 5], names[(at + 1) % 5]])
        for at in range(20)
    ]
    identifier = {name: f"a value of {name}" for name in names}
    # Half a millisecond, for a build that nothing has made fast: a release takes a hundredth of that.
    assert held_us(in_memory(*chain).check, identifier) < 500

    class Client:
        def execute_command(self, *_: object) -> bytes:
            return b""

    # What comes before a call is sent.
    assert held_us(Limiter("planned", chain, Client())._core.check, identifier) < 1000
