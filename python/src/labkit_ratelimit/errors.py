"""What goes wrong: mistakes in rules and documents, and a call that is refused."""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Self

    from labkit_ratelimit._native import Result

__all__ = ["Finding", "InternalError", "Invalid", "InvalidDocuments", "InvalidRules", "RateLimitExceeded"]


_ExceededT = TypeVar("_ExceededT", bound="RateLimitExceeded")


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
    """What the check decided. It stays in its process: an exception that was pickled has none when it is read again."""
    retry_after: float | None
    """Seconds until this call could pass; `None` where no wait helps."""

    def __init__(self, result: Result) -> None:
        self.result = result
        self.retry_after = result.retry_after
        by = f": {result.rule}" if result.rule else ""
        wait = "" if self.retry_after is None else f", retry after {math.ceil(self.retry_after)} s"
        super().__init__(f"rate limit exceeded{by}{wait}")

    def __reduce__(self) -> tuple[object, tuple[object, ...], dict[str, Any]]:
        # Notes and what a subclass added are of its state.
        return _made, (type(self), *self.args), {name: value for name, value in vars(self).items() if name != "result"}

    def __copy__(self) -> Self:
        copied = _made(type(self), *self.args)
        vars(copied).update(vars(self))
        return copied

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        copied = _made(type(self), *self.args)
        memo[id(self)] = copied
        vars(copied).update(copy.deepcopy(vars(self), memo))
        return copied


def _made(kind: type[_ExceededT], *words: object) -> _ExceededT:
    """Make one whose state is still to come."""
    exceeded = kind.__new__(kind, *words)
    exceeded.args = words
    return exceeded
