"""The host's pool, as one call sees it."""

from __future__ import annotations

import functools
import inspect
import threading
from typing import TYPE_CHECKING, Any, cast

from labkit_ratelimit._clients import wants_a_command
from labkit_ratelimit._hold import AsyncHold

if TYPE_CHECKING:
    from labkit_ratelimit._hold import Hold


def taken(pool: Any, hold: Hold | AsyncHold) -> Any:
    """Take a connection out of the host's pool, as that gives it, but held from before it is connected.

    A pool connects what it gives, and asks whether it is alive, for as long and as often as its host says. So it is
    asked as an object of its class, with the same state, in which every connection that comes to light is held.

    Of an asynchronous pool, what is given is awaited.
    """
    bounded, words = _bounded_by(cast("Any", type(pool)), isinstance(hold, AsyncHold))
    seen = object.__new__(bounded)
    seen.__dict__ = pool.__dict__
    seen.labkit_hold = hold
    return seen.get_connection(*words)


@functools.lru_cache(maxsize=64)
def _bounded_by(kind: Any, asynchronous: bool) -> tuple[Any, tuple[str, ...]]:
    """Give the class of what is asked in the pool's place, and what it is asked with."""
    bounded = _abounded(kind) if asynchronous else _bounded(kind)
    return bounded, ("EVALSHA",) if wants_a_command(kind) else ()


def _bounded(kind: Any) -> Any:
    class Bounded(_seen(kind)):  # type: ignore[misc]
        def release(self, connection: Any) -> None:
            """Of one that could not be connected."""
            self.labkit_hold.fail(ConnectionError())
            self.labkit_hold.let_go()
            kind.release(self, connection)

        def reset(self) -> None:
            """Begin anew after a fork, with a lock that no thread of the parent has: redis-py 8 takes it first."""
            if "_lock" in self.__dict__:
                self.__dict__["_lock"] = threading.RLock()
            kind.reset(self)

    return Bounded


def _abounded(kind: Any) -> Any:
    class Bounded(_seen(kind)):  # type: ignore[misc]
        async def release(self, connection: Any) -> None:
            """Of one that could not be connected."""
            await self.labkit_hold.fail(ConnectionError())
            self.labkit_hold.let_go()
            await kind.release(self, connection)

    return Bounded


def _seen(kind: Any) -> Any:
    class Seen(kind):  # type: ignore[misc]
        __slots__ = ("labkit_hold",)

        def make_connection(self) -> Any:
            made: Any = kind.make_connection(self)
            return cast("Any", self.labkit_hold.take(made))

        def __del__(self) -> None:
            """What it sees is not its own."""

        _available_connections = _Kept("_available_connections")
        pool = _Kept("pool")
        timeout = _Time("timeout")

    return Seen


class _Attribute:
    """One of the host's pool, which goes before what its state says."""

    def __init__(self, name: str) -> None:
        self._name = name

    def of(self, seen: Any) -> Any:
        try:
            return seen.__dict__[self._name]
        except KeyError:
            raise AttributeError(self._name) from None

    def __set__(self, seen: Any, value: Any) -> None:
        seen.__dict__[self._name] = value


class _Kept(_Attribute):
    """Connections that wait for somebody to take them."""

    def __get__(self, seen: Any, kind: type | None = None) -> Any:
        return _Idle(self.of(seen), seen.labkit_hold)


class _Time(_Attribute):
    """How long a pool waits that waits for a connection."""

    def __get__(self, seen: Any, kind: type | None = None) -> Any:
        return seen.labkit_hold.shortened(self.of(seen))


class _Idle:
    """A list, or a queue, of connections. What is taken out of it is held."""

    __slots__ = ("_hold", "_kept")

    def __init__(self, kept: Any, hold: Hold | AsyncHold) -> None:
        self._kept = kept
        self._hold = hold

    def pop(self, *place: int) -> Any:
        return self._held(self._kept.pop(*place))

    def get(self, *words: Any, **options: Any) -> Any:
        # One of an asynchronous pool, in versions that had a queue, is awaited.
        if inspect.iscoroutinefunction(self._kept.get):
            return self._awaited(self._kept.get(*words, **options))
        return self._held(self._kept.get(*words, **options))

    def get_nowait(self) -> Any:
        return self._held(self._kept.get_nowait())

    async def _awaited(self, connection: Any) -> Any:
        return self._held(await connection)

    def _held(self, connection: Any) -> Any:
        # A queue has `None` for one that is still to be made.
        return connection if connection is None else self._hold.take(connection)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kept, name)

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Any:
        return iter(self._kept)
