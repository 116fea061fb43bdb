"""Exceptions that handlers of signals raise, wherever Python happens to be: they are nobody's failure."""

from __future__ import annotations

import functools
import importlib
import signal
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, TracebackType

# What `signal` is made of: there each of 64 answers becomes an enum first, which takes longer than all else here.
_getsignal: Any = importlib.import_module("_signal").getsignal
_NUMBERS = tuple(int(number) for number in signal.valid_signals())


def signalled(error: BaseException) -> BaseException | None:
    """Give what a signal's handler raised, if that is this error, or what a client made it of.

    Called where no exception of the call is being handled: then the one at hand is older than the call.
    """
    older = sys.exc_info()[1]
    codes = set(_handlers())
    seen: BaseException | None = error
    # A host's own exceptions may be each other's causes.
    ends = {id(older)}
    while codes and seen is not None and id(seen) not in ends:
        if not codes.isdisjoint(_codes(seen.__traceback__)):
            return seen
        ends.add(id(seen))
        seen = seen.__cause__ or seen.__context__
    return None


def _codes(trace: TracebackType | None) -> Iterator[CodeType]:
    while trace is not None:
        yield trace.tb_frame.f_code
        trace = trace.tb_next


def _handlers() -> Iterator[CodeType]:
    for number in _NUMBERS:
        handler: Any = _getsignal(number)
        while isinstance(handler, functools.partial):
            handler = handler.func  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if callable(handler):
            # Of an object that is called it is its class's.
            owner = handler if hasattr(handler, "__code__") else type(handler).__call__
            code = getattr(owner, "__code__", None)
            if code is not None:
                yield code
