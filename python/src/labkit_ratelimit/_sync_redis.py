"""A host's Redis that is called, and waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

from labkit_ratelimit._bounded_pool import taken
from labkit_ratelimit._clients import Ends, is_cluster, on, once, package_of
from labkit_ratelimit._fault import Patience, taken_along
from labkit_ratelimit._hold import Hold
from labkit_ratelimit._native import Call
from labkit_ratelimit._script import sent
from labkit_ratelimit._sync_cluster import SyncCluster

if TYPE_CHECKING:
    from collections.abc import Callable

    from labkit_ratelimit._log import Log

T = TypeVar("T")


class SyncRedis:
    """Runs the calls of a plan, each once, and knows nothing of what they say."""

    __slots__ = ("_patience", "_run")

    def __init__(self, client: Any, log: Log) -> None:
        self._run = way_of(client)
        self._patience = Patience()
        limits_of(client, log)

    def run(self, answer: T | Call[T]) -> T:
        """Run call after call, until there is an answer."""
        while isinstance(answer, Call):
            answer = self._settled(cast("Call[T]", answer))
        return answer

    def _settled(self, call: Call[T]) -> T | Call[T]:
        ends = Ends(call.deadline)
        try:
            reply = self._run(call, ends)
        except Exception as error:
            failure = error
        except BaseException as gone:
            taken_along(call, gone, ends)
            raise
        else:
            return call.settle(reply)
        return self._patience.failed(call, failure, ends)


def way_of(client: Any) -> Callable[[Call[Any], Ends], Any]:
    """Give what runs a call on this client."""
    package = package_of(client)
    if package is None:
        return lambda call, ends: _of_unknown(client, call, ends)
    retry = once(package, asynchronous=False)
    if is_cluster(client):
        return SyncCluster(client, retry).run
    return lambda call, ends: run_on(client, call, ends, retry)


def _of_unknown(client: Any, call: Call[Any], ends: Ends) -> Any:
    # Nobody knows when it sends.
    ends.sending()
    return sent(client, call)


def limits_of(client: Any, log: Log) -> None:
    """Say, once, what of a client cannot be bounded."""
    kind = type(client).__qualname__
    if package_of(client) is None:
        log.say(
            "rate_limit_redis_client",
            f"{kind} is no client known here: its own time-outs rule, not the deadline, and what it tries again by "
            "itself, it tries again",
        )
    elif hasattr(getattr(client, "connection_pool", None), "sentinel_manager"):
        log.say(
            "rate_limit_redis_client",
            f"{kind} asks a Sentinel before it connects: that waits as its own time-outs say, not for the deadline",
        )


def run_on(
    client: Any,
    call: Call[Any],
    ends: Ends,
    retry: Any,
    speaker: Callable[[Any, Any], Any] = on,
    *,
    asking: bool = False,
) -> Any:
    """Run a call on a connection of this client's, by what `speaker` makes of the two."""
    hold = Hold(ends, retry)
    connection = getattr(client, "connection", None)
    if connection is not None:
        return _on_the_one(client, connection, call, hold)
    pool = client.connection_pool
    try:
        connection = hold.take(taken(pool, hold))
        return _through(speaker(client, connection), call, hold, asking=asking)
    finally:
        hold.let_go()
        if connection is not None:
            pool.release(connection)


def _on_the_one(client: Any, connection: Any, call: Call[Any], hold: Hold) -> Any:
    """Of a client that has one connection, and a lock for it."""
    lock = getattr(client, "single_connection_lock", None)
    if lock is not None and not lock.acquire(timeout=hold.ends.some_left()):
        raise TimeoutError("the client's one connection was in use for longer than the deadline")
    try:
        hold.take(connection)
        hold.ready()
        return _through(on(client, connection), call, hold, asking=False)
    finally:
        hold.let_go()
        if lock is not None:
            lock.release()


def _through(client: Any, call: Call[Any], hold: Hold, *, asking: bool) -> Any:
    try:
        hold.ends.some_left()
        hold.undecoded()
        hold.ends.sending()
        return sent(client, call, asking=asking)
    except BaseException as error:
        hold.fail(error)
        raise
