"""What both applications have in common: a limiter, and what its results say on each response."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from labkit_ratelimit import Limiter, Rule

if TYPE_CHECKING:
    from labkit_ratelimit import Result


def limiter(client: Any) -> Limiter:
    """Give one by what the environment says."""
    limit, period_s = int(os.environ["LIVE_LIMIT"]), int(os.environ["LIVE_PERIOD"])
    rule = Rule(name="per_path", limit=limit, period_s=period_s, characteristics=["path"])
    return Limiter("live", [rule], client, deadline=float(os.environ["LIVE_DEADLINE"]))


def told(result: Result, began: float) -> list[tuple[str, str]]:
    """Give the fields that say what was found, by whom, and how long that took in seconds."""
    fields = [("x-seconds", str(time.monotonic() - began)), ("x-worker", str(os.getpid()))]
    if result.error:
        return [*fields, ("x-failed-open", "1")]
    if result.info is None:
        return fields
    return [
        *fields,
        ("x-count", str(int(result.info.count))),
        ("x-reset-at", str(result.info.reset_at.timestamp())),
    ]
