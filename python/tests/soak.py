"""A million checks in a process of its own: prints by how many KiB its memory grew."""

from __future__ import annotations

import gc
import logging
import os
from pathlib import Path

from labkit_ratelimit import Limiter, MemoryStore, Rule


def resident_kib() -> int:
    """Memory that the process has."""
    pages = int(Path(f"/proc/{os.getpid()}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024


def checks(limiter: Limiter, count: int) -> None:
    """Check, and look at every hundredth result in full."""
    for at in range(count):
        result = limiter.check({"ip": f"198.18.0.{at % 200}", "odd": [at]}, context=at % 9)
        if at % 100 == 0:
            assert result.evaluations[0].info.limit in range(1, 10)
            assert "per_ip" in repr(result)
            assert result.headers()
            assert limiter.peek({"ip": object()}).error


def main() -> None:
    """Warm up, then count."""
    logging.disable()
    rule = Rule(name="per_ip", limit=lambda context: context or 5, period_s=60, characteristics=["ip"])
    limiter = Limiter("soaked", [rule], store=MemoryStore())
    checks(limiter, 100_000)
    gc.collect()
    before = resident_kib()
    checks(limiter, 1_000_000)
    gc.collect()
    print(resident_kib() - before)


if __name__ == "__main__":
    main()
