"""What a cluster says of its slots, to a call that was not run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit_ratelimit._clients import is_a_reply, is_of_the_pool

if TYPE_CHECKING:
    from labkit_ratelimit._native import Call

REDIRECTIONS = 3
"""So often a call follows its slot before it is a failure."""


def slot_of(client: Any, call: Call[Any]) -> int:
    """Give the slot of a call's keys; they share one."""
    slot: int = client.keyslot(call.evalsha()[3])
    return slot


def is_moved(error: Exception) -> bool:
    """Say whether the slot has another owner."""
    return any(ancestor.__name__ == "MovedError" for ancestor in type(error).__mro__)


def is_ask(error: Exception) -> bool:
    """Say whether the slot is on its way to another owner, who has the keys already."""
    return not is_moved(error) and any(ancestor.__name__ == "AskError" for ancestor in type(error).__mro__)


def is_not_covered(error: Exception) -> bool:
    """Say whether nobody owned the slot when the client last asked."""
    # The asynchronous clients look it up, and that is all.
    return isinstance(error, LookupError) or type(error).__name__ == "SlotNotCoveredError"


def is_of_a_node_that_is_lost(error: BaseException) -> bool:
    """Say whether the node may own nothing any more: the cluster is asked before the next call."""
    names = {ancestor.__name__ for ancestor in type(error).__mro__}
    if "ClusterDownError" in names or "ReadOnlyError" in names:
        return True
    return isinstance(error, Exception) and not is_a_reply(error) and not is_of_the_pool(error)
