"""One limiter that others use at the same time: many callers, one identifier, one Redis."""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import redis
from labkit_ratelimit import Limiter, Rule

FIELDS = {"limiter", "rules", "identifier", "callers", "calls"}
DEADLINE_S = 20.0


class Share:
    """Plays one."""

    def __init__(self, file: str, address: str) -> None:
        self.data: dict[str, Any] = json.loads(Path(file).read_text(encoding="utf-8"))
        if odd := self.data.keys() - FIELDS:
            raise ValueError(f"unknown key {odd} of a share")
        host, _, port = address.rpartition(":")
        client = redis.Redis(host=host, port=int(port), socket_timeout=DEADLINE_S)
        rules = [Rule(**rule) for rule in self.data["rules"]]
        self.limiter = Limiter(self.data["limiter"], rules, client, deadline=DEADLINE_S)

    def play(self) -> Iterator[dict[str, Any]]:
        """Plays a round for each line of standard input. Gives that it may begin, and the counts of each round."""
        yield {"ready": True}
        for _ in sys.stdin:
            with ThreadPoolExecutor(self.data["callers"]) as callers:
                counts = sum(callers.map(lambda _: self._calls(), range(self.data["callers"])), Counter())
            yield {"allowed": 0, "blocked": 0, "failed": 0} | counts

    def _calls(self) -> Counter[str]:
        return Counter(self._outcome() for _ in range(self.data["calls"]))

    def _outcome(self) -> str:
        result = self.limiter.check(self.data["identifier"])
        if result.error or result.degraded:
            return "failed"
        return "allowed" if result.allowed else "blocked"
