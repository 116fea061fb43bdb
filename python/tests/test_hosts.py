"""Hosts with a loop of their own: uvloop, trio and gevent go on, and no thread is made beside theirs."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import redis.asyncio
import trio
import uvloop
from rules import in_memory, per_ip

from labkit_ratelimit import Limiter

if TYPE_CHECKING:
    from private_redis import PrivateRedis

TICK_S = 0.005


def threads() -> int:
    """Count those of this process, whoever made them."""
    return sum(1 for _ in Path("/proc/self/task").iterdir())


async def ticks(until: asyncio.Future[Any]) -> int:
    """Count how often the loop comes round meanwhile."""
    count = 0
    while not until.done():
        await asyncio.sleep(TICK_S)
        count += 1
    return count


def test_uvloop(own_server: PrivateRedis) -> None:
    async def host() -> None:
        assert isinstance(asyncio.get_running_loop(), uvloop.Loop)
        client = redis.asyncio.Redis(port=own_server.port)
        limiter = Limiter("looped", [per_ip(50)], client, deadline=5)
        await limiter.acheck({"ip": "0"})
        before = threads()
        results = await asyncio.gather(*(limiter.acheck({"ip": "1"}) for _ in range(100)))
        assert [result.error for result in results] == [False] * 100
        assert sum(result.allowed for result in results) == 50
        assert threads() == before
        own_server.pause()
        late = asyncio.ensure_future(Limiter("late", [per_ip()], client, deadline=0.3).acheck({"ip": "1"}))
        start = time.monotonic()
        turned = await ticks(late)
        assert 0.29 < time.monotonic() - start < 2
        assert turned >= 10
        assert late.result().error
        own_server.go_on()
        await client.aclose()

    uvloop.run(host())


class TrioClient:
    """A client of trio's, as a host may have one: it sends a command, and gives the bulk string that comes."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self._stream = stream
        self._one_at_a_time = trio.Lock()

    async def execute_command(self, *words: str | bytes | int) -> bytes:
        written = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        sent = b"".join([b"*%d\r\n" % len(written), *(b"$%d\r\n%s\r\n" % (len(word), word) for word in written)])
        async with self._one_at_a_time:
            await self._stream.send_all(sent)
            said = b""
            while b"\r\n" not in said:
                said += await self._stream.receive_some(4096)
            head, _, rest = said.partition(b"\r\n")
            if head[:1] == b"-":
                raise RuntimeError(head[1:].decode())
            assert head[:1] == b"$"
            while len(rest) < int(head[1:]) + 2:
                rest += await self._stream.receive_some(4096)
            return rest[:-2]


def test_trio(own_server: PrivateRedis) -> None:
    async def checks(limiter: Limiter, count: int) -> list[bool]:
        answers: list[bool] = []

        async def one() -> None:
            result = await limiter.acheck({"ip": "1"})
            assert not result.error
            answers.append(result.allowed)

        async with trio.open_nursery() as nursery:
            for _ in range(count):
                nursery.start_soon(one)
        return answers

    async def host() -> None:
        # Nothing of asyncio is used where there is none.
        assert sorted(await checks(in_memory(per_ip(2)), 3)) == [False, True, True]
        stream = await trio.open_tcp_stream("127.0.0.1", own_server.port)
        limiter = Limiter("in_a_nursery", [per_ip(50)], TrioClient(stream))
        await limiter.acheck({"ip": "0"})
        before = threads()
        assert sum(await checks(limiter, 100)) == 50
        assert await limiter.aclear({"ip": "1"}) == 1
        assert threads() == before
        own_server.pause()
        with trio.move_on_after(0.2) as scope:
            await limiter.acheck({"ip": "1"})
        assert scope.cancelled_caught
        own_server.go_on()
        await stream.aclose()

    trio.run(host)


def test_gevent(own_server: PrivateRedis) -> None:
    # Patched, so in a process of its own.
    host = [sys.executable, str(Path(__file__).with_name("gevent_host.py")), own_server.socket]
    with subprocess.Popen(host, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stdout.readline() == "allowed 50 of 100, threads the same\n"
        own_server.pause()
        child.stdin.write("paused\n")
        child.stdin.flush()
        assert child.stdout.readline() == "late, and the hub went on\n"
        own_server.go_on()
    assert child.returncode == 0
