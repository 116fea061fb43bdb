"""One scenario: its limiter and its steps."""

import json
import logging
import math
import re
import time
from collections.abc import Iterator
from dataclasses import fields
from email.utils import parsedate_to_datetime
from typing import Any

from backend import Backend
from calls import Async, Switch, Sync
from labkit_ratelimit import Evaluation, Info, Invalid, Limiter, ManualClock, MemoryStore, Result, Rule, Source

KEYS = {"name", "why", "limiter", "rules", "available_limiters", "rate_limits", "options", "stores", "steps", "expect_build_error"}
OPS = ("check", "peek", "clear", "headers", "advance", "redis", "store", "logs", "metrics")
LOG = ("message", "error_type", "name", "rule", "count_distinct", "identifier_keys", "metric", "class_name", "error_message")
RULE = {field.name for field in fields(Rule)}
START_S = 1_700_000_000
DEADLINE_S = 5.0
"""A busy machine must not fail a scenario."""


class Recorder(logging.Handler):
    """Keeps lines until they are taken."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Takes a line."""
        fields: dict[str, Any] = record.__dict__["rate_limit"]
        line = {field: fields.get(field) for field in LOG}
        self.lines.append(line | {"identifier_keys": sorted(fields["identifier_keys"])})


def value(given: Any) -> Any:
    """In: a value of a scenario. Out: what Python has for it."""
    if isinstance(given, list):
        return [value(item) for item in given]
    if not isinstance(given, dict):
        return given
    match given:
        case {"$float": text, **rest} if not rest:
            return float(text)
        case {"$bytes": text, **rest} if not rest:
            return bytes.fromhex(text)
        case {"$pattern": text, **rest} if not rest:
            return re.compile(text)
        case {"raise": text, **rest} if not rest:
            return lambda context: _raise(text)
        case {"context": name, **rest} if rest.keys() <= {"default"}:
            return lambda context: (context or {}).get(name, rest.get("default"))
    return {name: value(item) for name, item in given.items()}


def _raise(text: str) -> Any:
    raise RuntimeError(text)


def refuse_unknown(given: Any, known: Any, what: str) -> None:
    """Raises for a key that this runner does not know."""
    if odd := set(given) - set(known):
        raise ValueError(f"unknown key {odd} of a {what} (publishes come with the rule store)")


def number(given: Any) -> Any:
    """In: a number of a result. Out: one that JSON can say."""
    return given if not isinstance(given, float) or math.isfinite(given) else {"$float": str(given)}


def info(given: Info | None) -> Any:
    """Out: every field."""
    names = ("limit", "period_s", "count", "remaining", "reset_after", "retry_after", "banned")
    return given and {name: number(getattr(given, name)) for name in names}


def evaluation(given: Evaluation) -> Any:
    """Out: every field."""
    return {"rule": given.rule, "result": given.result, "exceeded": given.exceeded, "info": info(given.info)}


class Scenario:
    """Plays one."""

    def __init__(self, data: dict[str, Any], calls: Sync | Async, backend: Backend | None) -> None:
        refuse_unknown(data, KEYS, "scenario")
        refuse_unknown(data.get("options", {}), {"evaluation", "on_error"}, "scenario's options")
        self.data, self.calls, self.backend = data, calls, backend
        self.name: str = data["name"]
        self.steps: list[dict[str, Any]] = data.get("steps", [])
        self.clock, self.recorder, self.logger = ManualClock(START_S), Recorder(), logging.Logger("scenario")
        self.logger.addHandler(self.recorder)
        self.second = START_S

    def runs_on(self, store: str) -> bool:
        """Out: whether it is of those that run on this store."""
        real, back = any("redis" in step or "store" in step for step in self.steps), any(step.get("advance", 0) < 0 for step in self.steps)
        return store in self.data.get("stores", [store]) and not (real if store == "memory" else back)

    def run(self) -> Iterator[tuple[int, str, Any]]:
        """Gives the index, the op and the actual of the build and of each step."""
        if self.backend:
            self.backend.flush()
        try:
            self.limiter = self._built()
        except Invalid as error:
            yield -1, "build", {"findings": [{"code": f.code, "path": f.path, "message": f.message} for f in error.findings]}
            return
        yield -1, "build", None
        for at, step in enumerate(self.steps):
            refuse_unknown(step, {*OPS, "cost", "context", "expect"}, "step")
            op = next(op for op in OPS if op in step)
            yield at, op, getattr(self, f"_{op}")(step[op], step)

    def _built(self) -> Limiter:
        # A field that Rule has not, or a name that is not there, is for the library to see: in a map, as documents have rules.
        given = [value(rule) for rule in self.data.get("rules", [])]
        rules = [Rule(**rule) if "name" in rule and rule.keys() <= RULE else rule for rule in given]
        options: dict[str, Any] = {"logger": self.logger, "deadline": DEADLINE_S, **self.data.get("options", {})}
        options |= {"redis": self.backend.client} if self.backend else {"store": MemoryStore(), "clock": self.clock}
        if not self.data.keys() & {"available_limiters", "rate_limits"}:
            return Limiter(self.data["limiter"], rules, **options)
        available, files = self.data.get("available_limiters"), self.data.get("rate_limits", [])
        sources = [Source(f"rate_limits{at}.json", json.dumps(file)) for at, file in enumerate(files)]
        contract = None if available is None else Source("available_limiters.json", json.dumps(available))
        return Limiter.from_files(self.data["limiter"], contract, sources, rules=rules, **options)

    def _result(self, result: Result) -> Any:
        self.last, self.second = result, int(time.time()) if self.backend else self.clock.now_us() // 1_000_000
        flags = {flag: getattr(result, flag) for flag in ("matched", "exceeded", "skipped", "warned", "error", "degraded")}
        evaluations = [evaluation(one) for one in result.evaluations]
        return {"action": result.action, **flags, "rule": result.rule, "info": info(result.info), "evaluations": evaluations}

    def _check(self, identifier: Any, step: Any) -> Any:
        cost = {"cost": value(step["cost"])} if "cost" in step else {}
        return self._result(self.calls.check(self.limiter, value(identifier), **cost, context=value(step.get("context"))))

    def _peek(self, identifier: Any, step: Any) -> Any:
        return self._result(self.calls.peek(self.limiter, value(identifier), context=value(step.get("context"))))

    def _clear(self, identifier: Any, _: Any) -> Any:
        return {"deleted": self.calls.clear(self.limiter, value(identifier))}

    def _headers(self, options: Any, _: Any) -> Any:
        headers = self.last.headers(**options)
        if text := headers.get("RateLimit-Reset"):
            headers["RateLimit-Reset"] = str(int(text) - self.second)
        if text := headers.get("RateLimit-ResetTime"):
            headers["RateLimit-ResetTime"] = str(int(parsedate_to_datetime(text).timestamp()) - self.second)
        return headers

    def _advance(self, seconds: float, _: Any) -> None:
        us = round(seconds * 1_000_000)
        if self.backend:
            self.backend.age(self.data["limiter"], us)
        else:
            self.clock.advance(us / 1_000_000)

    def _redis(self, given: Any, _: Any) -> Any:
        assert self.backend is not None
        return self.backend.raw(given["command"])

    def _store(self, given: str, _: Any) -> None:
        Switch.down = given == "down"
        if given == "up":
            self.limiter.close_circuit()

    def _logs(self, _: Any, __: Any) -> Any:
        lines, self.recorder.lines = self.recorder.lines, []
        return lines

    def _metrics(self, _: Any, __: Any) -> Any:
        return {sample.series: sample.value for sample in self.limiter.metrics()}
