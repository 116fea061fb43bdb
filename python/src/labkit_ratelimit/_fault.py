"""Errors of clients, as the core takes them, and callers that do not wait for a reply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from labkit_ratelimit._signals import signalled

if TYPE_CHECKING:
    from labkit_ratelimit._native import Call

T = TypeVar("T")


def is_unknown_script(error: Exception) -> bool:
    """Say whether the server does not know the digest: nothing ran, and the script may be sent whole."""
    return type(error).__name__ == "NoScriptError" or str(error).startswith("NOSCRIPT")


def fault_of(error: Exception) -> tuple[str, str]:
    """Give the class and the message of what came in the place of a reply."""
    return type(error).__name__, str(error)


class Patience:
    """What callers show of the store who go before the deadline, and take their call with them.

    A store that is dead is not to be hidden by that: where they waited for as long as a deadline, all together, and it
    answered nothing meanwhile, that is one failure of it.
    """

    __slots__ = ("_waited",)

    def __init__(self) -> None:
        self._waited = 0.0

    def answered(self) -> None:
        """Say that the store answers."""
        self._waited = 0.0

    def failed(self, call: Call[T], error: Exception, waited: float) -> T | Call[T]:
        """Settle a call that failed.

        Raises:
            BaseException: what a signal's handler raised is not the store's failure.

        """
        signal = signalled(error)
        if signal is None:
            return call.fail(*fault_of(error))
        self.gone(call, signal, waited)
        raise signal

    def gone(self, call: Call[Any], why: BaseException, waited: float) -> None:
        """Settle a call whose caller went after so many seconds."""
        deadline = call.deadline
        abandon(call, why)
        self._waited += waited
        if self._waited >= deadline:
            self._waited = 0.0
            call.late()


def abandon(call: Call[Any], why: BaseException) -> None:
    """Decide a check whose caller went."""
    call.abandon(type(why).__name__, "the caller did not wait for the store's answer")
