"""The Python package beside `limits`: ratios of medians, from interleaved rounds of one run.

Contract: needs a Python with `labkit_ratelimit` (a release build, the wheel say), `limits` and `redis`, and redis-server; prints a table,
judges nothing.
"""

import statistics
import sys
import time
from pathlib import Path
from timeit import Timer

import redis
from labkit_ratelimit import Limiter, MemoryStore, Rule
from limits import parse, storage, strategies

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python" / "tests"))
from private_redis import PrivateRedis

OURS, THEIRS = "labkit_ratelimit", "limits"
ROUNDS, IN_MEMORY, ON_REDIS = 15, 20_000, 1_000
MANY = 10**9
NAMES = ["ip", "user", "path"]
Measured = dict[str, Timer]
VALUES = ["198.18.0.1", "user:42", "/api/v4/projects"]


def in_memory() -> Measured:
    """Three properties, one rule."""
    limiter = Limiter("benched", [Rule(name="r", limit=MANY, period_s=60, characteristics=NAMES)], store=MemoryStore())
    window, item = strategies.FixedWindowRateLimiter(storage.MemoryStorage()), parse(f"{MANY}/minute")
    ip, user, path = VALUES
    return {
        OURS: Timer("limiter.check({'ip': ip, 'user': user, 'path': path})", timer=time.process_time, globals=locals()),
        THEIRS: Timer("window.hit(item, ip, user, path)", timer=time.process_time, globals=locals()),
    }


def on_redis(server: PrivateRedis) -> Measured:
    """Three rules; `limits` has a hit for each."""
    client = redis.Redis(port=server.port)
    rules = [Rule(name=f"by_{name}", limit=MANY, period_s=60, characteristics=[name]) for name in NAMES]
    limiter = Limiter("benched", rules, client, deadline=5)
    store = storage.RedisStorage(f"redis://127.0.0.1:{server.port}")
    window, item = strategies.FixedWindowRateLimiter(store), parse(f"{MANY}/minute")
    ip, user, path = VALUES
    three = "window.hit(item, 'ip', ip); window.hit(item, 'user', user); window.hit(item, 'path', path)"
    return {
        OURS: Timer("limiter.check({'ip': ip, 'user': user, 'path': path})", globals=locals()),
        THEIRS: Timer(three, globals=locals()),
    }


def held(server: PrivateRedis) -> Measured:
    """What a check of three rules takes of the GIL: to plan it, to give its words, and to take the reply."""
    client = redis.Redis(port=server.port)
    rules = [Rule(name=f"by_{name}", limit=MANY, period_s=60, characteristics=[name]) for name in NAMES]
    core = Limiter("held", rules, client)._core
    ip, user, path = VALUES
    call = core.check({"ip": ip, "user": user, "path": path})
    client.script_load(call.eval()[1])
    reply = client.execute_command(*call.evalsha())
    call.settle(reply)
    source = "call = core.check({'ip': ip, 'user': user, 'path': path}); call.evalsha(); call.settle(reply)"
    return {OURS: Timer(source, timer=time.process_time, globals=locals())}


def medians(measured: Measured, calls: int) -> dict[str, float]:
    """In: what is measured. Out: microseconds a call, the median of the rounds."""
    took: dict[str, list[float]] = {name: [] for name in measured}
    for _ in range(ROUNDS):
        for name, timer in measured.items():
            took[name].append(timer.timeit(calls) / calls * 1e6)
    return {name: statistics.median(times) for name, times in took.items()}


def main() -> None:
    """Measures, and prints."""
    server = PrivateRedis()
    try:
        rows = [
            ("memory, 3 properties, 1 rule", medians(in_memory(), IN_MEMORY)),
            ("Redis, 3 rules", medians(on_redis(server), ON_REDIS)),
        ]
        in_the_core = medians(held(server), IN_MEMORY)[OURS]
    finally:
        server.stop()
    for what, times in rows:
        ours, theirs = times[OURS], times[THEIRS]
        print(f"{what:32} {ours:8.2f} µs  limits {theirs:8.2f} µs  {theirs / ours:5.2f} times as fast, {ours / theirs:.2f} of the time")
    print(f"{'Redis, 3 rules, in the core':32} {in_the_core:8.2f} µs, while the GIL is held")


if __name__ == "__main__":
    main()
