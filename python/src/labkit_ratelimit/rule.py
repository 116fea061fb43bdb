"""Rules: what is limited, by what, and how much of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from decimal import Decimal
from typing import Any, Literal, NoReturn, cast

from labkit_ratelimit.matchers import Marker, Matcher

__all__ = ["Action", "Algorithm", "Number", "Override", "Rule"]

Action = Literal["limit", "warn", "log", "skip"]
Algorithm = Literal["fixed_window", "gcra"]
Cost = int | float | Decimal
"""What a call costs."""
Number = int | float | Decimal | Callable[[], Cost] | Callable[[Any], Cost]
"""A number, or a callable that gives one in each check. One that requires a parameter gets the check's `context`.
One may make checks of other limiters, whose callables make checks, 4 deep; deeper ones fail their rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """Other numbers for some of a rule's calls: the first override whose `match` holds replaces those that it gives."""

    match: Mapping[str, Matcher] = field(default_factory=dict[str, Matcher])
    limit: int | float | Decimal | None = None
    period_s: int | float | Decimal | None = None
    burst: int | float | Decimal | None = None
    ban_for_s: int | float | Decimal | None = None

    def __post_init__(self) -> None:
        _freeze(self)

    def __hash__(self) -> int:
        return hash((self.limit, self.period_s, self.burst, self.ban_for_s))

    def __reduce__(self) -> tuple[object, tuple[type, dict[str, Any]]]:
        return _remade, (type(self), _fields(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule of a limiter. It is checked, with all others, when the limiter is built.

    It is copied and changed by `dataclasses.replace`. `dataclasses.asdict` gives no rule: it takes markers apart.

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
    burst: int | float | Decimal | None = None
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
            object.__setattr__(value, name, _frozen(given))
        elif isinstance(given, Sequence) and not isinstance(given, str):
            object.__setattr__(value, name, tuple(_override(entry) for entry in cast("Any", given)))


def _refuse(*_: object, **__: object) -> NoReturn:
    raise TypeError("a rule does not change")


_REFUSE: Any = _refuse


class Frozen(dict[str, Any]):
    """A dict that nobody changes."""

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _REFUSE

    def __reduce__(self) -> tuple[type[Frozen], tuple[dict[str, Any]]]:
        return type(self), (dict(self),)


# What is nested deeper cannot be a matcher, and may hold itself.
_DEEPEST = 64


def _frozen(value: Any, depth: int = 0) -> Any:
    if depth > _DEEPEST:
        return value
    if isinstance(value, Marker):
        return Marker(value.name, _frozen(value.operand, depth + 1))
    if isinstance(value, Mapping):
        return Frozen({name: _frozen(entry, depth + 1) for name, entry in cast("dict[Any, Any]", value).items()})
    if isinstance(value, (tuple, list)):
        return tuple(_frozen(entry, depth + 1) for entry in cast("Sequence[Any]", value))
    return value


def _override(entry: Any) -> Any:
    """Give an override that is written as a map; one that cannot be is left for the library to see."""
    if not isinstance(entry, Mapping):
        return entry
    given = cast("dict[str, Any]", entry)
    return Override(**given) if given.keys() <= Override.__dataclass_fields__.keys() else given


def _fields(value: Override | Rule) -> dict[str, Any]:
    """Give what makes an equal one."""
    return {known.name: getattr(value, known.name) for known in fields(value)}


def _remade(kind: type[Any], given: dict[str, Any]) -> Any:
    return kind(**given)


def written(rule: Rule | Override | Mapping[str, Any]) -> dict[str, Any]:
    """Give a rule in plain dicts and lists, as documents write it. What it was not given is not there.

    What is no rule is given back, for the library to see.
    """
    if not isinstance(rule, (Rule, Override)):
        return cast("dict[str, Any]", _plain(rule))
    given = ((known, getattr(rule, known.name)) for known in fields(rule))
    return {known.name: _plain(value) for known, value in given if value is not known.default}


def _plain(value: Any, depth: int = 0) -> Any:
    if depth > _DEEPEST:
        return value
    if isinstance(value, Marker):
        return {value.name: _plain(value.operand, depth + 1)}
    if isinstance(value, Override):
        return written(value)
    if isinstance(value, Mapping):
        return {name: _plain(entry, depth + 1) for name, entry in cast("dict[Any, Any]", value).items()}
    if isinstance(value, (tuple, list)):
        return [_plain(entry, depth + 1) for entry in cast("Sequence[Any]", value)]
    return value
