"""Values of Python's other classes, as the contract's table has them. The native half asks here only for those."""

from __future__ import annotations

import datetime
import decimal
import enum
import inspect
import ipaddress
import numbers
import operator
import os
import uuid
from contextvars import ContextVar
from typing import Any, cast

_BY_THEIR_TEXT = (
    decimal.Decimal,
    uuid.UUID,
    datetime.date,
    datetime.time,
    ipaddress.IPv4Address,
    ipaddress.IPv6Address,
    ipaddress.IPv4Network,
    ipaddress.IPv6Network,
    ipaddress.IPv4Interface,
    ipaddress.IPv6Interface,
    os.PathLike,
)

Plain = str | bytes | int | float | bool | None


def plain(value: object) -> Plain:
    """Give the value of a property in plain classes.

    Raises:
        TypeError: it is of a class that cannot be the value of a property.

    """
    if isinstance(value, enum.Enum):
        inner: object = value.value
        return inner if isinstance(inner, (str, bytes, int, float, type(None))) else plain(inner)
    if isinstance(value, _BY_THEIR_TEXT):
        return str(cast("object", value))
    # Numbers of other libraries, numpy's above all. A float of fewer bits is its shortest decimal.
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Rational):
        return float(str(value))
    raise TypeError(f"a {type(value).__qualname__} cannot be the value of a property")


def number(value: object) -> int | float:
    """Give a number of another class than `int` and `float`, exact where it is whole.

    Raises:
        TypeError: it is no number. A `bool` is none either.

    """
    if isinstance(value, numbers.Number) and not isinstance(value, (bool, complex)):
        amount: Any = value
        return int(amount) if amount == amount // 1 else float(amount)
    raise TypeError(f"a {type(value).__qualname__} is no number")


def dropped(awaitable: Any) -> None:
    """Let go what nobody waits for, so that Python does not complain of it."""
    drop = getattr(awaitable, "close", None) or getattr(awaitable, "cancel", None)
    if drop is not None:
        drop()


_DEPTH: ContextVar[int] = ContextVar("labkit_ratelimit_depth", default=0)
# Each takes some 10 KiB of a stack, thrice that in a debug build. Threads of hosts have 64 KiB and more.
_DEEPEST = 4


def asked(function: Any, *words: Any) -> Any:
    """Call what a rule asks.

    Raises:
        RecursionError: it is asked by a check that another callable made, and so on: the stack is Rust's as well.
        TypeError: it gives a coroutine.

    """
    depth = _DEPTH.get()
    if depth >= _DEEPEST:
        raise RecursionError(f"callables of rules make checks {_DEEPEST} deep: let none check its own limiter")
    token = _DEPTH.set(depth + 1)
    try:
        answer = function(*words)
    finally:
        _DEPTH.reset(token)
    if inspect.iscoroutine(answer):
        answer.close()
        raise TypeError(_NO_COROUTINE)
    return answer


_NO_COROUTINE = "a callable of a rule is a plain function: a check waits for no coroutine"
_OF_ONE_OBJECT = (operator.attrgetter, operator.itemgetter, operator.methodcaller)


def takes_context(function: Any) -> bool:
    """Say whether a callable requires a parameter: then it is given the call's context.

    Raises:
        TypeError: it is a coroutine function: a check does not wait for one.

    """
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None)):  # noqa: B004
        raise TypeError(_NO_COROUTINE)
    if isinstance(function, _OF_ONE_OBJECT):
        # Before 3.13 they do not say so themselves.
        return True
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        # A class or function of C that does not say: one without parameters.
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return any(p.kind in positional and p.default is p.empty for p in parameters)
