"""An access log under rules: every request decided at its own time."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from backend import Backend
from calls import Async, Sync
from labkit_ratelimit import Limiter, ManualClock, MemoryStore, Result, Source

FIELDS = {"limiter", "available_limiters", "rate_limits", "seconds"}


class Log:
    """Plays one."""

    def __init__(self, file: str, calls: Sync | Async, backend: Backend | None) -> None:
        self.data: dict[str, Any] = json.loads(Path(file).read_text(encoding="utf-8"))
        if odd := self.data.keys() - FIELDS:
            raise ValueError(f"unknown key {odd} of a log")
        self.calls, self.backend = calls, backend
        self.now: int = next((at for at, _ in self.data["seconds"]), 0)
        self.clock = ManualClock(self.now)
        text = self.data["available_limiters"]
        contract = None if text is None else Source("available_limiters.yaml", text)
        files = [Source(f"rate_limits.{at}.yaml", text) for at, text in enumerate(self.data["rate_limits"])]
        self.limiter = Limiter.from_files(self.data["limiter"], contract, files, **self._store())

    def play(self) -> Iterator[dict[str, Any]]:
        """Gives each decision, and at last how many there were and how long they took."""
        if self.backend:
            self.backend.flush()
        results: list[Result] = []
        spent = 0.0
        for at, requests in self.data["seconds"]:
            self._pass(at - self.now)
            self.now = at
            began = time.perf_counter()
            for request in requests:
                results.append(self.calls.check(self.limiter, request))
            spent += time.perf_counter() - began
        for result in results:
            exceeded = [evaluation.rule for evaluation in result.evaluations if evaluation.exceeded]
            yield {"action": result.action, "error": result.error, "rule": result.rule, "exceeded": exceeded}
        yield {"done": len(results), "seconds": spent}

    def _store(self) -> dict[str, Any]:
        if self.backend:
            return {"redis": self.backend.client, "deadline": 5.0}
        return {"store": MemoryStore(max_keys=1_000_000), "clock": self.clock}

    def _pass(self, seconds: int) -> None:
        if seconds and self.backend:
            self.backend.age(self.data["limiter"], seconds * 1_000_000)
        elif seconds:
            self.clock.advance(seconds)
