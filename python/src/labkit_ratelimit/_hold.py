"""A connection of the host's that is held for one call."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from labkit_ratelimit._clients import is_a_reply

if TYPE_CHECKING:
    from labkit_ratelimit._clients import Ends

_NONE = object()

# What is read when the time is up may be there already; 0 would mean not to wait at all, which is an error.
_AT_LEAST_S = 0.001


class Settings:
    """Attributes of a connection for as long as it is held, and what they were before."""

    __slots__ = ("_before",)

    def __init__(self) -> None:
        self._before: list[tuple[Any, str, Any]] = []

    def once(self, connection: Any, retry: Any) -> None:
        """Send nothing twice: no second try, and no PING before a call, which is tried again too."""
        self.set(connection, "retry", retry)
        if getattr(connection, "health_check_interval", 0):
            self.set(connection, "health_check_interval", 0)

    def set(self, connection: Any, name: str, value: Any) -> None:
        """Set one."""
        self._before.append((connection, name, getattr(connection, name, _NONE)))
        setattr(connection, name, value)

    def shadow(self, connection: Any, name: str, method: Any) -> None:
        """Put a function before a method of the class."""
        self._before.append((connection, name, connection.__dict__.get(name, _NONE)))
        setattr(connection, name, method)

    def restore(self) -> None:
        """Make them what they were. Again is nothing."""
        while self._before:
            connection, name, value = self._before.pop()
            if value is _NONE:
                delattr(connection, name)
            else:
                setattr(connection, name, value)


class Hold:
    """Lets a connection wait for no longer than a call has, and not longer than its host lets it.

    It may be taken before it is connected: each of the steps of that is bounded as well, and nothing is tried twice.
    """

    __slots__ = ("_connection", "_ends", "_inner", "_retry", "_settings")

    def __init__(self, ends: Ends, retry: Any) -> None:
        self._ends = ends
        self._retry = retry
        self._connection: Any = None
        self._inner: Any = None
        self._settings = Settings()

    @property
    def ends(self) -> Ends:
        """When it is up."""
        return self._ends

    def shortened(self, timeout: float | None) -> float:
        """Give the seconds that may be waited for a connection."""
        return least(timeout, max(self._ends.left(), 0.0))

    def take(self, connection: Any) -> Any:
        """Hold this connection, and give it."""
        if connection is self._connection:
            return connection
        if self._connection is not None:
            self.let_go()
        # One that looks into a cache of its client first has the connection inside.
        inner = getattr(connection, "_conn", connection)
        self._connection, self._inner = connection, inner
        if inner is not connection:
            self._settings.set(connection, "retry", self._retry)
        self._settings.once(inner, self._retry)
        if hasattr(inner, "socket_timeout"):
            if hasattr(inner, "_connect"):
                self._settings.shadow(inner, "_connect", self._connecting(inner, inner._connect))
            if hasattr(inner, "read_response"):
                self._settings.shadow(inner, "read_response", self._reading(inner, inner.read_response))
        return connection

    def fail(self, error: BaseException) -> None:
        """Disconnect it, unless the error is what was answered: a reply may still come."""
        if self._connection is not None and not is_a_reply(error):
            with contextlib.suppress(Exception):
                self._connection.disconnect()

    def let_go(self) -> None:
        """Make it the host's again. Again is nothing."""
        if self._connection is None:
            return
        inner, self._connection, self._inner = self._inner, None, None
        self._settings.restore()
        if hasattr(inner, "socket_timeout"):
            with contextlib.suppress(OSError):
                _wait(inner, inner.socket_timeout)

    def _connecting(self, inner: Any, connect: Any) -> Any:
        def connecting() -> Any:
            left = self._ends.some_left()
            settings = Settings()
            for name in ("socket_timeout", "socket_connect_timeout"):
                if hasattr(inner, name):
                    settings.set(inner, name, least(getattr(inner, name), left))
            try:
                return connect()
            finally:
                settings.restore()

        return connecting

    def _reading(self, inner: Any, read: Any) -> Any:
        ends = self._ends

        def reading(*words: Any, **options: Any) -> Any:
            _wait(inner, least(inner.socket_timeout, max(ends.left(), _AT_LEAST_S)))
            return read(*words, **options)

        return reading


def _wait(inner: Any, seconds: float | None) -> None:
    """Let the socket wait so long. One of a fake server, as tests have it, may be none that waits."""
    settimeout = getattr(getattr(inner, "_sock", None), "settimeout", None)
    if settimeout is not None:
        settimeout(seconds)


class AsyncHold:
    """Lets a connection try nothing twice. Whoever awaits it keeps the time."""

    __slots__ = ("_connection", "_retry", "_settings")

    def __init__(self, retry: Any) -> None:
        self._retry = retry
        self._connection: Any = None
        self._settings = Settings()

    def shortened(self, timeout: float | None) -> float | None:
        """Give it: the deadline cancels the wait."""
        return timeout

    def take(self, connection: Any) -> Any:
        """Hold this connection, and give it."""
        if connection is not self._connection:
            self.let_go()
            self._connection = connection
            self._settings.once(connection, self._retry)
        return connection

    async def fail(self, error: BaseException) -> None:
        """Disconnect it, unless the error is what was answered: a reply may still come."""
        if self._connection is not None and not is_a_reply(error):
            with contextlib.suppress(Exception):
                await self._connection.disconnect(nowait=True)

    def let_go(self) -> None:
        """Make it the host's again. Again is nothing."""
        self._connection = None
        self._settings.restore()


def least(usual: float | None, left: float) -> float:
    """Give what is shorter. `None` is for ever."""
    return left if usual is None else min(usual, left)
