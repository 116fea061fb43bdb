"""Hooks of hosts: one that fails is told to the log, and makes no 500."""

from __future__ import annotations

from typing import Any, get_args

from labkit_ratelimit._log import LOGGER
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
