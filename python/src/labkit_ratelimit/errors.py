"""What goes wrong: mistakes in rules and documents, and a call that is refused."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from labkit_ratelimit._native import Result

__all__ = ["Finding", "InternalError", "Invalid", "InvalidDocuments", "InvalidRules", "RateLimitExceeded"]


class Finding(NamedTuple):
    """One thing that is wrong."""

    code: str
    """Stable: `limit_below_one`, say. `docs/findings.md` has a section for each."""
    path: str
    """The field: `rules[0].limit` in code, `rate_limits.sign_in[0].limit` in a document."""
    message: str
    """What is wrong, with the value."""
    mend: str
    """How to mend it."""
    severity: str
    """`error` or `warning`."""
    file: str | None = None
    """The document, where there is one."""
    line: int | None = None
    """Counted from 1."""
    column: int | None = None
    """Counted from 1."""


class Invalid(ValueError):
    """What a limiter was given cannot be. All that is wrong is in `findings`."""

    findings: tuple[Finding, ...]

    def __init__(self, message: str, findings: Iterable[Finding] = ()) -> None:
        super().__init__(message)
        self.findings = tuple(findings)

    def __reduce__(self) -> tuple[type[Invalid], tuple[str, tuple[Finding, ...]]]:
        return type(self), (str(self), self.findings)


class InvalidRules(Invalid):
    """A limiter's name, rules or options cannot be: a mistake in code."""


class InvalidDocuments(Invalid):
    """Documents cannot be taken. `findings` is empty where all that is wrong is that a file cannot be read."""


class InternalError(Exception):
    """A defect of this library, stopped at its boundary. A check never raises it: it answers as `on_error` says."""


class RateLimitExceeded(Exception):
    """A call that `enforce` or `aenforce` refuses."""

    result: Result
    """What the check decided. It stays in its process: a copy of the exception that was pickled has none."""
    retry_after: float | None
    """Seconds until this call could pass; `None` where no wait helps."""

    def __init__(self, result: Result) -> None:
        self.result = result
        self.retry_after = result.retry_after
        by = f": {result.rule}" if result.rule else ""
        wait = "" if self.retry_after is None else f", retry after {math.ceil(self.retry_after)} s"
        super().__init__(f"rate limit exceeded{by}{wait}")

    def __reduce__(self) -> tuple[object, tuple[str, float | None]]:
        return _travelled, (str(self), self.retry_after)


def _travelled(message: str, retry_after: float | None) -> RateLimitExceeded:
    """Gives one that came from another process."""
    exceeded = RateLimitExceeded.__new__(RateLimitExceeded, message)
    exceeded.retry_after = retry_after
    return exceeded
