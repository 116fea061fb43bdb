"""The middleware for WSGI."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any
from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator

import pytest
import redis.asyncio
from rules import in_memory, per_ip
from test_web import failed_closed

from labkit_ratelimit import Limiter, Rule
from labkit_ratelimit.wsgi import RESULT, After, RateLimitMiddleware

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from labkit_ratelimit.web import Identified


class Response:
    """What a server would send. Names of fields as they were given."""

    def __init__(self, application: Any, environ: dict[str, Any]) -> None:
        self.began = 0
        body = application(environ, self.start)
        self.body = b"".join(body)
        getattr(body, "close", lambda: None)()

    def start(self, status: str, headers: list[tuple[str, str]], exc_info: object = None) -> Callable[[bytes], None]:
        self.began += 1
        self.status, self.headers = int(status[:3]), headers
        return lambda _: None

    def __getitem__(self, name: str) -> str | None:
        values = [value for field, value in self.headers if field.lower() == name.lower()]
        assert len(values) <= 1, f"{name} more than once"
        return values[0] if values else None


def served(_: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"served"]


def by_address(environ: dict[str, Any]) -> Identified:
    return {"ip": environ["REMOTE_ADDR"]}


def limited(limiter: Limiter | None = None, app: Any = served, identify: Any = by_address, **more: Any) -> Any:
    return RateLimitMiddleware(app, limiter or in_memory(per_ip(1)), identify, **more)


def ask(app: Any, ip: str = "192.0.2.1", method: str = "GET", **more: Any) -> Response:
    environ: dict[str, Any] = {"REMOTE_ADDR": ip, "REQUEST_METHOD": method, "QUERY_STRING": "", **more}
    setup_testing_defaults(environ)
    return Response(validator(app), environ)


def test_serves_with_headers_then_refuses() -> None:
    app = limited()
    first, second = ask(app), ask(app)
    assert (first.status, first.body, first["RateLimit-Remaining"], first["Retry-After"]) == (200, b"served", "0", None)
    assert (second.status, second.body, second["Content-Type"]) == (429, b"Retry later\n", "text/plain")
    assert second["Retry-After"] == "60"
    assert ask(app, "192.0.2.2").status == 200


def test_json_to_who_asks_for_it_and_no_body_to_head() -> None:
    app = limited()
    ask(app)
    refused = ask(app, HTTP_ACCEPT="application/json")
    assert json.loads(refused.body) == {"error": "Retry later", "rule": "per_ip", "retry_after": 60}
    head = ask(app, method="HEAD")
    assert (head.status, head.body, head["Content-Length"], head["Retry-After"]) == (429, b"", "12", "60")


def test_nobody_is_not_limited() -> None:
    app = limited(identify=lambda _: None)
    answers = [ask(app) for _ in range(3)]
    assert [(answer.status, answer["RateLimit-Limit"]) for answer in answers] == [(200, None)] * 3


def test_503_where_a_limiter_fails_closed() -> None:
    refused = ask(limited(failed_closed()))
    assert (refused.status, refused["Retry-After"], refused["RateLimit-Limit"]) == (503, None, None)


def test_a_hook_is_told_of_each_block_and_one_that_raises_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    told: list[tuple[str, str | None]] = []
    app = limited(on_block=lambda environ, result: told.append((environ["REMOTE_ADDR"], result.rule)))
    assert [ask(app).status for _ in range(3)] == [200, 429, 429]
    assert told == [("192.0.2.1", "per_ip")] * 2

    def broken(*_: object) -> None:
        raise RuntimeError("hook")

    app = limited(on_block=broken)
    with caplog.at_level(logging.WARNING, "labkit_ratelimit"):
        assert [ask(app).status for _ in range(2)] == [200, 429]
    record = caplog.records[-1]
    assert "RateLimitMiddleware: on_block raised" in record.getMessage()
    assert record.exc_info
    assert str(record.exc_info[1]) == "hook"


def failures() -> Limiter:
    return in_memory(Rule(name="failures", limit=3, period_s=60, characteristics=["ip"]))


def failing(*statuses: int) -> Any:
    left = list(statuses)

    def app(_: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        # It begins when its body is read, as a generator does.
        start_response(f"{left.pop(0)} So", [("Content-Type", "text/plain"), ("X-Cost", "2")])
        yield b"x"

    return app


def test_charges_after_the_response_where_it_is_told_to() -> None:
    def identify(environ: dict[str, Any]) -> Identified:
        return After(
            {"ip": environ["REMOTE_ADDR"]}, lambda status, headers: int(headers["x-cost"]) if status == 401 else 0
        )

    app = limited(failures(), failing(401, 200, 401, 401), identify)
    answers = [ask(app) for _ in range(4)]
    assert [answer.status for answer in answers] == [401, 200, 401, 429]
    assert [answer["RateLimit-Observed"] for answer in answers] == ["2", "2", "4", "4"]


def test_a_response_whose_cost_cannot_be_told_is_served(caplog: pytest.LogCaptureFixture) -> None:
    def charged(cost: Callable[[], float | None]) -> float:
        environ: dict[str, Any] = {}
        setup_testing_defaults(environ)
        app = limited(identify=lambda _: After({"ip": 1}, lambda *_: cost()))
        assert Response(app, environ).status == 200
        count: float = environ[RESULT].info.count
        return count

    assert [charged(lambda: None), charged(lambda: 1), charged(lambda: 0)] == [0, 1, 0]
    assert not caplog.records
    assert charged(lambda: 1 // 0) == 0
    assert "the cost raised" in caplog.text


def test_an_application_that_begins_anew_is_charged_once_and_tells_why() -> None:
    limiter, seen = in_memory(per_ip(5)), []

    def app(_: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        start_response("200 OK", [])
        try:
            raise KeyError("late")
        except KeyError as error:
            start_response("500 Oh", [("Content-Type", "text/plain")], (KeyError, error, None))
        return [b"oh"]

    def start(status: str, headers: list[tuple[str, str]], *exc_info: Any) -> Any:
        seen.append((status, dict(headers).get("RateLimit-Observed"), [info[0] for info in exc_info]))

    limited(limiter, app, lambda _: After({"ip": "1"}, lambda *_: 1))({}, start)
    assert seen == [("200 OK", "1", []), ("500 Oh", "1", [KeyError])]
    assert limiter.peek({"ip": "1"}).info.count == 1  # type: ignore[union-attr]


def test_what_application_and_identify_raise_goes_through_and_is_charged_nothing() -> None:
    def raising(*_: object) -> Any:
        raise KeyError("app")

    limiter = in_memory(per_ip(1))
    for _ in range(2):
        with pytest.raises(KeyError, match="app"):
            ask(limited(limiter, raising, lambda _: After({"ip": 1}, lambda *_: 1)))
    assert limiter.peek({"ip": 1}).info.count == 0  # type: ignore[union-attr]
    with pytest.raises(KeyError, match="app"):
        ask(limited(identify=raising))


def test_hands_on_the_body_as_it_is() -> None:
    body = [b"served"]

    def app(_: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        start_response("200 OK", [])
        return body

    assert limited(app=app)({"REMOTE_ADDR": "1"}, lambda *_: None) is body


def test_keeps_what_the_application_says_itself() -> None:
    own = [("Content-Type", "text/plain"), ("ratelimit-limit", "own")]

    def app(_: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        start_response("200 OK", own)
        return [b""]

    answer = ask(limited(app=app))
    assert (answer["RateLimit-Limit"], answer["RateLimit-Name"]) == ("own", "per_ip")
    assert len(own) == 2


def test_shows_a_warn_rule_that_is_over_and_other_headers() -> None:
    app = limited(format="ietf")
    answers = [ask(app) for _ in range(2)]
    assert [(answer.status, answer["RateLimit-Policy"]) for answer in answers] == [
        (200, '"per_ip";q=1;w=60'),
        (429, '"per_ip";q=1;w=60'),
    ]
    app = limited(in_memory(per_ip(1, action="warn")), format="ietf")
    answers = [ask(app) for _ in range(2)]
    assert [(answer.status, answer["RateLimit-Policy"]) for answer in answers] == [(200, '"per_ip";q=1;w=60')] * 2
    with pytest.raises(ValueError, match="format is one of gitlab, ietf, not 'github'"):
        limited(format="github")


def test_a_limiter_that_is_awaited_is_a_mistake_that_says_so() -> None:
    limiter = Limiter("wsgi", [per_ip()], redis.asyncio.Redis())
    with pytest.raises(TypeError, match=r"asynchronous.* takes a client that is not asynchronous"):
        limited(limiter)


def test_a_cost_that_is_awaited_is_a_mistake_that_says_so(caplog: pytest.LogCaptureFixture) -> None:
    async def cost(_status: int, _headers: Any) -> float:
        return 1

    answer = ask(limited(identify=lambda _: After({"ip": 1}, cost)))
    assert (answer.status, answer["RateLimit-Observed"]) == (200, "0")
    assert "WSGI waits for nothing" in caplog.text
