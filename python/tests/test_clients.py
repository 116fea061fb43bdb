"""What is taken for a client, and what is not; odd settings of one; where warnings go."""

from __future__ import annotations

import concurrent.futures
import logging
import re
from typing import TYPE_CHECKING, Any
from unittest.mock import MagicMock

import pytest
import redis
import redis.asyncio
import redis.asyncio.cluster
import redis.cluster
import redis.sentinel
import valkey
from rules import in_memory, per_ip

from labkit_ratelimit import Limiter

if TYPE_CHECKING:
    from private_redis import PrivateRedis


CLUSTER_PIPELINES: list[Any] = [redis.cluster.ClusterPipeline, redis.asyncio.cluster.ClusterPipeline]


def none() -> list[Any]:
    client, awaited = redis.Redis(), redis.asyncio.Redis()
    commands: Any = client
    return [
        redis.Redis,
        redis.asyncio.Redis,
        valkey.Valkey,
        client.pipeline(),
        client.pubsub(),
        awaited.pipeline(),
        awaited.pubsub(),
        valkey.Valkey().pipeline(),
        *(kind.__new__(kind) for kind in CLUSTER_PIPELINES),
        redis.sentinel.Sentinel([]),
        commands.json(),
        commands.ft(),
        valkey.Valkey().json(),
    ]


@pytest.mark.parametrize("given", none(), ids=repr)
def test_what_is_no_client(given: Any) -> None:
    with pytest.raises(TypeError, match="redis takes a client, not "):
        Limiter("x", [per_ip()], given)


def test_a_mock_is_a_client_that_gives_nonsense(caplog: pytest.LogCaptureFixture) -> None:
    # As the tests of a host may have it: no check of it may raise.
    assert Limiter("x", [per_ip()], MagicMock(name="redis")).check({"ip": "1"}).error
    assert "rate_limit_error" in caplog.text


@pytest.mark.parametrize("deadline", [3e6, 1e10, 1e18])
def test_a_deadline_may_be_longer_than_locks_and_sockets_can_wait(server: PrivateRedis, deadline: float) -> None:
    for client in (redis.Redis(port=server.port, single_connection_client=True), redis.Redis(port=server.port)):
        assert not Limiter("patient", [per_ip(9)], client, deadline=deadline).check({"ip": "1"}).error
        client.close()


class Wrapped:
    """A host's own, around a client that is awaited, which does not say so."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def execute_command(self, *words: Any, **options: Any) -> Any:
        return self.client.execute_command(*words, **options)


async def test_a_wrapper_that_is_awaited_has_to_say_so(server: PrivateRedis, caplog: pytest.LogCaptureFixture) -> None:
    client: Any = redis.asyncio.Redis(port=server.port)
    limiter = Limiter("wrapped", [per_ip(5)], Wrapped(client), deadline=5)
    # Nor does Python complain of a coroutine that nobody awaited.
    assert limiter.check({"ip": "1"}).error
    said = "gave an awaitable, a coroutine, where a reply belongs: .* `async def execute_command`"
    assert re.search(said, caplog.text)
    with pytest.raises(TypeError, match=r"not asynchronous.* `async def execute_command`"):
        await limiter.acheck({"ip": "1"})

    class Awaited(Wrapped):
        async def execute_command(self, *words: Any, **options: Any) -> Any:
            return await self.client.execute_command(*words, **options)

    limiter = Limiter("wrapped", [per_ip(5)], Awaited(client), deadline=5)
    assert not (await limiter.acheck({"ip": "1"})).error
    await client.aclose()


def test_a_future_in_the_place_of_a_reply_is_cancelled() -> None:
    future: concurrent.futures.Future[Any] = concurrent.futures.Future()

    class Waiting:
        def __await__(self) -> Any:
            yield

        def cancel(self) -> None:
            future.cancel()

    client: Any = Wrapped(MagicMock(**{"execute_command.return_value": Waiting()}))
    assert Limiter("wrapped", [per_ip(5)], client).check({"ip": "1"}).error
    assert future.cancelled()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "ascii"])
def test_a_reply_is_read_whatever_a_host_decodes_its_own_by(server: PrivateRedis, encoding: str) -> None:
    for kind in (redis.Redis, valkey.Valkey):
        client: Any = kind(port=server.port, protocol=2, decode_responses=True, encoding=encoding)
        limiter = Limiter(f"odd_{encoding[4:] or 'i'}".replace("-", "_"), [per_ip(5)], client, deadline=5)
        assert not limiter.check({"ip": "é"}).error
        client.set("own", "text")
        assert client.get("own") == "text"
        client.close()


async def test_the_same_awaited(server: PrivateRedis) -> None:
    client: Any = redis.asyncio.Redis(port=server.port, protocol=2, decode_responses=True, encoding="utf-16")
    assert not (await Limiter("odd_awaited", [per_ip(5)], client, deadline=5).acheck({"ip": "é"})).error
    await client.set("own", "text")
    assert await client.get("own") == "text"
    await client.aclose()


def test_a_logger_of_another_library_is_one() -> None:
    class Structured:
        def __init__(self) -> None:
            self.said: list[Any] = []

        def warning(self, event: str, *words: Any, **fields: Any) -> None:
            self.said.append((event % words, fields["extra"]["rate_limit"]["message"]))

    logger: Any = Structured()
    assert in_memory(per_ip(), logger=logger).check({"ip": []}).error
    ((text, message),) = logger.said
    assert text.startswith("rate_limit_error name=tested") and message == "rate_limit_error"


def test_an_adapter_s_lines_have_our_fields_and_its_own(caplog: pytest.LogCaptureFixture) -> None:
    # Before Python 3.11 it takes no parameter.
    kind: Any = logging.LoggerAdapter

    class Upper(kind):  # type: ignore[misc]
        def process(self, msg: Any, kwargs: Any) -> Any:
            msg, kwargs = super().process(msg, kwargs)
            return msg.upper(), kwargs

    inner = logging.LoggerAdapter(logging.getLogger("host"), {"service": "web"})
    for adapter, service in ((inner, "web"), (Upper(inner, {"region": "eu"}), "web"), (Upper(inner.logger, {}), None)):
        caplog.clear()
        in_memory(per_ip(), logger=adapter).check({"ip": []})
        (record,) = caplog.records
        assert (record.name, record.__dict__.get("service")) == ("host", service)
        assert record.__dict__["rate_limit"]["message"] == "rate_limit_error"
    assert inner.extra == {"service": "web"}
