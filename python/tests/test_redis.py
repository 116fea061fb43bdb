"""Checks on a real Redis, by clients that wait."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
import redis
import valkey
from rules import per_ip
from strange_servers import Counting

from labkit_ratelimit import Limiter

if TYPE_CHECKING:
    from private_redis import PrivateRedis


def limiter_on(client: Any, name: str, limit: int = 2, **more: Any) -> Limiter:
    return Limiter(name, [per_ip(limit)], client, **{"deadline": 5, **more})


def actions(limiter: Limiter, calls: int = 3) -> list[str]:
    return [limiter.check({"ip": "1"}).action for _ in range(calls)]


def test_two_limiters_count_together_and_clear_forgets(server: PrivateRedis) -> None:
    one, other = (limiter_on(redis.Redis(port=server.port), "together") for _ in range(2))
    assert actions(one) == ["allow", "allow", "block"]
    assert other.peek({"ip": "1"}).blocked
    assert other.clear({"ip": "1"}) == 1
    assert one.peek({"ip": "1"}).allowed


def clients(server: PrivateRedis) -> dict[str, Any]:
    """Clients as hosts have them."""
    where: dict[str, Any] = {"host": "127.0.0.1", "port": server.port}
    return {
        "plain": redis.Redis(**where),
        "decoding": redis.Redis(**where, decode_responses=True, encoding="latin-1"),
        "resp2": redis.Redis(**where, protocol=2, db=1, client_name="host"),
        "blocking pool": redis.Redis(connection_pool=redis.BlockingConnectionPool(**where, max_connections=2)),
        "one connection": redis.Redis(**where, single_connection_client=True),
        "unix socket": redis.Redis(unix_socket_path=server.socket),
        "of a url": redis.Redis.from_url(f"redis://127.0.0.1:{server.port}/2", retry_on_timeout=True),
        "checked": redis.Redis(**where, health_check_interval=1),
        "valkey": valkey.Valkey(**where),
        "valkey's blocking pool": valkey.Valkey(connection_pool=valkey.BlockingConnectionPool(**where)),
    }


def test_clients_of_hosts(server: PrivateRedis) -> None:
    for at, (kind, client) in enumerate(clients(server).items()):
        limiter = limiter_on(client, f"client_{at}")
        assert actions(limiter) == ["allow", "allow", "block"], kind
        client.close()


def test_one_round_trip_a_check(server: PrivateRedis) -> None:
    client = redis.Redis(port=server.port)
    rules = [per_ip(5), *(type(per_ip())(name=f"r{at}", limit=9, period_s=60) for at in range(3))]
    limiter = Limiter("trips", rules, client, deadline=5)
    limiter.check({"ip": "1"})
    before = client.info("commandstats")["cmdstat_evalsha"]["calls"]
    limiter.check({"ip": "1"})
    assert client.info("commandstats")["cmdstat_evalsha"]["calls"] == before + 1
    client.script_flush()
    assert limiter.check({"ip": "1"}).info.count == 3  # type: ignore[union-attr]


def test_a_dead_server_is_an_error_at_once_and_a_circuit(
    own_server: PrivateRedis, caplog: pytest.LogCaptureFixture
) -> None:
    limiter = limiter_on(redis.Redis(port=own_server.port), "dead", deadline=0.2)
    assert limiter.check({"ip": "1"}).allowed
    own_server.kill()
    for _ in range(8):
        start = time.monotonic()
        result = limiter.check({"ip": "1"})
        assert (result.action, result.error) == ("allow", True)
        assert time.monotonic() - start < 0.3
    said = [record.__dict__["rate_limit"]["message"] for record in caplog.records]
    assert said == ["rate_limit_error"] * 5 + ["rate_limit_circuit_open"]
    own_server.start()
    limiter.close_circuit()
    assert limiter.check({"ip": "1"}).info.count == 1  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", [redis.Redis, valkey.Valkey])
def test_a_server_that_hangs_is_waited_for_until_the_deadline(own_server: PrivateRedis, kind: Any) -> None:
    client = kind(port=own_server.port)
    limiter = limiter_on(client, "hangs", deadline=0.2)
    limiter.check({"ip": "1"})
    own_server.pause()
    start = time.monotonic()
    assert limiter.check({"ip": "1"}).error
    assert 0.19 < time.monotonic() - start < 0.6
    # One that connects anew waits for no more.
    start = time.monotonic()
    assert limiter.check({"ip": "1"}).error
    assert time.monotonic() - start < 0.6
    own_server.go_on()
    time.sleep(0.2)
    # Its late replies are nobody's: what this reads is its own.
    assert limiter.peek({"ip": "2"}).info.count == 0  # type: ignore[union-attr]


def test_local_counts_here_until_it_answers_again(own_server: PrivateRedis) -> None:
    limiter = limiter_on(redis.Redis(port=own_server.port), "local", on_error="local")
    own_server.kill()
    results = [limiter.check({"ip": "1"}) for _ in range(3)]
    assert [result.action for result in results] == ["allow", "allow", "block"]
    assert all(result.degraded for result in results)


@pytest.mark.parametrize("kind", [redis.Redis, valkey.Valkey])
def test_a_call_of_unknown_fate_is_sent_once(kind: Any) -> None:
    server = Counting()
    client = kind(port=server.port, protocol=2, retry_on_error=[OSError])
    limiter = limiter_on(client, "once", deadline=0.5)
    result = limiter.check({"ip": "1"})
    assert result.error
    assert server.count() == 1
    server.listener.close()


def test_a_check_that_is_interrupted_leaves_no_reply_behind(own_server: PrivateRedis) -> None:
    limiter = limiter_on(redis.Redis(port=own_server.port), "interrupted", limit=100)
    limiter.check({"ip": "1"})
    own_server.pause()
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        limiter.check({"ip": "1"}, cost=50)
    timer.join()
    own_server.go_on()
    time.sleep(0.1)
    assert limiter.peek({"ip": "2"}).info.count == 0  # type: ignore[union-attr]
    info = limiter.peek({"ip": "1"}).info
    assert info is not None
    assert info.count in (1.0, 51.0)


def test_an_unknown_client_is_run_as_it_is_and_said_once(
    server: PrivateRedis, caplog: pytest.LogCaptureFixture
) -> None:
    inner = redis.Redis(port=server.port)

    class Wrapper:
        def execute_command(self, *words: Any) -> Any:
            return inner.execute_command(*words)

    limiter = limiter_on(Wrapper(), "unknown")
    assert actions(limiter) == ["allow", "allow", "block"]
    assert [record.__dict__["rate_limit"]["message"] for record in caplog.records] == ["rate_limit_redis_client"]


def test_a_subclass_of_an_odd_make_is_like_any(own_server: PrivateRedis, caplog: pytest.LogCaptureFixture) -> None:
    class Odd(redis.Redis):
        def __init__(self) -> None:
            super().__init__(port=own_server.port)

    limiter = limiter_on(Odd(), "odd", deadline=0.2)
    assert actions(limiter) == ["allow", "allow", "block"]
    # It is known, so nothing is said of it; and the deadline holds.
    assert not caplog.records
    own_server.pause()
    start = time.monotonic()
    assert limiter.check({"ip": "1"}).error
    assert 0.19 < time.monotonic() - start < 0.5


def test_threads_share_a_limiter(server: PrivateRedis) -> None:
    limiter = limiter_on(redis.Redis(port=server.port), "threads", limit=100)
    allowed: list[bool] = []

    def work() -> None:
        allowed.extend(limiter.check({"ip": "1"}).allowed for _ in range(50))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(allowed) == 100


async def test_an_asynchronous_half_needs_an_asynchronous_client(server: PrivateRedis) -> None:
    client = redis.Redis(port=server.port)
    limiter = limiter_on(client, "halves")
    with pytest.raises(TypeError, match="not asynchronous"):
        await limiter.acheck({"ip": "1"})
    assert limiter.check({"ip": "1"}).info.count == 1  # type: ignore[union-attr]
