"""One call under way in asyncio, in a task of its own: whoever waits for it may leave."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from labkit_ratelimit._clients import Ends, is_of_the_pool
from labkit_ratelimit._fault import fault_of

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from labkit_ratelimit._native import Call

# So many turns of the loop may a reply take that had arrived when the time was up: a loop that was busy elsewhere
# finds both at once, and reads its sockets before (asyncio) or after (uvloop) it looks at its timers.
_TURNS = 3

# A loop that comes so many seconds too late to its timers was held by somebody.
_HELD_S = 0.005

# After so many seconds a cancellation is lost, and comes again: `asyncio.wait_for` of before Python 3.12 forgets one
# that comes together with what it waits for, and clients use it.
_AGAIN_S = 0.1

# So long a connect may go on for whom nobody waits: a pool that lost each connection which was not made in time would
# have none for the next burst either.
_CONNECTS_S = 5.0


class Late(asyncio.CancelledError):
    """The deadline passed, or the caller went, before the call was sent.

    A cancellation that comes when its task can take it, so that a loop at its end has nothing to report.
    """


class Flight:
    """A call, from its first connect to its reply.

    The deadline bounds the wait, not the reply: one that is there by then is used, however late. Of what is late, a
    call that was sent is cancelled, as its connection is of no use to anybody; a connect goes on, and its connection is
    the pool's.
    """

    __slots__ = ("_is_told", "ends", "is_connecting", "is_over", "on_late", "task")

    task: asyncio.Task[Any]

    def __init__(self, seconds: float) -> None:
        self.ends = Ends(seconds)
        self.is_connecting = False
        self.is_over = False
        self.on_late: Callable[[], object] | None = None
        self._is_told = False

    def sending(self) -> None:
        """Say that there is a connection.

        Raises:
            Late: nobody waits for the call any more.

        """
        self.is_connecting = False
        if self.is_over:
            raise Late
        self.ends.sending()

    def begin(self, call: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run it.

        Raises:
            RuntimeError: no event loop runs.

        """
        try:
            self.task = asyncio.get_running_loop().create_task(call)
        except RuntimeError:
            call.close()
            raise
        self.task.add_done_callback(_heard)
        return self.task

    async def wait(self) -> None:
        """Wait for its end, or for the deadline.

        For how long the loop was held by somebody else, so that nothing was sent or read, the call gets back; once.
        """
        await self._wait()
        held = -self.ends.left()
        if not self.task.done() and held > _HELD_S:
            self.ends.later(held + min(held, self.ends.seconds))
            await self._wait()

    async def _wait(self) -> None:
        loop = self.task.get_loop()
        over = loop.create_future()

        def end(_: object) -> None:
            if not over.done():
                over.set_result(None)

        # As `asyncio.wait`, for less of the processor's time.
        due = loop.call_later(max(self.ends.left(), 0), end, None)
        self.task.add_done_callback(end)
        try:
            await over
        finally:
            due.cancel()
            self.task.remove_done_callback(end)
        for _ in range(_TURNS):
            if self.task.done():
                break
            await asyncio.sleep(0)

    async def stop(self) -> None:
        """End what is late."""
        self._end()
        if not self.is_connecting:
            # What it held of the host's is given back first.
            await asyncio.wait((self.task,))

    def leave(self, call: Call[Any], is_news: Callable[[Ends], bool]) -> None:
        """Let it go on until its deadline, for what it shows of the store: its caller went, and `call` is abandoned."""
        if not self.ends.is_sent and not self.is_connecting:
            self._cancel()
            return
        self.is_over = True
        if self.task.get_loop().is_closed():
            return
        due = self.task.get_loop().call_later(max(self.ends.left(), 0), self._due, call, is_news)

        def landed(task: asyncio.Task[Any]) -> None:
            due.cancel()
            if not self._is_told and not task.cancelled():
                tell(task, call)

        self.task.add_done_callback(landed)

    def _due(self, call: Call[Any], is_news: Callable[[Ends], bool]) -> None:
        self._is_told = True
        if is_news(self.ends):
            call.late()
        self._end()

    def _end(self) -> None:
        self.is_over = True
        if self.on_late is not None:
            self.on_late()
        if self.task.get_loop().is_closed():
            return
        if self.is_connecting:
            end = self.task.get_loop().call_later(_CONNECTS_S, self._cancel)
            self.task.add_done_callback(lambda _: end.cancel())
        else:
            self._cancel()

    def _cancel(self) -> None:
        if not self.task.done() and not self.task.get_loop().is_closed():
            self.task.cancel()
            self.task.get_loop().call_later(_AGAIN_S, self._cancel)


def tell(task: asyncio.Task[Any], call: Call[Any]) -> None:
    """Tell the library how a call ended that nobody waits for.

    One that had to be sent again shows nothing: an abandoned call has no words.
    """
    error = task.exception()
    if error is None:
        call.settle(task.result())
    elif isinstance(error, Exception) and not (isinstance(error, RuntimeError) or is_of_the_pool(error)):
        call.fail(*fault_of(error))


def _heard(task: asyncio.Task[Any]) -> None:
    """Its exception is seen, so that asyncio does not complain of it."""
    if not task.cancelled():
        task.exception()
