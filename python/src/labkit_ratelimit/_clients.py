"""What clients of redis-py and valkey-py are, and a client whose commands run on one connection."""

from __future__ import annotations

import functools
import importlib
import inspect
import time
from typing import Any, cast

_PACKAGES = ("redis", "valkey")

# More seconds than anybody waits. A lock cannot wait for 292 years, and polls count milliseconds in 31 bits.
_LONGEST = 1e6


class Ends:
    """When the time of a call is up."""

    __slots__ = ("_at", "_sent", "began", "seconds")

    def __init__(self, seconds: float) -> None:
        self.seconds = min(seconds, _LONGEST)
        self.began = time.monotonic()
        self._at = self.began + self.seconds
        self._sent: float | None = None

    @property
    def is_sent(self) -> bool:
        """The call has a connection, and is on its way."""
        return self._sent is not None

    def sending(self) -> None:
        """Say that it is. Again is nothing: it follows its slot."""
        if self._sent is None:
            self._sent = time.monotonic()

    def gave_the_store_time(self) -> bool:
        """Say whether half of the time, or more, was the store's: the rest was spent on having a connection."""
        return self._sent is not None and self._at - self._sent >= self.seconds / 2

    def left(self) -> float:
        """Give the seconds until then; less than 0 afterwards."""
        return self._at - time.monotonic()

    def later(self, seconds: float) -> None:
        """Put it off by so much."""
        self._at += seconds

    def waited(self) -> float:
        """Give the seconds since it began."""
        return time.monotonic() - self.began

    def some_left(self) -> float:
        """As `left`.

        Raises:
            TimeoutError: nothing is left.

        """
        left = self.left()
        if left <= 0:
            raise TimeoutError("the call took longer than the deadline")
        return left


def package_of(client: object) -> str | None:
    """Give the library whose client this is, if it is one whose connections can be had."""
    if not is_cluster(client) and not hasattr(client, "connection_pool"):
        return None
    if is_cluster(client) and not hasattr(client, "nodes_manager"):
        return None
    for ancestor in type(client).__mro__:
        package = ancestor.__module__.partition(".")[0]
        if package in _PACKAGES:
            return package
    return None


def is_cluster(client: object) -> bool:
    """Say whether keys of different slots are of different servers."""
    return hasattr(client, "nodes_manager") or "Cluster" in type(client).__name__


def no_client(client: object) -> str | None:
    """Say why this is no client whose commands run, and are answered; nothing, if it is one."""
    # Its repr may hold a password.
    kind = client.__qualname__ if isinstance(client, type) else type(client).__qualname__
    if isinstance(client, type):
        return f"not the class {kind}"
    if not callable(getattr(client, "execute_command", None)):
        return f"which has execute_command; a {kind} has none"
    if _is_of_a_module(type(client)):
        return f"not a {kind}, which is a set of commands: give the client that made it"
    names = [ancestor.__name__ for ancestor in type(client).__mro__]
    if _has(client, "command_stack") or any(name.endswith(("Pipeline", "PubSub")) for name in names):
        return f"not a {kind}, whose commands are not answered as they come"
    if _has(client, "master_for"):
        return f"not a {kind}: give what its master_for gives"
    return None


def _is_of_a_module(kind: type) -> bool:
    """Say whether it is the commands of one of Redis's modules, as what `client.json()` gives."""
    package, *within = kind.__module__.split(".")
    return package in _PACKAGES and within[:1] == ["commands"]


def _has(client: object, name: str) -> bool:
    """Say whether it has that itself: a mock has whatever it is asked for."""
    return inspect.getattr_static(client, name, None) is not None


def is_async(client: Any) -> bool:
    """Say whether what the client gives is awaited."""
    if any(".asyncio" in ancestor.__module__ for ancestor in type(client).__mro__):
        return True
    return inspect.iscoroutinefunction(getattr(client, "execute_command", None))


@functools.cache
def once(package: str, *, asynchronous: bool) -> Any:
    """Give a `Retry` that tries nothing again."""
    retry = importlib.import_module(f"{package}.asyncio.retry" if asynchronous else f"{package}.retry")
    return retry.Retry(importlib.import_module(f"{package}.backoff").NoBackoff(), 0)


def wants_a_command(pool: Any) -> bool:
    """Say whether a connection is had from such a pool for the name of a command; newer ones warn of that."""
    for ancestor in pool.__mro__:
        # A subclass may pass on whatever it is given.
        name = inspect.signature(ancestor.__dict__.get("get_connection", len)).parameters.get("command_name")
        if name is not None:
            return name.default is inspect.Parameter.empty
    return False


def on(client: Any, connection: Any) -> Any:
    """Give the host's client again, whose commands run on this connection."""
    # Its own lock is held by whoever took the connection.
    return seen_as(client, connection=connection, single_connection_client=False, _single_connection_client=False)


def seen_as(client: Any, **changes: Any) -> Any:
    """Give the host's client again, of the same class and with the same state, but for these attributes.

    So subclasses, and what traces `execute_command` of a class, see a call. What was put before it on the one object
    is left out: it may be bound to that object, and would go the usual way.
    """
    seen, slots = _seen(cast("Any", type(client)))
    view = object.__new__(seen)
    for name in slots:
        if hasattr(client, name):
            setattr(view, name, getattr(client, name))
    state = {**getattr(client, "__dict__", {}), **changes}
    state.pop("execute_command", None)
    view.__dict__.update(state)
    return view


@functools.lru_cache(maxsize=64)
def _seen(kind: Any) -> tuple[Any, tuple[str, ...]]:
    """Give the class of a view, and what it copies beside the state."""

    class Seen(kind):  # type: ignore[misc]
        def __del__(self) -> None:
            """When it goes it closes nothing, and gives nothing back: it is the host's."""

    Seen.__name__, Seen.__qualname__, Seen.__module__ = kind.__name__, kind.__qualname__, kind.__module__
    return Seen, _slots_of(kind)


def _slots_of(kind: Any) -> tuple[str, ...]:
    found: list[str] = []
    for ancestor in kind.__mro__:
        slots = ancestor.__dict__.get("__slots__", ())
        found += [slots] if isinstance(slots, str) else list(slots)
    return tuple(name for name in found if name not in ("__dict__", "__weakref__"))


def is_a_reply(error: BaseException) -> bool:
    """Say whether an error is what the server answered, so that nothing is outstanding."""
    return any(ancestor.__name__ == "ResponseError" for ancestor in type(error).__mro__)


def is_of_the_pool(error: BaseException) -> bool:
    """Say whether a pool had no connection left, which says nothing of its server: nothing was asked of that."""
    if any(ancestor.__name__ == "MaxConnectionsError" for ancestor in type(error).__mro__):
        return True
    # Pools that wait, and all of older versions, raise what a server that is gone does.
    return type(error).__name__ == "ConnectionError" and str(error).startswith(("Too many conn", "No connection avail"))
