"""Rules that tests share."""

from __future__ import annotations

from typing import Any

from labkit_ratelimit import Limiter, ManualClock, MemoryStore, Rule


def per_ip(limit: Any = 2, **more: Any) -> Rule:
    """Counts by `ip`, in windows of a minute."""
    return Rule(name="per_ip", limit=limit, period_s=60, characteristics=["ip"], **more)


def in_memory(*rules: Rule, clock: ManualClock | None = None, **more: Any) -> Limiter:
    """Make a limiter with counters of its own."""
    return Limiter("tested", rules, store=MemoryStore(), clock=clock, **more)
