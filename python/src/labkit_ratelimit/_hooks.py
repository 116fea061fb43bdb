"""Hooks of hosts: one that fails is told to the log, and makes no 500."""

from __future__ import annotations

import math
from typing import Any, get_args

from labkit_ratelimit._log import LOGGER
from labkit_ratelimit._values import number
from labkit_ratelimit.web import Format


def complain(owner: Any, what: str) -> None:
    """Tell the log what the exception at hand came from."""
    LOGGER.warning("%s.%s: %s raised", type(owner).__module__, type(owner).__qualname__, what, exc_info=True)


def known(format: str) -> None:
    """Raise where a middleware is built, not at each request.

    Raises:
        ValueError: there is no such format.

    """
    if format not in get_args(Format):
        raise ValueError(f"format is one of {', '.join(get_args(Format))}, not {format!r}")


def within(name: str, value: object, least: float, most: float = math.inf, *, above: bool = False) -> None:
    """Raise where a number is given, not where it is used.

    `above`: the least is too little.

    Raises:
        ValueError: it is no number, not finite, or out of range.

    """
    try:
        given = float(number(value) if not isinstance(value, (int, float)) or isinstance(value, bool) else value)
    except (TypeError, ValueError, ArithmeticError):
        given = math.nan
    if not (math.isfinite(given) and given <= most and (given > least if above else given >= least)):
        start = f"above {least}" if above else f"{least} or more"
        end = "finite" if most == math.inf else f"at most {most}"
        raise ValueError(f"{name} is a number, {start} and {end}, not {value!r}")
