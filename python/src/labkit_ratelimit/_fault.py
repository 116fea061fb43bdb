"""Errors of clients, as the core takes them, and callers that do not wait for a reply."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, TypeVar

from labkit_ratelimit._clients import is_of_the_pool
from labkit_ratelimit._signals import signalled

if TYPE_CHECKING:
    from labkit_ratelimit._clients import Ends
    from labkit_ratelimit._native import Call

T = TypeVar("T")

_LEFT = "the caller did not wait for the store's answer"


def is_unknown_script(error: Exception) -> bool:
    """Say whether the server does not know the digest: nothing ran, and the script may be sent whole."""
    return type(error).__name__ == "NoScriptError" or str(error).startswith("NOSCRIPT")


def fault_of(error: Exception) -> tuple[str, str]:
    """Give the class and the message of what came in the place of a reply."""
    return type(error).__name__, str(error)


class Patience:
    """What calls show of the store that were not sent in time."""

    __slots__ = ("_missed",)

    def __init__(self) -> None:
        self._missed = -math.inf

    def is_news(self, ends: Ends) -> bool:
        """Say whether a call that is late is one more failure of the store.

        Of many that had no connection at the same time, or had one too late, one is: that takes the longer, the more
        there are, and the store may be as quick as ever.
        """
        if ends.gave_the_store_time():
            return True
        if ends.began < self._missed:
            return False
        self._missed = time.monotonic()
        return True

    def failed(self, call: Call[T], error: Exception, ends: Ends) -> T | Call[T]:
        """Settle a call that failed.

        Raises:
            BaseException: what a signal's handler raised is not the store's failure.

        """
        signal = signalled(error)
        if signal is not None:
            taken_along(call, signal, ends)
            raise signal
        if is_of_the_pool(error):
            return call.unsent(*fault_of(error))
        if ends.left() <= 0 and not self.is_news(ends):
            return call.unsent()
        return call.fail(*fault_of(error))


def abandon(call: Call[Any], why: BaseException) -> None:
    """Decide a check whose caller went."""
    call.abandon(type(why).__name__, _LEFT)


def taken_along(call: Call[Any], why: BaseException, ends: Ends) -> None:
    """Decide a check whose caller went, and took its call along: nothing will come of that."""
    call.abandon(type(why).__name__, _LEFT, ends.waited())
