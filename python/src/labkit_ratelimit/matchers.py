"""Matchers: what a rule's `match` takes beside plain values and compiled patterns.

A property that is absent, or `None`, matches what its matcher says of "nothing": `ne`, `nre`, `none_of` and `not_` are
plain complements, and hold for it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Marker", "Matcher", "Scalar", "cidr", "eq", "ne", "none_of", "not_", "nre", "one_of", "prefix", "regex"]

Scalar = str | bytes | int | float | bool | None
"""A value to compare with: same type and value; `int` and `float` compare by number."""


@dataclass(frozen=True, slots=True)
class Marker:
    """A matcher as documents write it: `{"regex": "^/api/"}` is `Marker("regex", "^/api/")`."""

    name: str
    operand: Any

    def __repr__(self) -> str:
        return f"{{{self.name!r}: {self.operand!r}}}"


Matcher = Scalar | Marker | Mapping[str, Any] | re.Pattern[str] | re.Pattern[bytes] | Sequence[Any]
"""A plain value, a marker, a map such as `{"regex": "…"}`, a compiled pattern, or a list of such that must all hold."""


def eq(value: Scalar) -> Marker:
    """Equal to `value`. `eq(None)` holds where the property is absent."""
    return Marker("eq", value)


def ne(value: Scalar) -> Marker:
    """Not equal to `value`."""
    return Marker("ne", value)


def regex(pattern: str) -> Marker:
    """`pattern` is found anywhere in the text: the same syntax, in linear time, in every language of the library.

    A compiled `re.Pattern` is run by Python instead, and keeps Python's meaning.
    """
    return Marker("regex", pattern)


def nre(pattern: str) -> Marker:
    """`pattern` is not found in the text."""
    return Marker("nre", pattern)


def one_of(*values: Scalar) -> Marker:
    """Equal to one of the values. None holds where there are none."""
    return Marker("one_of", values)


def none_of(*values: Scalar) -> Marker:
    """Equal to none of the values, of which there is one at least."""
    return Marker("none_of", values)


def prefix(start: str) -> Marker:
    """The text starts with `start`."""
    return Marker("prefix", start)


def cidr(*networks: str) -> Marker:
    """An IP address in one of the networks. An IPv4-mapped address counts as IPv4."""
    return Marker("cidr", networks)


def not_(matcher: Matcher) -> Marker:
    """`matcher` does not hold."""
    return Marker("not", matcher)
