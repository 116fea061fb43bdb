"""A deadline of one call in asyncio."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import TracebackType

# So many turns of the loop may a reply take that had arrived when the time was up: a loop that was busy elsewhere
# finds both at once, and reads its sockets before (asyncio) or after (uvloop) it looks at its timers.
_TURNS = 3


class Late(Exception):
    """The deadline passed."""


class Deadline:
    """Cancels what runs inside of it once `seconds` are over, and raises `Late` in its place.

    It bounds the wait: a reply that is there by then is used, however late.
    """

    __slots__ = ("_cancelled", "_handle", "_late", "_seconds", "_task")

    _handle: asyncio.Handle
    _task: asyncio.Task[Any]

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._late = False
        self._cancelled = 0

    @property
    def late(self) -> bool:
        """It passed: what was cancelled, this cancelled."""
        return self._late

    def __enter__(self) -> Deadline:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a check with a deadline runs in a task")
        self._task = task
        if sys.version_info >= (3, 11):
            self._cancelled = task.cancelling()
        loop = asyncio.get_running_loop()
        self._handle = loop.call_later(self._seconds, self._due, loop, _TURNS)
        return self

    def _due(self, loop: asyncio.AbstractEventLoop, turns: int) -> None:
        if turns:
            self._handle = loop.call_soon(self._due, loop, turns - 1)
        else:
            self._late = True
            self._task.cancel()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._handle.cancel()
        if not self._late:
            return
        # Somebody else may have cancelled the task as well: that goes on.
        if sys.version_info >= (3, 11) and self._task.uncancel() > self._cancelled:
            return
        if kind is not None and (issubclass(kind, asyncio.CancelledError) or issubclass(kind, Exception)):
            raise Late from error
