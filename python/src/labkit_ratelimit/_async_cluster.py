"""A host's cluster that is awaited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit_ratelimit._clients import seen_as
from labkit_ratelimit._hold import AsyncHold
from labkit_ratelimit._redirects import (
    REDIRECTIONS,
    is_ask,
    is_moved,
    is_not_covered,
    is_of_a_node_that_is_lost,
    slot_of,
)
from labkit_ratelimit._script import asent

if TYPE_CHECKING:
    from labkit_ratelimit._deadline import Deadline
    from labkit_ratelimit._native import Call


class AsyncCluster:
    """Runs a call on a connection of the node that owns its keys; whoever awaits it keeps the time.

    As in `SyncCluster`, `execute_command` sees the call.
    """

    __slots__ = ("_client", "_lost", "_retry")

    def __init__(self, client: Any, retry: Any) -> None:
        self._client = client
        self._retry = retry
        self._lost: set[str] = set()

    async def run(self, call: Call[Any], deadline: Deadline | None) -> Any:
        """Run a call, and follow its slot."""
        await self._client.initialize()
        manager = self._client.nodes_manager
        slot = slot_of(self._client, call)
        node = await self._owner(manager, slot)

        async def execute(node: Any, *_: Any, **__: Any) -> Any:
            return await self._follow(manager, slot, node, call, deadline)

        seen = seen_as(self._client, _execute_command=execute)
        return await seen.execute_command(*call.evalsha(), target_nodes=node)

    async def _follow(self, manager: Any, slot: int, node: Any, call: Call[Any], deadline: Deadline | None) -> Any:
        asking = False
        for _ in range(REDIRECTIONS):
            try:
                return await self._on(node, call, deadline, asking=asking)
            except Exception as error:
                asking = is_ask(error)
                if not asking and not is_moved(error):
                    raise
                node = await self._followed(manager, slot, error, asking=asking)
        return await self._on(node, call, deadline, asking=asking)

    async def _owner(self, manager: Any, slot: int) -> Any:
        try:
            node = manager.get_node_from_slot(slot)
            if node.name not in self._lost:
                return node
        except Exception as error:
            if not is_not_covered(error):
                raise
        await manager.initialize()
        self._lost.clear()
        return manager.get_node_from_slot(slot)

    async def _followed(self, manager: Any, slot: int, error: Any, *, asking: bool) -> Any:
        if asking:
            node = self._client.get_node(host=error.host, port=error.port)
            if node is None:
                # It joined lately. The next call knows it.
                self._lost.update(each.name for each in self._client.get_nodes())
                raise error
            return node
        if hasattr(manager, "move_slot"):
            await manager.move_slot(error)
        else:
            manager._moved_exception = error
        return manager.get_node_from_slot(slot)

    async def _on(self, node: Any, call: Call[Any], deadline: Deadline | None, *, asking: bool) -> Any:
        connection = node.acquire_connection()
        hold = AsyncHold(self._retry)
        try:
            return await asent(_OnNode(node, hold.take(connection)), call, asking=asking)
        except BaseException as error:
            # A call that somebody cancelled says nothing of its node; one that the deadline ended may.
            if is_of_a_node_that_is_lost(error) or (deadline is not None and deadline.late):
                self._lost.add(node.name)
            await hold.fail(error)
            raise
        finally:
            hold.let_go()
            (getattr(node, "release", None) or node._free.append)(connection)


class _OnNode:
    """A node of a cluster, whose commands run on one connection. The node itself takes another for each."""

    __slots__ = ("_connection", "_node")

    def __init__(self, node: Any, connection: Any) -> None:
        self._node = node
        self._connection = connection

    async def execute_command(self, *words: Any) -> Any:
        await self._connection.send_packed_command(self._connection.pack_command(*words))
        return await self._node.parse_response(self._connection, words[0])
