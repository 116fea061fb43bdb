"""The middleware for ASGI."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
import redis.asyncio
from rules import in_memory, per_ip
from test_web import NoRedis

from labkit_ratelimit import Limiter, Rule
from labkit_ratelimit.asgi import RESULT, After, RateLimitMiddleware

if TYPE_CHECKING:
    from collections.abc import Callable

    from private_redis import PrivateRedis

    from labkit_ratelimit.web import Identified


class Response:
    """What a server would send."""

    status: int
    body = b""

    def __init__(self) -> None:
        self.scope: dict[str, Any] = {}
        self.headers: list[tuple[bytes, bytes]] = []

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], list(message.get("headers", ()))
        elif message["type"] == "http.response.body":
            self.body += message.get("body", b"")

    def __getitem__(self, name: str) -> str | None:
        assert all(field == field.lower() for field, _ in self.headers)
        values = [value.decode() for field, value in self.headers if field == name.encode()]
        assert len(values) <= 1, f"{name} more than once"
        return values[0] if values else None


async def ask(app: Any, ip: str = "192.0.2.1", method: str = "GET", **headers: str) -> Response:
    """Ask with headers, in whose names _ stands for -."""
    response = Response()
    raw = [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items()]
    response.scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": "/",
        "raw_path": b"/",
        "query_string": b"",
        "root_path": "",
        "headers": raw,
        "client": (ip, 4711),
        "server": ("localhost", 80),
    }

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    await app(response.scope, receive, response.send)
    return response


async def served(_scope: Any, _receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": b"ser", "more_body": True})
    await send({"type": "http.response.body", "body": b"ved"})


def by_address(scope: Any) -> Identified:
    return {"ip": scope["client"][0]}


def limited(limiter: Limiter | None = None, app: Any = served, identify: Any = by_address, **more: Any) -> Any:
    return RateLimitMiddleware(app, limiter or in_memory(per_ip(1)), identify, **more)


async def test_serves_with_headers_then_refuses() -> None:
    app = limited()
    first, second = await ask(app), await ask(app)
    assert (first.status, first.body, first["ratelimit-remaining"], first["retry-after"]) == (200, b"served", "0", None)
    assert (second.status, second.body, second["content-type"]) == (429, b"Retry later\n", "text/plain")
    assert (second["retry-after"], second["content-length"]) == ("60", "12")
    assert first.scope[RESULT].allowed
    assert second.scope[RESULT].blocked
    assert (await ask(app, "192.0.2.2")).status == 200


async def test_json_to_who_asks_for_it_and_no_body_to_head() -> None:
    app = limited()
    await ask(app)
    refused = await ask(app, accept="\xff, application/json")
    assert json.loads(refused.body) == {"error": "Retry later", "rule": "per_ip", "retry_after": 60}
    head = await ask(app, method="HEAD")
    assert (head.status, head.body, head["content-length"], head["retry-after"]) == (429, b"", "12", "60")


async def test_other_headers_and_another_text() -> None:
    app = limited(format="ietf", text="later")
    answers = [await ask(app) for _ in range(2)]
    policy = '"per_ip";q=1;w=60'
    assert [(answer.status, answer["ratelimit-policy"]) for answer in answers] == [(200, policy), (429, policy)]
    assert answers[1].body == b"later\n"


async def test_on_redis(server: PrivateRedis) -> None:
    client = redis.asyncio.Redis(port=server.port)
    limiter = Limiter("asgi", [per_ip(1)], client, deadline=5)
    app = limited(limiter)
    assert [(await ask(app)).status for _ in range(2)] == [200, 429]
    later = limited(limiter, identify=lambda _: After({"ip": "later"}, lambda *_: 1))
    assert [(await ask(later))["ratelimit-observed"] for _ in range(2)] == ["1", "2"]
    await client.aclose()


async def test_503_where_a_limiter_fails_closed() -> None:
    class Client(NoRedis):
        async def execute_command(self, *_: object) -> object:
            raise ConnectionError("not there")

    refused = await ask(limited(Limiter("closed", [per_ip(2)], Client(), on_error="block", cluster=False)))
    assert (refused.status, refused["retry-after"], refused["ratelimit-limit"]) == (503, None, None)


async def test_only_http_is_limited() -> None:
    passed: list[Any] = []

    async def app(scope: Any, _receive: Any, _send: Any) -> None:
        passed.append(scope)

    def never(_: Any) -> Any:
        raise AssertionError

    scopes: list[dict[str, Any]] = [{"type": "websocket", "client": ("1", 1)}, {"type": "lifespan"}]
    for scope in scopes:
        await limited(app=app, identify=never)(scope, None, None)
    assert passed == scopes
    assert RESULT not in scopes[0]


async def test_nobody_is_not_limited_and_identify_may_be_asynchronous() -> None:
    async def nobody(_: Any) -> Identified:
        return None

    async def somebody(scope: Any) -> Identified:
        return by_address(scope)

    answers = [await ask(limited(identify=identify)) for identify in (nobody, lambda _: None)]
    assert [(answer.status, answer["ratelimit-limit"]) for answer in answers] == [(200, None)] * 2
    app = limited(identify=somebody)
    assert [(await ask(app)).status for _ in range(2)] == [200, 429]


async def test_a_hook_is_told_of_each_block_and_one_that_raises_changes_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told: list[str] = []

    async def tell(scope: Any, result: Any) -> None:
        told.append(f"{scope['client'][0]} {result.rule}")

    async def broken(*_: object) -> None:
        raise RuntimeError("hook")

    app = limited(on_block=tell)
    assert [(await ask(app)).status for _ in range(3)] == [200, 429, 429]
    assert told == ["192.0.2.1 per_ip"] * 2
    app = limited(on_block=lambda *_: told.append("at once"))
    assert [(await ask(app)).status for _ in range(2)] == [200, 429]
    assert told[2:] == ["at once"]
    assert not caplog.records
    app = limited(on_block=broken)
    assert [(await ask(app)).status for _ in range(2)] == [200, 429]
    assert "RateLimitMiddleware: on_block raised" in caplog.text


async def test_charges_after_the_response_where_it_is_told_to() -> None:
    statuses = [401, 200, 401, 401]

    async def failing(_scope: Any, _receive: Any, send: Any) -> None:
        headers = [(b"X-Cost", b"2")]
        await send({"type": "http.response.start", "status": statuses.pop(0), "headers": headers})
        await send({"type": "http.response.body", "body": b"x"})

    def identify(scope: Any) -> Identified:
        return After(by_address(scope), lambda status, headers: int(headers["x-cost"]) if status == 401 else 0)  # type: ignore[arg-type]

    def lower(app: Any) -> Any:
        async def lowered(scope: Any, receive: Any, send: Any) -> None:
            async def sent(message: Any) -> None:
                headers = [(name.lower(), value) for name, value in message.get("headers", ())]
                await send({**message, "headers": headers})

            await app(scope, receive, sent)

        return lowered

    limiter = in_memory(Rule(name="failures", limit=3, period_s=60, characteristics=["ip"]))
    app = lower(limited(limiter, failing, identify))
    answers = [await ask(app) for _ in range(4)]
    assert [answer.status for answer in answers] == [401, 200, 401, 429]
    assert [answer["ratelimit-observed"] for answer in answers] == ["2", "2", "4", "4"]


async def test_a_response_whose_cost_cannot_be_told_is_served(caplog: pytest.LogCaptureFixture) -> None:
    async def charged(cost: Callable[[], float | None]) -> float:
        answer = await ask(limited(identify=lambda _: After({"ip": 1}, lambda *_: cost())))
        assert (answer.status, answer.body) == (200, b"served")
        count: float = answer.scope[RESULT].info.count
        return count

    assert [await charged(lambda: None), await charged(lambda: 1), await charged(lambda: 0)] == [0, 1, 0]
    assert not caplog.records
    assert await charged(lambda: 1 // 0) == 0
    assert "the cost raised" in caplog.text


async def test_a_cost_may_be_asynchronous(caplog: pytest.LogCaptureFixture) -> None:
    async def of_failures(status: int, _headers: Any) -> float | None:
        await asyncio.sleep(0)
        return 2 if status == 200 else None

    async def broken(_status: int, _headers: Any) -> float:
        raise KeyError("cost")

    limiter = in_memory(per_ip(3))
    app = limited(limiter, identify=lambda _: After({"ip": 1}, of_failures))
    answers = [await ask(app) for _ in range(2)]
    assert [answer["ratelimit-observed"] for answer in answers] == ["2", "4"]
    assert not caplog.records
    answer = await ask(limited(identify=lambda _: After({"ip": 1}, broken)))
    assert (answer.status, answer["ratelimit-observed"]) == (200, "0")
    assert "the cost raised" in caplog.text


async def test_what_application_and_identify_raise_goes_through_and_is_charged_nothing() -> None:
    async def raising(*_: object) -> Any:
        raise KeyError("app")

    limiter = in_memory(per_ip(1))
    for _ in range(2):
        with pytest.raises(KeyError, match="app"):
            await ask(limited(limiter, raising, lambda _: After({"ip": 1}, lambda *_: 1)))
    assert limiter.peek({"ip": 1}).info.count == 0  # type: ignore[union-attr]
    with pytest.raises(KeyError, match="app"):
        await ask(limited(identify=raising))


async def test_keeps_what_the_application_says_itself() -> None:
    own = [(b"ratelimit-limit", b"own")]

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": own})
        await send({"type": "http.response.body"})

    answer = await ask(limited(app=app, format="gitlab"))
    assert (answer["ratelimit-limit"], answer["ratelimit-name"]) == ("own", "per_ip")
    assert len(own) == 1
    with pytest.raises(ValueError, match="format is one of gitlab, ietf, not 'github'"):
        limited(format="github")


async def test_a_limiter_that_waits_is_a_mistake_that_says_so(server: PrivateRedis) -> None:
    limiter = Limiter("asgi", [per_ip(1)], redis.Redis(port=server.port))
    with pytest.raises(TypeError, match=r"not asynchronous.* takes an asynchronous client"):
        limited(limiter)
    wrong: Any = served
    with pytest.raises(TypeError, match="which has acheck; a function has none"):
        limited(wrong)


async def test_a_limiter_of_the_host_s_own_may_wait_elsewhere(server: PrivateRedis) -> None:
    class Elsewhere(Limiter):
        async def acheck(self, identifier: Any, cost: Any = 1, context: Any = None) -> Any:
            return await asyncio.to_thread(self.check, identifier, cost, context)

    limiter = Elsewhere("asgi_elsewhere", [per_ip(1)], redis.Redis(port=server.port), deadline=5)
    assert (await ask(limited(limiter))).status == 200
