"""Exceptions that handlers of signals raise, wherever Python happens to be: they are nobody's failure."""

from __future__ import annotations

import inspect
import itertools
import signal
import sys
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

_NUMBERS = frozenset(int(number) for number in signal.valid_signals())


def signalled(error: BaseException) -> BaseException | None:
    """Give what a signal's handler raised, if that is this error, or what a client made it of.

    Called where no exception of the call is being handled: then the one at hand is older than the call.
    """
    older = sys.exc_info()[1]
    seen: BaseException | None = error
    # A host's own exceptions may be each other's causes.
    ends = {id(older)}
    while seen is not None and id(seen) not in ends:
        if any(map(_is_a_handler, _frames(seen.__traceback__))):
            return seen
        ends.add(id(seen))
        seen = seen.__cause__ or seen.__context__
    return None


def _frames(trace: TracebackType | None) -> Iterator[FrameType]:
    while trace is not None:
        yield trace.tb_frame
        trace = trace.tb_next


def _is_a_handler(frame: FrameType) -> bool:
    """Say whether it was called as a handler is: with a signal's number, and the frame that was interrupted.

    Who is registered says less: a handler may have taken its leave, and share its code with what is none, as functions
    of one decorator do.
    """
    code = frame.f_code
    if code.co_argcount < 2 and not code.co_flags & inspect.CO_VARARGS:
        return False
    given = [frame.f_locals.get(name) for name in code.co_varnames[: code.co_argcount]]
    if code.co_flags & inspect.CO_VARARGS:
        rest = frame.f_locals.get(code.co_varnames[code.co_argcount + code.co_kwonlyargcount])
        given += rest if isinstance(rest, tuple) else ()
    # An object's own `__call__` has the object first, a partial what it was made with.
    return any(
        isinstance(number, int) and number in _NUMBERS and isinstance(interrupted, FrameType)
        for number, interrupted in itertools.pairwise(given)
    )
