"""Rules: what is limited, by what, and how much of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, Literal, cast

from labkit_ratelimit.matchers import Marker, Matcher

__all__ = ["Action", "Algorithm", "Number", "Override", "Rule"]

Action = Literal["limit", "warn", "log", "skip"]
Algorithm = Literal["fixed_window", "gcra"]
Number = int | float | Callable[[], float] | Callable[[Any], float]
"""A number, or a callable that gives one in each check. One that requires a parameter gets the check's `context`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """Other numbers for some of a rule's calls: the first override whose `match` holds replaces those that it gives."""

    match: Mapping[str, Matcher] = field(default_factory=dict[str, Matcher])
    limit: int | float | None = None
    period_s: int | float | None = None
    burst: int | None = None
    ban_for_s: int | float | None = None

    def __post_init__(self) -> None:
        _freeze(self)

    def __hash__(self) -> int:
        return hash((self.limit, self.period_s, self.burst, self.ban_for_s))

    def __reduce__(self) -> tuple[object, tuple[type, dict[str, Any]]]:
        return _remade, (type(self), _fields(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule of a limiter. It is checked, with all others, when the limiter is built.

    Attributes:
        name: 1 to 64 of a-z, 0-9 and _. A segment of the counter's key: it keeps its counters under its name.
        limit: how many calls (or how much cost) a period lets through. A whole number of 1 or more, or a callable;
            a callable's 0 refuses everything.
        period_s: the window in seconds, 1 to 31 622 400; or a callable.
        characteristics: the properties that are counted apart, in order. None: one counter for all calls.
        match: property → matcher; all must hold. Empty: every call.
        action: `limit` refuses; `warn` and `log` count and let through; `skip` ends the chain, and counts nothing.
        ban_for_s: keep refusing for so many seconds once the limit is crossed; or a callable.
        count_distinct: count the different values of this property instead of calls.
        algorithm: `fixed_window`, or `gcra`, which spreads the limit over the period.
        burst: of `gcra`: how many calls may come at once. `limit` where it is not given.
        final: where this rule matched and did not refuse, later rules do not run.
        overrides: other numbers for some calls; the first that matches counts.
        description: for people.

    """

    name: str
    limit: Number | None = None
    period_s: Number | None = None
    characteristics: Sequence[str] = ()
    match: Mapping[str, Matcher] = field(default_factory=dict[str, Matcher])
    action: Action = "limit"
    ban_for_s: Number | None = None
    count_distinct: str | None = None
    algorithm: Algorithm = "fixed_window"
    burst: int | None = None
    final: bool = False
    overrides: Sequence[Override | Mapping[str, Any]] = ()
    description: str | None = None

    def __post_init__(self) -> None:
        _freeze(self)

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[object, tuple[type, dict[str, Any]]]:
        return _remade, (type(self), _fields(self))


def _freeze(value: Override | Rule) -> None:
    """Copies what the caller could change."""
    for name in ("match", "characteristics", "overrides"):
        given: Any = getattr(value, name, None)
        # What is neither is a mistake, which is found when the limiter is built.
        if isinstance(given, Mapping):
            object.__setattr__(value, name, MappingProxyType(dict(cast("Any", given))))
        elif isinstance(given, Sequence) and not isinstance(given, str):
            object.__setattr__(value, name, tuple(_override(entry) for entry in cast("Any", given)))


def _override(entry: Any) -> Any:
    """Give an override that is written as a map; one that cannot be is left for the library to see."""
    if not isinstance(entry, Mapping):
        return entry
    given = cast("dict[str, Any]", entry)
    return Override(**given) if given.keys() <= Override.__dataclass_fields__.keys() else given


def _fields(value: Override | Rule) -> dict[str, Any]:
    """Give what makes an equal one. A proxy travels nowhere."""
    given: dict[str, Any] = {known.name: getattr(value, known.name) for known in fields(value)}
    return given | {"match": dict(given["match"])}


def _remade(kind: type[Any], given: dict[str, Any]) -> Any:
    return kind(**given)


def written(rule: Rule | Override | Mapping[str, Any]) -> dict[str, Any]:
    """Give a rule in plain dicts and lists, as documents write it. What it was not given is not there."""
    if isinstance(rule, Mapping):
        return {name: _plain(value) for name, value in rule.items()}
    given = ((known, getattr(rule, known.name)) for known in fields(rule))
    return {known.name: _plain(value) for known, value in given if value is not known.default}


def _plain(value: Any) -> Any:
    if isinstance(value, Marker):
        return {value.name: _plain(value.operand)}
    if isinstance(value, Override):
        return written(value)
    if isinstance(value, Mapping):
        return {name: _plain(entry) for name, entry in cast("dict[Any, Any]", value).items()}
    if isinstance(value, (tuple, list)):
        return [_plain(entry) for entry in cast("Sequence[Any]", value)]
    return value
