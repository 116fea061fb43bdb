"""Checks on a real cluster, sync and async: its nodes' own connections, and slots that move."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest
import redis
import redis.asyncio
import valkey
import valkey.asyncio
from rules import per_ip

from labkit_ratelimit import Limiter, Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from private_redis import PrivateCluster

KINDS = {
    "redis": redis.RedisCluster,
    "valkey": valkey.ValkeyCluster,
    "redis.asyncio": redis.asyncio.RedisCluster,
    "valkey.asyncio": valkey.asyncio.ValkeyCluster,
}


class Host:
    """A host with a client of a cluster, of which a check is the same here whether it is awaited or not."""

    def __init__(self, kind: Any, port: int, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.asynchronous = "asyncio" in kind.__module__
        self.seen: list[Any] = []
        seen = self.seen

        class Client(kind):  # type: ignore[misc]
            def execute_command(self, *words: Any, **options: Any) -> Any:
                seen.append(words[0])
                return super().execute_command(*words, **options)

        async def made() -> Any:
            return await Client(host="127.0.0.1", port=port)

        self.client = loop.run_until_complete(made()) if self.asynchronous else Client(host="127.0.0.1", port=port)

    def limiter(self, deadline: float = 5) -> Limiter:
        return Limiter("sharded", [per_ip(100)], self.client, deadline=deadline)

    def check(self, limiter: Limiter, ip: str = "1") -> Result:
        return (
            self.loop.run_until_complete(limiter.acheck({"ip": ip})) if self.asynchronous else limiter.check({"ip": ip})
        )

    def close(self) -> None:
        if self.asynchronous:
            self.loop.run_until_complete(self.client.aclose())
        else:
            self.client.close()


@pytest.fixture(params=KINDS)
def host(request: pytest.FixtureRequest, cluster: PrivateCluster) -> Iterator[Host]:
    loop = asyncio.new_event_loop()
    made = Host(KINDS[request.param], cluster.nodes[0].port, loop)
    yield made
    made.close()
    loop.close()


def key_of(cluster: PrivateCluster) -> tuple[bytes, int, int, int]:
    """Give the one key that there is, its slot, and which node has it and which has not."""
    at, key = next((at, each) for at in range(2) for each in cluster.say(at, "KEYS", "*"))
    return key, int(cluster.say(at, "CLUSTER", "KEYSLOT", key)), at, 1 - at


def counts(result: Result) -> float:
    assert result.info is not None, result
    return result.info.count


def calls_of_evalsha(cluster: PrivateCluster, at: int) -> int:
    return sum(
        int(line.split(b"calls=")[1].split(b",")[0])
        for line in cluster.say(at, "INFO", "commandstats").splitlines()
        if line.startswith((b"cmdstat_evalsha:", b"cmdstat_eval:"))
    )


def connections(cluster: PrivateCluster) -> int:
    return sum(len(cluster.say(at, "CLIENT", "LIST", "TYPE", "NORMAL").splitlines()) - 1 for at in range(2))


def test_calls_go_over_the_connections_that_there_are(host: Host, cluster: PrivateCluster) -> None:
    limiter = host.limiter()
    for ip in range(20):
        assert counts(host.check(limiter, str(ip))) == 1
    assert "EVALSHA" in host.seen
    # Of each node: the one on which the client asked who owns what, and those of its own.
    before = connections(cluster)
    others = [host.limiter() for _ in range(3)]
    for ip in range(20):
        assert [counts(host.check(limiter, str(ip))) for limiter in others] == [2, 3, 4]
    assert connections(cluster) == before


def test_a_slot_that_moved_is_followed(host: Host, cluster: PrivateCluster) -> None:
    limiter = host.limiter()
    host.check(limiter)
    _, slot, at, to = key_of(cluster)
    cluster.say(at, "FLUSHALL")
    for each in (to, at):
        cluster.say(each, "CLUSTER", "SETSLOT", slot, "NODE", cluster.ids[to])
    before = calls_of_evalsha(cluster, at)
    assert [counts(host.check(limiter)) for _ in range(2)] == [1, 2]
    assert key_of(cluster)[2] == to
    # It asked the former owner once.
    assert calls_of_evalsha(cluster, at) == before


def test_a_slot_that_is_on_its_way_is_asked_for(host: Host, cluster: PrivateCluster) -> None:
    limiter = host.limiter()
    host.check(limiter)
    key, slot, at, to = key_of(cluster)
    cluster.say(to, "CLUSTER", "SETSLOT", slot, "IMPORTING", cluster.ids[at])
    cluster.say(at, "CLUSTER", "SETSLOT", slot, "MIGRATING", cluster.ids[to])
    cluster.say(at, "MIGRATE", "127.0.0.1", cluster.nodes[to].port, key, 0, 5000)
    assert [counts(host.check(limiter)) for _ in range(2)] == [2, 3]
    assert cluster.say(to, "CLUSTER", "COUNTKEYSINSLOT", slot) == 1
    assert cluster.say(at, "CLUSTER", "COUNTKEYSINSLOT", slot) == 0


def test_a_node_that_hangs_is_waited_for_until_the_deadline(host: Host, cluster: PrivateCluster) -> None:
    limiter = host.limiter(deadline=0.3)
    host.check(limiter)
    _, _, at, _ = key_of(cluster)
    cluster.nodes[at].pause()
    for _ in range(3):
        start = time.monotonic()
        assert host.check(limiter).error
        assert time.monotonic() - start < 0.8
    cluster.nodes[at].go_on()
    assert eventually(lambda: not host.check(limiter).error)
    assert counts(host.check(limiter, "2")) == 1


def test_the_next_call_after_a_failure_asks_who_owns_what(host: Host, cluster: PrivateCluster) -> None:
    limiter = host.limiter(deadline=2)
    host.check(limiter)
    _, slot, at, to = key_of(cluster)
    cluster.nodes[at].kill()
    assert host.check(limiter).error
    cluster.say(to, "CLUSTER", "SETSLOT", slot, "NODE", cluster.ids[to])
    cluster.say(to, "CONFIG", "SET", "cluster-require-full-coverage", "no")
    assert eventually(lambda: not host.check(limiter).error)
    assert len(cluster.say(to, "KEYS", "*")) == 1


def test_a_slot_that_nobody_owned_is_asked_for_again(host: Host) -> None:
    limiter = host.limiter()
    host.check(limiter)
    host.client.nodes_manager.slots_cache.clear()
    assert counts(host.check(limiter)) == 2


def eventually(holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + 10
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.1)
    return False
