"""The dependency of FastAPI."""

from __future__ import annotations

import json
from typing import Any

import pytest
import redis
from fastapi import Depends, FastAPI, Request, Response, WebSocket
from rules import in_memory, per_ip
from test_asgi import ask
from test_web import NoRedis

from labkit_ratelimit import Limiter, Result
from labkit_ratelimit.asgi import RateLimitMiddleware
from labkit_ratelimit.client_address import ClientAddress
from labkit_ratelimit.fastapi import RESULT, RateLimit, RateLimited, refuse

ADDRESS = ClientAddress()


def by_address(request: Request) -> dict[str, Any]:
    return {"ip": ADDRESS.of_asgi(request.scope)}


def app_with(limited: RateLimit) -> FastAPI:
    app = FastAPI(dependencies=[Depends(limited)])

    @app.get("/")
    @app.head("/")
    async def hello() -> str:
        return "hello"

    return app


async def test_serves_with_headers_then_refuses_as_fastapi_does() -> None:
    app = app_with(RateLimit(in_memory(per_ip(1)), by_address))
    first, second = await ask(app), await ask(app)
    assert (first.status, first.body, first["ratelimit-remaining"]) == (200, b'"hello"', "0")
    assert (second.status, json.loads(second.body)) == (429, {"detail": "Retry later"})
    assert (second["retry-after"], second["content-type"]) == ("60", "application/json")
    assert second["content-length"] == str(len(second.body))
    assert (await ask(app, "192.0.2.2")).status == 200


async def test_refuses_as_the_middlewares_do_where_it_is_told_to() -> None:
    app = app_with(RateLimit(in_memory(per_ip(1)), by_address, format="ietf", text="later"))
    app.add_exception_handler(RateLimited, refuse)
    await ask(app)
    text = await ask(app)
    assert (text.status, text.body, text["content-type"]) == (429, b"later\n", "text/plain")
    assert (text["ratelimit-policy"], text["retry-after"]) == ('"per_ip";q=1;w=60', "60")
    as_json = await ask(app, accept="application/json")
    assert json.loads(as_json.body) == {"error": "later", "rule": "per_ip", "retry_after": 60}
    head = await ask(app, method="HEAD")
    assert (head.status, head.body, head["content-length"]) == (429, b"", "6")
    with pytest.raises(KeyError):
        await refuse(Request({"type": "http"}), KeyError())


async def test_503_where_a_limiter_fails_closed() -> None:
    class Client(NoRedis):
        async def execute_command(self, *_: object) -> object:
            raise ConnectionError("not there")

    limiter = Limiter("closed", [per_ip(2)], Client(), on_error="block", cluster=False)
    refused = await ask(app_with(RateLimit(limiter, by_address)))
    assert (refused.status, refused["retry-after"]) == (503, None)


async def test_the_middleware_is_added_as_starlette_adds_one() -> None:
    app = FastAPI()
    app.add_middleware(
        RateLimitMiddleware, limiter=in_memory(per_ip(1)), identify=lambda scope: {"ip": ADDRESS.of_asgi(scope)}
    )

    @app.get("/")
    async def hello(request: Request) -> bool:
        return bool(request.scope[RESULT].allowed)

    answers = [await ask(app) for _ in range(2)]
    assert [(answer.status, answer.body) for answer in answers] == [(200, b"true"), (429, b"Retry later\n")]


async def test_a_route_has_the_result_and_the_last_word() -> None:
    async def identify(request: Request) -> dict[str, Any] | None:
        return None if request.headers.get("x-free") else by_address(request)

    limited = RateLimit(in_memory(per_ip(5)), identify, cost=2)
    asked = Depends(limited)
    app = FastAPI()

    @app.get("/")
    async def hello(request: Request, response: Response, result: Result | None = asked) -> float:
        assert request.scope.get(RESULT) is result
        response.headers["RateLimit-Limit"] = "own"
        return result.info.count if result and result.info else -1

    answer, free = await ask(app), await ask(app, x_free="1")
    assert (answer.body, answer["ratelimit-limit"], answer["ratelimit-observed"]) == (b"2.0", "own", "2")
    assert (free.body, free["ratelimit-observed"]) == (b"-1.0", None)


async def test_what_an_earlier_dependency_says_stands() -> None:
    async def own(response: Response) -> None:
        response.headers["ratelimit-limit"] = "own"

    app = FastAPI(dependencies=[Depends(own), Depends(RateLimit(in_memory(per_ip(1)), by_address))])

    @app.get("/")
    async def hello() -> None:
        pass

    answer = await ask(app)
    assert (answer["ratelimit-limit"], answer["ratelimit-name"]) == ("own", "per_ip")


async def test_a_hook_is_told_of_each_block_and_one_that_raises_changes_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told: list[str | None] = []

    async def tell(_: Request, result: Result) -> None:
        told.append(result.rule)
        raise RuntimeError("hook")

    app = app_with(RateLimit(in_memory(per_ip(1)), by_address, on_block=tell))
    assert [(await ask(app)).status for _ in range(3)] == [200, 429, 429]
    assert told == ["per_ip"] * 2
    assert "RateLimit: on_block raised" in caplog.text
    with pytest.raises(ValueError, match="format is one of gitlab, ietf, not 'github'"):
        RateLimit(in_memory(per_ip(1)), by_address, format="github")  # type: ignore[arg-type]


async def test_a_websocket_that_is_refused_is_closed_before_it_is_accepted() -> None:
    told: list[Any] = []
    limited = RateLimit(
        in_memory(per_ip(1)), lambda request: {"ip": request.client.host}, on_block=lambda *words: told.append(words)
    )
    app = FastAPI(dependencies=[Depends(limited)])

    @app.websocket("/")
    async def talk(websocket: WebSocket, result: Result | None = Depends(limited)) -> None:  # noqa: B008
        assert websocket.scope[RESULT] is result
        await websocket.accept()
        await websocket.close()

    async def sent() -> list[Any]:
        messages: list[Any] = []
        scope = {"type": "websocket", "path": "/", "headers": [], "query_string": b"", "client": ("192.0.2.1", 1)}

        async def receive() -> Any:
            return {"type": "websocket.connect"}

        async def send(message: Any) -> None:
            messages.append(message)

        await app(scope, receive, send)
        return messages

    assert [message["type"] for message in await sent()] == ["websocket.accept", "websocket.close"]
    assert await sent() == [{"type": "websocket.close", "code": 1013, "reason": "Retry later"}]
    ((websocket, result),) = told
    assert isinstance(websocket, WebSocket)
    assert result.blocked


@pytest.mark.parametrize("cost", [-1, "1", None, True, float("nan"), float("inf"), 10**400])
def test_a_cost_that_is_none_is_a_mistake_of_who_builds(cost: Any) -> None:
    with pytest.raises(ValueError, match="cost is a number, 0 or more and finite, not "):
        RateLimit(in_memory(per_ip()), by_address, cost=cost)


def test_a_limiter_that_waits_is_a_mistake_that_says_so() -> None:
    with pytest.raises(TypeError, match="not asynchronous"):
        RateLimit(Limiter("fastapi", [per_ip()], redis.Redis()), by_address)
