"""A hook for Celery: a task that is refused runs later."""

from __future__ import annotations

import random
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, NoReturn

from celery import Task
from celery.exceptions import Retry

from labkit_ratelimit._hooks import within
from labkit_ratelimit.errors import RateLimitExceeded
from labkit_ratelimit.limiter import usable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    from labkit_ratelimit._native import Result
    from labkit_ratelimit.limiter import Limiter

    AnyTask: TypeAlias = Task[..., Any]
    Identify = Callable[[AnyTask, tuple[Any, ...], dict[str, Any]], Mapping[str, Any] | None]
else:
    AnyTask = Task

__all__ = ["OTHERWISE", "limited_by"]

OTHERWISE = 60
"""Seconds until a task is tried again where no wait is known to help."""

# As the longest period: 366 days.
_LONGEST = 31_622_400

if not hasattr(Task, "before_start"):
    raise ImportError("labkit_ratelimit.celery needs Celery 5.2 or newer: an older one would limit nothing")


def limited_by(
    limiter: Limiter, identify: Identify, *, jitter: float = 0.2, otherwise: float = OTHERWISE
) -> type[AnyTask]:
    """Make a base for tasks: one that is refused runs later, when it may.

    They are spread out, so that not all that wait come at once. It is the same task then, with its id and its count of
    retries: to be refused is no attempt. A task that runs eagerly cannot be put off: it fails with `RateLimitExceeded`.
    One that is called as a function is not limited.

    A broker with a visibility timeout, as Redis, hands a task that waits longer to another worker too: let it be
    longer than any wait.

    >>> @app.task(base=limited_by(limiter, lambda task, args, kwargs: {"task": task.name}))

    Args:
        limiter: one in memory, or on a client that is not asynchronous.
        identify: takes the task, its arguments and its keywords; gives an identifier, or `None`: not limited.
        jitter: a task waits up to so much longer, as a share of its wait: 0 to 100.
        otherwise: seconds to wait where the result names no time: above 0, at most 31 622 400.

    Raises:
        TypeError: the limiter's client is asynchronous.
        ValueError: a number is out of range.

    """
    usable(limiter, awaited=False)
    within("jitter", jitter, 0, 100)
    within("otherwise", otherwise, 0, _LONGEST, above=True)

    class LimitedTask(AnyTask):
        """Asks before it runs."""

        abstract = True

        def before_start(self, task_id: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            """Put the task off if it is refused. One that has its own calls this."""
            identifier = identify(self, args, kwargs)
            if identifier is not None:
                result = limiter.check(identifier)
                if result.blocked:
                    self._put_off(result)
            super().before_start(task_id, args, kwargs)

        def _put_off(self, result: Result) -> NoReturn:
            exceeded = RateLimitExceeded(result)
            request = self.request
            if request.is_eager:
                raise exceeded
            wait = otherwise if result.retry_after is None else result.retry_after
            wait *= 1 + random.random() * jitter
            when = datetime.now(timezone.utc) + timedelta(seconds=wait)
            later = self.signature_from_request(request, eta=when, retries=request.retries)
            later.apply_async()
            raise Retry(str(exceeded), exceeded, when=when, sig=later)

    return LimitedTask
