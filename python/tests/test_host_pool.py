"""The connections of a limiter are its host's own."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
import redis
import valkey
from private_redis import free_port
from rules import per_ip
from strange_servers import Full, Slow

from labkit_ratelimit import Limiter

if TYPE_CHECKING:
    from collections.abc import Callable

    from private_redis import PrivateRedis

KINDS = [redis.Redis, valkey.Valkey]


def limiter_on(client: Any, deadline: float = 5, **more: Any) -> Limiter:
    return Limiter("pooled", [per_ip(100)], client, deadline=deadline, **more)


def fails(limiter: Limiter) -> float:
    """Say how long a check took that fails."""
    start = time.monotonic()
    result = limiter.check({"ip": "1"})
    assert (result.action, result.error) == ("allow", True)
    return time.monotonic() - start


def state(connection: Any) -> dict[str, Any]:
    """Give what a limiter changes of a connection, while it holds it."""
    names = ["retry", "health_check_interval", "socket_timeout", "socket_connect_timeout"]
    return {
        **{name: getattr(connection, name) for name in names},
        "methods": {"_connect", "read_response"} & vars(connection).keys(),
        "sock": connection._sock and connection._sock.gettimeout(),
        "parser": connection._parser._buffer and connection._parser._buffer.socket_timeout,
    }


def taken_from(pool: Any) -> Any:
    """Take a connection, in this version's way."""
    try:
        return pool.get_connection()
    except TypeError:
        return pool.get_connection("PING")


def idle(pool: Any) -> Any:
    (connection,) = pool._available_connections
    return connection


@pytest.mark.parametrize("kind", KINDS)
def test_no_connection_is_made_beside_the_host_s(own_server: PrivateRedis, kind: Any) -> None:
    client = kind(port=own_server.port, client_name="host")
    client.ping()
    limiters = [limiter_on(client), limiter_on(client, deadline=1)]
    for _ in range(3):
        assert all(limiter.check({"ip": "1"}).allowed for limiter in limiters)
        client.get("own")
    assert client.connection_pool._created_connections == 1
    assert [each["name"] for each in client.client_list()] == ["host"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_connection_is_as_it_was_afterwards(own_server: PrivateRedis, kind: Any) -> None:
    client = kind(port=own_server.port, socket_timeout=7, socket_connect_timeout=8, health_check_interval=9)
    client.ping()
    before = state(idle(client.connection_pool))
    limiter = limiter_on(client, deadline=0.2)
    assert not limiter.check({"ip": "1"}).error
    assert state(idle(client.connection_pool)) == before
    own_server.pause()
    assert fails(limiter) < 0.4
    lost = state(idle(client.connection_pool))
    assert lost == {**before, "sock": None, "parser": None}
    own_server.go_on()
    # The limiter connects it, and leaves it as a connection that the host makes.
    assert not limiter.check({"ip": "1"}).error
    assert state(idle(client.connection_pool)) == before


def test_a_host_that_waits_for_less_waits_for_less(own_server: PrivateRedis) -> None:
    limiter = limiter_on(redis.Redis(port=own_server.port, socket_timeout=0.1))
    limiter.check({"ip": "1"})
    own_server.pause()
    assert fails(limiter) < 0.5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seconds", [None, 0.15])
def test_a_deadline_is_for_all_that_it_takes_to_connect(kind: Any, seconds: float | None) -> None:
    # AUTH, SELECT and the name of the client each wait for a reply of their own.
    server = Slow(seconds)
    options: dict[str, Any] = {"protocol": 2, "password": "secret", "db": 3, "client_name": "host"}
    limiter = limiter_on(kind(port=server.port, **options), deadline=0.2)
    assert fails(limiter) < 0.4
    server.listener.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_connection_that_never_comes_is_waited_for_until_the_deadline(kind: Any) -> None:
    server = Full()
    client = kind(host="127.0.0.1", port=server.port, socket_connect_timeout=3)
    assert 0.19 < fails(limiter_on(client, deadline=0.2)) < 0.5
    connection = idle(client.connection_pool)
    assert connection.socket_connect_timeout == 3
    server.close()


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_is_tried_twice_while_connecting(kind: Any) -> None:
    port = free_port()
    client = kind(port=port, retry=_patient(kind))
    assert fails(limiter_on(client)) < 1


def _patient(kind: Any) -> Any:
    package = redis if kind is redis.Redis else valkey
    return package.retry.Retry(package.backoff.ConstantBackoff(1), 5)


def test_a_pool_that_has_no_connection_left(server: PrivateRedis) -> None:
    client = redis.Redis(port=server.port, max_connections=1)
    taken = taken_from(client.connection_pool)
    limiter = limiter_on(client)
    # As its host set it up: it fails at once.
    assert fails(limiter) < 1
    client.connection_pool.release(taken)
    assert not limiter.check({"ip": "1"}).error


@pytest.mark.parametrize("package", [redis, valkey])
def test_a_pool_that_waits_for_a_connection(server: PrivateRedis, package: Any) -> None:
    pool = package.BlockingConnectionPool(host="127.0.0.1", port=server.port, max_connections=1, timeout=20)
    client = (package.Redis if package is redis else package.Valkey)(connection_pool=pool)
    taken = taken_from(pool)
    assert 0.19 < fails(limiter_on(client, deadline=0.2)) < 0.5
    threading.Timer(0.1, pool.release, (taken,)).start()
    assert not limiter_on(client).check({"ip": "1"}).error
    assert pool.timeout == 20
    assert len(pool._connections) == 1


def test_the_classes_of_the_host_are_used(server: PrivateRedis, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    class Client(redis.Redis):
        def execute_command(self, *words: Any, **options: Any) -> Any:
            seen.append(f"client {words[0]}")
            return super().execute_command(*words, **options)  # type: ignore[no-untyped-call]

    class Connection(redis.Connection):
        def connect(self) -> None:
            seen.append(f"connection {self.client_name}")
            super().connect()  # type: ignore[no-untyped-call]

    class Pool(redis.ConnectionPool):
        def get_connection(self, *words: Any, **options: Any) -> Any:
            seen.append("pool")
            return super().get_connection(*words, **options)

    usual = redis.Redis.execute_command

    def traced(self: Any, *words: Any, **options: Any) -> Any:
        seen.append("trace")
        return usual(self, *words, **options)  # type: ignore[no-untyped-call]

    monkeypatch.setattr(redis.Redis, "execute_command", traced)
    pool = Pool(connection_class=Connection, port=server.port, client_name="own")
    limiter = limiter_on(Client(connection_pool=pool))
    assert not limiter.check({"ip": "1"}).error
    assert seen[:4] == ["pool", "connection own", "client EVALSHA", "trace"]


def test_what_goes_before_the_one_client_takes_no_second_connection(server: PrivateRedis) -> None:
    client = redis.Redis(connection_pool=redis.BlockingConnectionPool(port=server.port, max_connections=1))
    usual: Callable[..., Any] = client.execute_command
    client.execute_command = lambda *words, **options: usual(*words, **options)  # type: ignore[method-assign]
    assert not limiter_on(client).check({"ip": "1"}).error


@pytest.mark.parametrize("kind", KINDS)
def test_a_client_of_one_connection(own_server: PrivateRedis, kind: Any) -> None:
    client = kind(port=own_server.port, single_connection_client=True)
    limiter = limiter_on(client, deadline=0.2)
    one = client.connection
    before = state(one)
    assert not limiter.check({"ip": "1"}).error
    assert (client.connection, state(one)) == (one, before)
    assert len(client.client_list()) == 1
    own_server.pause()
    assert fails(limiter) < 0.4
    own_server.go_on()
    assert client.get("own") is None
    assert state(one) == before
    if hasattr(client, "single_connection_lock"):
        with client.single_connection_lock:
            thread = threading.Thread(target=lambda: took.append(fails(limiter)))
            took: list[float] = []
            thread.start()
            thread.join()
        assert 0.19 < took[0] < 0.5


def test_threads_share_a_small_pool(server: PrivateRedis) -> None:
    pool = redis.BlockingConnectionPool(port=server.port, max_connections=2)
    client = redis.Redis(connection_pool=pool)
    limiter = Limiter("few", [per_ip(100)], client, deadline=5)
    allowed: list[bool] = []

    def work() -> None:
        for _ in range(50):
            result = limiter.check({"ip": "1"})
            assert not result.error
            allowed.append(result.allowed)
            client.get("own")

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(allowed), sum(allowed)) == (400, 100)
    assert len(pool._connections) <= 2
    assert all(not {"_connect", "read_response"} & vars(each).keys() for each in pool._connections)


def test_a_client_that_goes_closes_nothing(server: PrivateRedis) -> None:
    client = redis.Redis(port=server.port)
    limiter = limiter_on(client)
    for _ in range(3):
        assert not limiter.check({"ip": "1"}).error
        assert idle(client.connection_pool)._sock is not None


def of_a_sentinel(server: PrivateRedis) -> redis.Redis:
    class Asked:
        """Answers as a Sentinel."""

        def discover_master(self, _: str) -> tuple[str, int]:
            return "127.0.0.1", server.port

    return redis.Redis(connection_pool=redis.sentinel.SentinelConnectionPool("main", Asked()))


def test_a_client_of_a_sentinel(own_server: PrivateRedis, caplog: pytest.LogCaptureFixture) -> None:
    client = of_a_sentinel(own_server)
    limiter = limiter_on(client, deadline=0.2)
    assert [record.__dict__["rate_limit"]["message"] for record in caplog.records] == ["rate_limit_redis_client"]
    assert not limiter.check({"ip": "1"}).error
    assert len(client.client_list()) == 1
    own_server.pause()
    assert fails(limiter) < 0.4
    own_server.go_on()
    assert not limiter.check({"ip": "1"}).error


@pytest.mark.parametrize("made", [of_a_sentinel, lambda server: redis.Redis(port=server.port)])
def test_an_interrupted_check_gives_back_a_connection_that_is_closed(own_server: PrivateRedis, made: Any) -> None:
    # A connection of a Sentinel's does not close itself.
    client = made(own_server)
    limiter = limiter_on(client)
    limiter.check({"ip": "1"})
    connection = idle(client.connection_pool)
    own_server.pause()
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        limiter.check({"ip": "1"})
    timer.join()
    assert idle(client.connection_pool) is connection
    assert connection._sock is None
    assert not client.connection_pool._in_use_connections
    own_server.go_on()
    assert client.get("own") is None
