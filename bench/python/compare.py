"""The Python package beside `limits`: ratios of medians, from interleaved rounds of one run.

Contract: needs a Python with `labkit_ratelimit` (a release build, the wheel say), `limits` and `redis`, and redis-server; prints a table,
judges nothing.
"""

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import redis
from labkit_ratelimit import Limiter, MemoryStore, Rule
from limits import parse, storage, strategies

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python" / "tests"))
from private_redis import PrivateRedis

ROUNDS, IN_MEMORY, ON_REDIS = 15, 20_000, 1_000
MANY = 10**9
NAMES = ["ip", "user", "path"]
VALUES = ["198.18.0.1", "user:42", "/api/v4/projects"]


def memory_checks() -> dict[str, Callable[[], object]]:
    """Three properties, one rule."""
    limiter = Limiter("benched", [Rule(name="r", limit=MANY, period_s=60, characteristics=NAMES)], store=MemoryStore())
    window, item = strategies.FixedWindowRateLimiter(storage.MemoryStorage()), parse(f"{MANY}/minute")
    ip, user, path = VALUES
    return {
        "labkit_ratelimit": lambda: limiter.check({"ip": ip, "user": user, "path": path}),
        "limits": lambda: window.hit(item, ip, user, path),
    }


def redis_checks(server: PrivateRedis) -> dict[str, Callable[[], object]]:
    """Three rules; `limits` has a hit for each."""
    client = redis.Redis(port=server.port)
    rules = [Rule(name=f"by_{name}", limit=MANY, period_s=60, characteristics=[name]) for name in NAMES]
    limiter = Limiter("benched", rules, client, deadline=5)
    store = storage.RedisStorage(f"redis://127.0.0.1:{server.port}")
    window, item = strategies.FixedWindowRateLimiter(store), parse(f"{MANY}/minute")
    identifier = dict(zip(NAMES, VALUES, strict=True))
    return {
        "labkit_ratelimit": lambda: limiter.check(identifier),
        "limits": lambda: [window.hit(item, name, value) for name, value in identifier.items()],
    }


def medians(checks: dict[str, Callable[[], object]], calls: int, clock: Callable[[], float]) -> dict[str, float]:
    """In: what is measured. Out: microseconds a call, the median of the rounds."""
    took: dict[str, list[float]] = {name: [] for name in checks}
    for _ in range(ROUNDS):
        for name, check in checks.items():
            start = clock()
            for _ in range(calls):
                check()
            took[name].append((clock() - start) / calls * 1e6)
    return {name: statistics.median(times) for name, times in took.items()}


def main() -> None:
    """Measures, and prints."""
    server = PrivateRedis()
    try:
        rows = [
            ("memory, 3 properties, 1 rule", medians(memory_checks(), IN_MEMORY, time.process_time)),
            ("Redis, 3 rules", medians(redis_checks(server), ON_REDIS, time.perf_counter)),
        ]
    finally:
        server.stop()
    for what, times in rows:
        ours, theirs = times["labkit_ratelimit"], times["limits"]
        print(f"{what:32} {ours:8.2f} µs  limits {theirs:8.2f} µs  {theirs / ours:5.2f} times as fast, {ours / theirs:.2f} of the time")


if __name__ == "__main__":
    main()
