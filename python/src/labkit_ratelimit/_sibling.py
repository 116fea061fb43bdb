"""Connections of a limiter's own, made as its host's client makes its.

In redis-py and valkey-py, how long a connection waits and how often it tries again belong to the connection, from when
it is made. A limiter waits for less than its host does, and sends nothing twice. So it has connections of its own, by
the settings of the host's: same servers, same TLS, same secrets, same kind of pool, same Sentinel.
"""

from __future__ import annotations

import importlib
import inspect
import os
import threading
import weakref
from typing import Any

_PACKAGES = ("redis", "valkey")

# What the host's pool put there for itself alone.
_OF_THE_POOL = ("maint_notifications_pool_handler", "oss_cluster_maint_notifications_handler", "himport_registry")


class _Everywhere:
    """Where a client is used that no event loop binds."""


_EVERYWHERE = _Everywhere()
_lock = threading.Lock()
# Limiters of one client, one event loop and one deadline share connections.
_siblings: weakref.WeakKeyDictionary[Any, weakref.WeakKeyDictionary[Any, dict[float | None, Any]]]
_siblings = weakref.WeakKeyDictionary()


def _renew() -> None:
    """A child of a fork has none of the threads that may have held the lock."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_renew)


def package_of(client: object) -> str | None:
    """Give the library whose client this is, if it is known here."""
    for ancestor in type(client).__mro__:
        package = ancestor.__module__.partition(".")[0]
        if package in _PACKAGES:
            return package
    return None


def is_cluster(client: object) -> bool:
    """Say whether keys of different slots are of different servers."""
    return hasattr(client, "nodes_manager") or "Cluster" in type(client).__name__


def is_async(client: Any) -> bool:
    """Say whether what the client gives is awaited."""
    if any(".asyncio" in ancestor.__module__ for ancestor in type(client).__mro__):
        return True
    return inspect.iscoroutinefunction(getattr(client, "execute_command", None))


def sibling(client: Any, package: str, timeout: float | None, place: object = _EVERYWHERE) -> Any:
    """Give the client that limiters use in the place of this one.

    Args:
        client: of redis-py or valkey-py.
        package: which of them.
        timeout: seconds that it waits, to connect and for a reply each; none where its caller keeps the time.
        place: the event loop that its connections belong to, if they belong to one.

    """
    with _lock:
        known = _siblings.setdefault(client, weakref.WeakKeyDictionary()).setdefault(place, {})
        if timeout not in known:
            known[timeout] = _made(client, package, timeout)
        return known[timeout]


def close(made: Any) -> None:
    """Close the connections of a client that `sibling` gave. It makes others when it is used again."""
    if is_cluster(made):
        made.close()
    else:
        # The client was given its pool, and would leave it open.
        made.connection_pool.disconnect()


async def aclose(made: Any) -> None:
    """As `close`, of an asynchronous client."""
    if is_cluster(made):
        await made.aclose()
    else:
        await made.connection_pool.disconnect()


def _made(client: Any, package: str, timeout: float | None) -> Any:
    once = _once(package, asynchronous=is_async(client))
    if not is_cluster(client):
        return type(client)(connection_pool=_pool(client.connection_pool, once, timeout))
    if is_async(client):
        return _async_cluster(client, once, timeout)
    return _cluster(client, once, timeout)


def _once(package: str, *, asynchronous: bool) -> Any:
    """No second try."""
    retry = importlib.import_module(f"{package}.asyncio.retry" if asynchronous else f"{package}.retry")
    return retry.Retry(importlib.import_module(f"{package}.backoff").NoBackoff(), 0)


def _settings(of_the_host: dict[str, Any], once: Any, timeout: float | None) -> dict[str, Any]:
    settings = {
        name: value
        for name, value in of_the_host.items()
        if name not in _OF_THE_POOL and not name.startswith("orig_") and name != "retry_on_error"
    }
    settings |= {
        "retry": once,
        "socket_timeout": timeout,
        # A PING before a call is a call more, and one that is tried again.
        "health_check_interval": 0,
        "decode_responses": False,
    }
    if "path" not in settings:
        settings["socket_connect_timeout"] = timeout
    if "retry_on_timeout" in settings:
        settings["retry_on_timeout"] = False
    return settings


def _pool(pool: Any, once: Any, timeout: float | None) -> Any:
    settings = _settings(pool.connection_kwargs, once, timeout)
    settings["connection_class"] = pool.connection_class
    if hasattr(pool, "sentinel_manager"):
        settings.pop("connection_pool", None)
        settings |= {"is_master": pool.is_master, "check_connection": pool.check_connection}
        return type(pool)(pool.service_name, pool.sentinel_manager, **settings)
    if hasattr(pool, "timeout"):
        # One that waits for a connection waits no longer than a call does.
        settings |= {"max_connections": pool.max_connections, "timeout": timeout}
    else:
        # One that does not wait must not run out of them: a call each at most, of as many threads as there are, or as
        # `_async_redis` lets through.
        settings["max_connections"] = 2**31
    if hasattr(pool, "queue_class"):
        settings["queue_class"] = pool.queue_class
    return type(pool)(**settings)


def _nodes(manager: Any) -> list[Any]:
    """Give addresses alone: a node has connections."""
    return [type(node)(node.host, node.port) for node in manager.startup_nodes.values()]


def _cluster(client: Any, once: Any, timeout: float | None) -> Any:
    nodes = client.nodes_manager
    settings = _settings(nodes.connection_kwargs, once, timeout)
    # The host's own, which knows the host's client; the sibling has one.
    settings["redis_connect_func"] = settings["valkey_connect_func"] = None
    settings = {name: value for name, value in settings.items() if value is not None or "timeout" in name}
    return type(client)(
        startup_nodes=_nodes(nodes),
        cluster_error_retry_attempts=0,
        require_full_coverage=False,
        address_remap=nodes.address_remap,
        **settings,
    )


def _async_cluster(client: Any, once: Any, timeout: float | None) -> Any:
    settings = _settings(client.connection_kwargs, once, timeout)
    taken = inspect.signature(type(client).__init__).parameters
    secure = "SSL" in getattr(settings.get("connection_class"), "__name__", "")
    settings = {name: value for name, value in settings.items() if name in taken}
    if secure:
        settings["ssl"] = True
    for name in ("cluster_error_retry_attempts", "connection_error_retry_attempts"):
        if name in taken:
            settings[name] = 0
    return type(client)(
        startup_nodes=_nodes(client.nodes_manager),
        require_full_coverage=False,
        address_remap=getattr(client.nodes_manager, "address_remap", None),
        **settings,
    )
