"""A host that gevent has patched: it checks in greenlets on the Redis at the socket that it is given, and tells."""

from __future__ import annotations

from gevent import monkey

monkey.patch_all()

import logging  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from pathlib import Path  # noqa: E402

import gevent  # noqa: E402
import redis  # noqa: E402

from labkit_ratelimit import Limiter, Rule  # noqa: E402

RULE = Rule(name="per_ip", limit=50, period_s=60, characteristics=["ip"])


def threads() -> int:
    """Count those of this process, whoever made them."""
    return sum(1 for _ in Path("/proc/self/task").iterdir())


def main() -> None:
    """Check while the Redis answers, and while it does not."""
    logging.disable()
    # By name or number, gevent looks addresses up in threads of its own.
    client = redis.Redis(unix_socket_path=sys.argv[1])
    limiter = Limiter("in_greenlets", [RULE], client, deadline=5)
    limiter.check({"ip": "0"})
    before = threads()
    greenlets = [gevent.spawn(limiter.check, {"ip": "1"}) for _ in range(100)]
    gevent.joinall(greenlets, raise_error=True)
    results = [greenlet.get() for greenlet in greenlets]
    assert not any(result.error for result in results)
    allowed = sum(result.allowed for result in results)
    told = "the same" if threads() == before else f"{before}, then {threads()}"
    print(f"allowed {allowed} of {len(results)}, threads {told}", flush=True)

    sys.stdin.readline()
    late = gevent.spawn(Limiter("late", [RULE], client, deadline=0.3).check, {"ip": "1"})
    start, turns = time.monotonic(), 0
    while not late.ready():
        gevent.sleep(0.005)
        turns += 1
    assert late.get().error
    assert 0.29 < time.monotonic() - start < 2
    assert turns >= 10, turns
    print("late, and the hub went on", flush=True)


if __name__ == "__main__":
    main()
