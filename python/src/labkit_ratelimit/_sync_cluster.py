"""A host's cluster that is called, and waited for."""

from __future__ import annotations

import os
import threading
import weakref
from typing import TYPE_CHECKING, Any

from labkit_ratelimit import _sync_redis
from labkit_ratelimit._clients import seen_as
from labkit_ratelimit._redirects import (
    REDIRECTIONS,
    is_ask,
    is_moved,
    is_not_covered,
    is_of_a_node_that_is_lost,
    slot_of,
)

if TYPE_CHECKING:
    from labkit_ratelimit._clients import Ends
    from labkit_ratelimit._native import Call


class SyncCluster:
    """Runs a call on the node that owns its keys, which is a client like any other.

    The cluster's own way to run a command tries again whatever fails, and has no time-out for one call. So the part of
    `execute_command` that does that is another for this call; subclasses, and what traces it, see the call.
    """

    __slots__ = ("_client", "_connection_of", "_lost", "_renewal", "_retry")

    def __init__(self, client: Any, retry: Any) -> None:
        self._client = client
        self._connection_of = getattr(client, "get_redis_connection", None) or client.get_valkey_connection
        self._retry = retry
        self._lost: set[str] = set()
        self._renewal = _Renewal(client.nodes_manager.initialize)

    def run(self, call: Call[Any], ends: Ends) -> Any:
        """Run a call, and follow its slot."""
        manager = self._client.nodes_manager
        slot = slot_of(self._client, call)
        node = self._owner(manager, slot, ends)

        def execute(node: Any, *_: Any, **__: Any) -> Any:
            return self._follow(manager, slot, node, call, ends)

        return seen_as(self._client, _execute_command=execute).execute_command(*call.evalsha(), target_nodes=node)

    def _follow(self, manager: Any, slot: int, node: Any, call: Call[Any], ends: Ends) -> Any:
        asking = False
        for _ in range(REDIRECTIONS):
            try:
                return self._on(node, call, ends, asking=asking)
            except Exception as error:
                asking = is_ask(error)
                if not asking and not is_moved(error):
                    raise
                node = self._followed(manager, slot, error, asking=asking)
                ends.some_left()
        return self._on(node, call, ends, asking=asking)

    def _owner(self, manager: Any, slot: int, ends: Ends) -> Any:
        try:
            node = manager.get_node_from_slot(slot)
            if node.name not in self._lost:
                return node
        except Exception as error:
            if not is_not_covered(error):
                raise
        self._renewal.within(ends)
        self._lost.clear()
        return manager.get_node_from_slot(slot)

    def _followed(self, manager: Any, slot: int, error: Any, *, asking: bool) -> Any:
        if asking:
            node = self._client.get_node(host=error.host, port=error.port)
            if node is None:
                # It joined lately. The next call knows it.
                self._lost.update(each.name for each in self._client.get_nodes())
                raise error
            return node
        (getattr(manager, "move_slot", None) or manager.update_moved_exception)(error)
        return manager.get_node_from_slot(slot)

    def _on(self, node: Any, call: Call[Any], ends: Ends, *, asking: bool) -> Any:
        try:
            return _sync_redis.run_on(self._connection_of(node), call, ends, self._retry, OnNode, asking=asking)
        except BaseException as error:
            if is_of_a_node_that_is_lost(error):
                self._lost.add(node.name)
            raise


class OnNode:
    """A node of a cluster, whose commands run on one connection, as a cluster's do."""

    __slots__ = ("_connection", "_node")

    def __init__(self, node: Any, connection: Any) -> None:
        self._node = node
        self._connection = connection

    def execute_command(self, *words: Any) -> Any:
        self._connection.send_command(*words)
        return self._node.parse_response(self._connection, words[0])


class _Renewal:
    """Asks a cluster who owns what, in a thread: that takes as long as it takes, and a call waits for less."""

    def __init__(self, renew: Any) -> None:
        self._renew = renew
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._error: Exception | None = None
        _RENEWALS.add(self)

    def within(self, ends: Ends) -> None:
        """Wait for it.

        Raises:
            Exception: as the client raises it.
            TimeoutError: it goes on; a later call waits for the same.

        """
        with self._lock:
            if self._thread is None:
                self._error = None
                self._thread = threading.Thread(target=self._work, name="labkit-ratelimit-cluster", daemon=True)
                self._thread.start()
            thread = self._thread
        thread.join(ends.some_left())
        if thread.is_alive():
            raise TimeoutError("the cluster took longer than the deadline to say who owns what")
        with self._lock:
            if self._thread is thread:
                self._thread = None
            error = self._error
        if error is not None:
            raise error

    def _work(self) -> None:
        try:
            self._renew()
        except Exception as error:
            self._error = error

    def forget(self) -> None:
        """In the child of a fork the thread is none."""
        self._lock = threading.Lock()
        self._thread = None


_RENEWALS: weakref.WeakSet[_Renewal] = weakref.WeakSet()


def _forget() -> None:
    for renewal in _RENEWALS:
        renewal.forget()


os.register_at_fork(after_in_child=_forget)
