"""Holds what a step expects against what a runner reported.

`expect` names only what it asserts, and `null` asserts absence. The tolerances are those of the conformance contract:

| what | memory | redis, cluster |
|---|---|---|
| `reset_after`, `retry_after` | 1 µs | 1 s |
| headers that tell a time | exact | 1 s |
| `count` and `RateLimit-Observed` of a GCRA rule | 1e-6 | there, not compared |
| positive replies to TTL and PTTL | – | 1 s |
| other numbers | by value, 1e-9 relative where one is a double | the same |
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from judge.scenario import op_of
from judge.strict_json import write

ABSENT = object()
TIME_HEADERS = {"RateLimit-Reset", "RateLimit-ResetTime", "Retry-After"}
TIMES = {"reset_after", "retry_after"}
UNORDERED_REPLIES = {"KEYS", "SMEMBERS"}
TTL_SLACK = {"TTL": 1, "PTTL": 1000}


@dataclass(frozen=True)
class Mismatch:
    """One field that is not as expected; `path` is relative to `actual`, empty for all of it."""

    path: str
    expected: Any
    actual: Any

    def __str__(self) -> str:
        return f"{self.path or 'actual'}: expected {shown(self.expected)}, actual {shown(self.actual)}"


@dataclass(frozen=True)
class Comparison:
    """The rules for one scenario on one store. `on_memory`: times are exact. `gcra`: names of the rules that use GCRA."""

    on_memory: bool
    gcra: frozenset[str]

    def step(self, step: dict[str, Any], actual: Any) -> list[Mismatch]:
        """In: a step and what was reported for it. Out: the mismatches, none if the step expects nothing."""
        if "expect" not in step:
            return []
        expected = step["expect"]
        match op_of(step):
            case "check" | "peek":
                return list(self._result(expected, actual))
            case "headers":
                return list(self._headers(expected, actual))
            case "redis":
                return list(self._reply(step["redis"]["command"][0].upper(), expected["reply"], actual["reply"]))
            case "logs":
                return list(self._logs(expected, actual))
            case "metrics":
                return [m for series, number in expected.items() for m in equal(f"[{series}]", number, actual.get(series, ABSENT))]
            case "clear" | "remove":
                return [m for field, value in expected.items() for m in equal(field, value, actual[field])]
            case _:  # publish: `{}` asserts that it was accepted
                return list(equal("", expected, actual))

    def _result(self, expected: dict[str, Any], actual: dict[str, Any]) -> Iterator[Mismatch]:
        for field, value in expected.items():
            if field == "info":
                yield from self._info("info", value, actual["info"], actual["rule"])
            elif field == "evaluations":
                yield from self._evaluations(value, actual["evaluations"])
            else:
                yield from equal(field, value, actual[field])

    def _evaluations(self, expected: list[dict[str, Any]], actual: list[dict[str, Any]]) -> Iterator[Mismatch]:
        if len(expected) != len(actual):
            yield Mismatch("evaluations", [entry.get("rule") for entry in expected], [entry["rule"] for entry in actual])
            return
        for index, (wanted, got) in enumerate(zip(expected, actual, strict=True)):
            path = f"evaluations[{index}]"
            for field, value in wanted.items():
                if field == "info":
                    yield from self._info(f"{path}.info", value, got["info"], got["rule"])
                else:
                    yield from equal(f"{path}.{field}", value, got[field])

    def _info(self, path: str, expected: Any, actual: Any, rule: str | None) -> Iterator[Mismatch]:
        if expected is None or actual is None:
            yield from equal(path, expected, actual)
            return
        for field, value in expected.items():
            yield from self.info_field(f"{path}.{field}", field, value, actual[field], rule in self.gcra)

    def info_field(self, path: str, field: str, expected: Any, actual: Any, gcra: bool, drained: float | None = None) -> Iterator[Mismatch]:
        """In: one field of an `info`, and whether its rule uses GCRA. Out: a mismatch or nothing.

        `drained`: by how much a GCRA count may differ on a real store; without it, it is not compared there.
        """
        if field in TIMES and is_number(expected) and is_number(actual):
            # The 1e-9 beyond 1 µs is what a double of 31 622 400 s loses.
            if abs(expected - actual) > (1e-6 + 1e-9 if self.on_memory else 1):
                yield Mismatch(path, expected, actual)
        elif field == "count" and gcra and is_number(expected) and is_number(actual):
            slack = 0.0 if self.on_memory else drained
            if slack is not None and abs(expected - actual) > slack + 1e-6:
                yield Mismatch(path, expected, actual)
        else:
            yield from equal(path, expected, actual)

    def _headers(self, expected: dict[str, Any], actual: dict[str, str]) -> Iterator[Mismatch]:
        for name, value in expected.items():
            yield from self.header(name, value, actual.get(name, ABSENT), actual.get("RateLimit-Name") in self.gcra)

    def header(self, name: str, expected: Any, actual: Any, gcra: bool) -> Iterator[Mismatch]:
        """In: a header, its two values (text, None or ABSENT), and whether it speaks of a GCRA rule. Out: a mismatch or nothing."""
        if not (isinstance(expected, str) and isinstance(actual, str)) or self.on_memory:
            yield from equal(name, expected, actual)
        elif name == "RateLimit-Observed" and gcra:
            return
        elif name in TIME_HEADERS:
            if not _seconds_close(expected, actual):
                yield Mismatch(name, expected, actual)
        elif name == "RateLimit":
            seconds = re.compile(r"(?<=;t=)[0-9]+")
            same_text = seconds.sub("", expected) == seconds.sub("", actual)
            if not (same_text and all(map(_seconds_close, seconds.findall(expected), seconds.findall(actual)))):
                yield Mismatch(name, expected, actual)
        else:
            yield from equal(name, expected, actual)

    def _reply(self, command: str, expected: Any, actual: Any) -> Iterator[Mismatch]:
        if command in UNORDERED_REPLIES and isinstance(expected, list) and isinstance(actual, list):
            expected, actual = sorted(expected, key=write), sorted(actual, key=write)
        both_times = command in TTL_SLACK and is_number(expected) and is_number(actual) and expected > 0 and actual > 0
        if not (both_times and abs(expected - actual) <= TTL_SLACK[command]):
            yield from equal("reply", expected, actual)

    def _logs(self, expected: list[dict[str, Any]], actual: list[dict[str, Any]]) -> Iterator[Mismatch]:
        if len(expected) != len(actual):
            yield Mismatch("logs", [entry.get("message") for entry in expected], [entry["message"] for entry in actual])
            return
        for index, (wanted, got) in enumerate(zip(expected, actual, strict=True)):
            for field, value in wanted.items():
                value = sorted(value) if isinstance(value, list) else value
                yield from equal(f"[{index}].{field}", value, got[field])


def build_mismatches(expected_error: dict[str, Any] | None, actual: dict[str, Any] | None) -> list[Mismatch]:
    """In: `expect_build_error` if the scenario has one, and the build's `actual`. Out: the mismatches; one finding that fits is enough."""
    if expected_error is None:
        return [] if actual is None else [Mismatch("", None, actual)]
    findings = actual["findings"] if actual else []
    fits = any(all(finding[field] == value for field, value in expected_error.items()) for finding in findings)
    return [] if fits else [Mismatch("findings", expected_error, findings or "no error")]


def equal(path: str, expected: Any, actual: Any) -> Iterator[Mismatch]:
    """In: two values. Out: where they differ, as deep as they are alike; None and ABSENT are the same."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in expected | actual:
            yield from equal(f"{path}.{key}" if path else key, expected.get(key, ABSENT), actual.get(key, ABSENT))
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for index, (left, right) in enumerate(zip(expected, actual, strict=True)):
            yield from equal(f"{path}[{index}]", left, right)
    elif is_number(expected) and is_number(actual):
        if not _numbers_equal(expected, actual):
            yield Mismatch(path, expected, actual)
    elif expected in (None, ABSENT) and actual in (None, ABSENT):
        return
    elif type(expected) is not type(actual) or expected != actual:
        yield Mismatch(path, expected, actual)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def shown(value: Any) -> str:
    """In: a value or ABSENT. Out: short text for a report."""
    text = "nothing" if value is ABSENT else write(value)
    return text if len(text) <= 200 else text[:197] + "..."


def _numbers_equal(left: float, right: float) -> bool:
    if isinstance(left, int) and isinstance(right, int):
        return left == right
    return abs(left - right) <= 1e-9 * max(1.0, abs(left), abs(right))


def _seconds_close(left: str, right: str) -> bool:
    both_whole = all(re.fullmatch(r"-?[0-9]{1,18}", text) for text in (left, right))
    return left == right or (both_whole and abs(int(left) - int(right)) <= 1)
