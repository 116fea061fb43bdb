"""The Python package beside `limits`, from interleaved rounds of one run.

Contract: needs a Python with `labkit_ratelimit` (a release build, the wheel say), `limits` and `redis`, and redis-server, or in `--redis`
the port of one that runs here. Prints a table, or with `--format json` versions and rows with their targets, for bench/run: then it
prints `round` before each round on Redis and waits for a line, while bench/run asks the same server. Judges nothing. A time is the
median of the rounds, a ratio the median of the rounds' ratios.
"""

import argparse
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from timeit import Timer

import redis
from labkit_ratelimit import Limiter, MemoryStore, Rule
from limits import parse, storage, strategies

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python" / "tests"))
from private_redis import PrivateRedis

OURS, THEIRS = "labkit_ratelimit", "limits"
PEERS = [("redis-py", "redis"), ("limits", "limits")]
IN_MEMORY, ON_REDIS = 20_000, 1_000
MANY = 10**9
NAMES = ["ip", "user", "path"]
ITEM = parse(f"{MANY}/hour")
Measured = dict[str, Timer]
Proof = Callable[[int], None]
"""Fails unless so many calls of each case were allowed and counted: what fails open is fast."""
Row = dict[str, object]
VALUES = ["198.18.0.1", "user:42", "/api/v4/projects"]


class Rounds:
    """Microseconds a call, of each case in each round."""

    def __init__(self, cases: tuple[Measured, Proof], calls: int, rounds: int, before: Callable[[], object] = lambda: None) -> None:
        measured, prove = cases
        self.took: dict[str, list[float]] = {name: [] for name in measured}
        for turn in range(rounds):
            before()
            # In turning order, so that a noisy neighbour meets all alike.
            for name, timer in sorted(measured.items(), reverse=turn % 2 == 1):
                self.took[name].append(timer.timeit(calls) / calls * 1e6)
        prove(calls * rounds)

    def median(self, name: str = OURS) -> float:
        """In: a case. Out: the median of its rounds."""
        return statistics.median(self.took[name])

    def ratio(self, one: str, other: str) -> float:
        """In: two cases. Out: the median of the rounds' ratios."""
        return statistics.median(a / b for a, b in zip(self.took[one], self.took[other], strict=True))


def must(holds: bool, told: object) -> None:
    """Fails with what is told."""
    if not holds:
        raise RuntimeError(f"no measurement: {told}")


def proof(limiter: Limiter, window: strategies.FixedWindowRateLimiter, hits: list[list[str]]) -> Proof:
    """In: what is measured, and what identifies each hit. Both begin anew. Out: what looks at their counters in the end."""
    identifier = dict(zip(NAMES, VALUES, strict=True))
    limiter.clear(identifier)
    for words in hits:
        window.clear(ITEM, *words)

    def prove(calls: int) -> None:
        checks = {tuple(sample.labels.items()): sample.value for sample in limiter.metrics() if sample.name.endswith("_checks_total")}
        must(list(checks.values()) == [calls] and {("action", "allow"), ("error", "false")} <= set(*checks), checks)
        result = limiter.check(identifier)
        counts = [evaluation.info.count for evaluation in result.evaluations]
        must(not result.error and counts == [calls + 1] * len(limiter.rules), result)
        for words in hits:
            must(window.get_window_stats(ITEM, *words).remaining == MANY - calls, words)

    return prove


def in_memory() -> tuple[Measured, Proof]:
    """Three properties, one rule."""
    limiter = Limiter("benched", [Rule(name="r", limit=MANY, period_s=3600, characteristics=NAMES)], store=MemoryStore())
    window, item = strategies.FixedWindowRateLimiter(storage.MemoryStorage()), ITEM
    ip, user, path = VALUES
    measured = {
        OURS: Timer("limiter.check({'ip': ip, 'user': user, 'path': path})", timer=time.process_time, globals=locals()),
        THEIRS: Timer("window.hit(item, ip, user, path)", timer=time.process_time, globals=locals()),
    }
    return measured, proof(limiter, window, [VALUES])


def on_redis(port: int) -> tuple[Measured, Proof]:
    """Three rules; `limits` has a hit for each."""
    client = redis.Redis(port=port)
    rules = [Rule(name=f"by_{name}", limit=MANY, period_s=3600, characteristics=[name]) for name in NAMES]
    limiter = Limiter("benched", rules, client, deadline=5)
    store = storage.RedisStorage(f"redis://127.0.0.1:{port}")
    window, item = strategies.FixedWindowRateLimiter(store), ITEM
    ip, user, path = VALUES
    three = "window.hit(item, 'ip', ip); window.hit(item, 'user', user); window.hit(item, 'path', path)"
    measured = {
        OURS: Timer("limiter.check({'ip': ip, 'user': user, 'path': path})", globals=locals()),
        THEIRS: Timer(three, globals=locals()),
    }
    return measured, proof(limiter, window, [list(pair) for pair in zip(NAMES, VALUES, strict=True)])


def held(port: int) -> tuple[Measured, Proof]:
    """What a check of three rules takes of the GIL: to plan it, to give its words, and to take the reply."""
    client = redis.Redis(port=port)
    rules = [Rule(name=f"by_{name}", limit=MANY, period_s=3600, characteristics=[name]) for name in NAMES]
    core = Limiter("held", rules, client)._core
    ip, user, path = VALUES
    call = core.check({"ip": ip, "user": user, "path": path})
    client.script_load(call.eval()[1])
    reply = client.execute_command(*call.evalsha())
    call.settle(reply)
    call = core.check(dict(zip(NAMES, VALUES, strict=True)))
    call.evalsha()
    settled = call.settle(reply)
    must(bool(settled) and not settled.error and len(settled.evaluations) == len(rules), settled)
    source = "call = core.check({'ip': ip, 'user': user, 'path': path}); call.evalsha(); call.settle(reply)"
    return {OURS: Timer(source, timer=time.process_time, globals=locals())}, lambda _: None


def row(what: str, value: float, unit: str, **more: object) -> Row:
    """In: a number, its unit, and what bench/run may know beside it: `target`, `beside`, `ceiling`. Out: a row."""
    return {"what": what, "value": value, "unit": unit, **more}


def others_turn() -> None:
    """What started this asks the same server meanwhile."""
    print("round", flush=True)
    sys.stdin.readline()


def measured(port: int, rounds: int, before: Callable[[], object]) -> list[Row]:
    """In: the port of a Redis, how many rounds, and what is done before each on that Redis. Out: the rows."""
    memory, remote = Rounds(in_memory(), IN_MEMORY, rounds), Rounds(on_redis(port), ON_REDIS, rounds, before)
    in_the_core = Rounds(held(port), IN_MEMORY, rounds)
    faster, three_hits = memory.ratio(THEIRS, OURS), remote.ratio(OURS, THEIRS)
    in_memory_beside = {"store": "memory", "what": "check, 3 properties, 1 rule", "peer": "`limits`, a hit of a fixed window", "times": faster}
    on_redis_beside = {"store": "Redis", "what": "check of 3 rules", "peer": "three hits of `limits`", "times": remote.ratio(THEIRS, OURS)}
    return [
        row("check in memory, 3 properties, 1 rule", memory.median(), "µs"),
        row("`limits`: hit of a fixed window in memory", memory.median(THEIRS), "µs"),
        row("speed of the check / of that hit", faster, "×", target={"at_least": 5}, beside=in_memory_beside),
        row("check of 3 rules on Redis", remote.median(), "µs"),
        row("`limits`: three hits on Redis", remote.median(THEIRS), "µs"),
        row("check of 3 rules / three hits", three_hits, "×", target={"at_most": 0.5}, beside=on_redis_beside),
        row("the same check in the core, while the GIL is held", in_the_core.median(), "µs"),
        row("checks of 3 rules a second", 1e6 / remote.median(), "/s", ceiling={"rules": 3, "connections": 1}),
    ]


def main() -> None:
    """Measures, and prints."""
    parser = argparse.ArgumentParser(description="The Python package beside `limits`.")
    parser.add_argument("--format", choices=["text", "json"], default="text")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--redis", type=int, metavar="PORT", help="of a server at 127.0.0.1; by default one is started")
    options = parser.parse_args()
    server = None if options.redis else PrivateRedis()
    try:
        before = others_turn if options.format == "json" else lambda: None
        rows = measured(server.port if server else options.redis, options.rounds, before)
    finally:
        if server:
            server.stop()
    if options.format == "json":
        versions = [f"CPython {platform.python_version()}", *(f"{name} {version(package)}" for name, package in PEERS)]
        print(json.dumps({"versions": versions, "rows": rows}, ensure_ascii=False))
        return
    for told in rows:
        print(f"{told['what']:52} {told['value']:10.2f} {told['unit']}")


if __name__ == "__main__":
    main()
