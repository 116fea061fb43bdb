"""The two halves of a limiter: that which waits, and that which is awaited."""

import asyncio
from typing import Any

import redis
import redis.asyncio
from labkit_ratelimit import Limiter, Result

TIMEOUT_S = 5


class Switch:
    """Whether the store is down: then every call of a limiter fails as if the connection were refused."""

    down = False

    @classmethod
    def check(cls) -> None:
        """Raises where it is."""
        if cls.down:
            raise redis.ConnectionError("connection refused (the scenario says so)")


class SyncRedis(redis.Redis):
    """A host's client."""

    def execute_command(self, *args: Any, **options: Any) -> Any:
        """As any, unless the store is down."""
        Switch.check()
        return super().execute_command(*args, **options)  # type: ignore[no-untyped-call]


class SyncCluster(redis.RedisCluster):
    """A host's client of a cluster."""

    def execute_command(self, *args: Any, **kwargs: Any) -> Any:
        """As any, unless the store is down."""
        Switch.check()
        return super().execute_command(*args, **kwargs)  # type: ignore[no-untyped-call]


class AsyncRedis(redis.asyncio.Redis):
    """A host's asynchronous client."""

    async def execute_command(self, *args: Any, **options: Any) -> Any:
        """As any, unless the store is down."""
        Switch.check()
        return await super().execute_command(*args, **options)  # type: ignore[no-untyped-call]


class AsyncCluster(redis.asyncio.RedisCluster):
    """A host's asynchronous client of a cluster."""

    async def execute_command(self, *args: Any, **kwargs: Any) -> Any:
        """As any, unless the store is down."""
        Switch.check()
        return await super().execute_command(*args, **kwargs)


def _address(text: str) -> dict[str, Any]:
    host, _, port = text.rpartition(":")
    return {"host": host, "port": int(port)}


class Sync:
    """`check`, `peek`, `clear`."""

    def client(self, addresses: list[str], clustered: bool) -> Any:
        """In: where the masters are. Out: a host's client."""
        return (SyncCluster if clustered else SyncRedis)(**_address(addresses[0]), socket_timeout=TIMEOUT_S)

    def check(self, limiter: Limiter, *words: Any, **more: Any) -> Result:
        """Out: a result."""
        return limiter.check(*words, **more)

    def peek(self, limiter: Limiter, *words: Any, **more: Any) -> Result:
        """Out: a result."""
        return limiter.peek(*words, **more)

    def clear(self, limiter: Limiter, identifier: Any) -> int:
        """Out: how many keys were deleted."""
        return limiter.clear(identifier)

    def end(self) -> None:
        """Nothing is left to close."""


class Async:
    """`acheck`, `apeek`, `aclear`, in one event loop."""

    def __init__(self) -> None:
        self.runner = asyncio.Runner()
        self.made: Any = None

    def client(self, addresses: list[str], clustered: bool) -> Any:
        """In: where the masters are. Out: a host's client."""
        self.made = (AsyncCluster if clustered else AsyncRedis)(**_address(addresses[0]), socket_timeout=TIMEOUT_S)
        return self.made

    def check(self, limiter: Limiter, *words: Any, **more: Any) -> Result:
        """Out: a result."""
        return self.runner.run(limiter.acheck(*words, **more))

    def peek(self, limiter: Limiter, *words: Any, **more: Any) -> Result:
        """Out: a result."""
        return self.runner.run(limiter.apeek(*words, **more))

    def clear(self, limiter: Limiter, identifier: Any) -> int:
        """Out: how many keys were deleted."""
        return self.runner.run(limiter.aclear(identifier))

    def end(self) -> None:
        """Closes the connections that belong to the loop."""
        if self.made is not None:
            self.runner.run(self.made.aclose())
        self.runner.close()


CALLS: dict[str, type[Sync] | type[Async]] = {"sync": Sync, "async": Async}
