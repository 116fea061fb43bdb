"""What a client that is refused gets."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from rules import in_memory, per_ip

from labkit_ratelimit import Limiter, Result
from labkit_ratelimit.web import prefers_json, refusal


class NoRedis:
    """A client whose server is not there."""

    def execute_command(self, *_: object) -> object:
        raise ConnectionError("not there")


def failed_closed() -> Limiter:
    """A limiter without a store, that lets nobody through."""
    return Limiter("closed", [per_ip(2)], NoRedis(), on_error="block", cluster=False)


def block(limit: int = 0) -> Result:
    limiter = in_memory(per_ip(lambda: limit))
    return [limiter.check({"ip": "1"}) for _ in range(limit + 1)][-1]


@pytest.mark.parametrize(
    ("accept", "as_json"),
    [
        (None, False),
        ("", False),
        ("application/json", True),
        ("text/html, application/json;q=0.9", False),
        ("application/json, */*", True),
        ("*/*", False),
        ("application/json;q=0", False),
        ("application/problem+json", True),
        ("APPLICATION/JSON;charset=utf-8", True),
        ("application/json; Q=0.1, text/plain; q=.2", False),
        (";;,,q=", False),
        ("text/*;q=0.1, application/*", True),
        ("image/png", False),
        ("\xff, application/json", True),
    ],
)
def test_text_or_json_by_accept(accept: str | None, as_json: bool) -> None:
    assert prefers_json(accept) is as_json


def test_a_text_with_the_headers() -> None:
    refused = refusal(block(1))
    assert (refused.status, refused.body) == (429, b"Retry later\n")
    assert refused.headers["Content-Type"] == "text/plain"
    assert refusal(block(1), text="Später").headers["Content-Type"] == "text/plain; charset=utf-8"
    assert refused.headers["Content-Length"] == "12"
    assert refused.headers["RateLimit-Name"] == "per_ip"
    assert refused.headers["Retry-After"] == "60"


def test_json_names_rule_and_wait() -> None:
    refused = refusal(block(1), accept="application/json", text="Später")
    assert json.loads(refused.body) == {"error": "Später", "rule": "per_ip", "retry_after": 60}
    assert refused.headers["Content-Type"] == "application/json"
    assert refused.headers["Content-Length"] == str(len(refused.body))
    never = refusal(block(), accept="application/json")
    assert json.loads(never.body) == {"error": "Retry later", "rule": "per_ip"}
    assert "Retry-After" not in never.headers


def test_head_has_the_length_and_no_body() -> None:
    refused = refusal(block(1), method="HEAD", text="é", format="ietf")
    assert (refused.body, refused.headers["Content-Length"]) == (b"", "3")
    assert refused.headers["RateLimit-Policy"] == '"per_ip";q=1;w=60'


def test_needs_no_package_of_a_host() -> None:
    code = """if True:
        import sys
        sys.modules.update(dict.fromkeys(["celery", "django", "fastapi", "prometheus_client", "redis", "starlette"]))
        sys.modules.update(dict.fromkeys(["typing_extensions", "valkey"]))
        from labkit_ratelimit import Limiter, asgi, client_address, web, wsgi
    """
    subprocess.run([sys.executable, "-c", code], check=True)


def test_503_without_a_time_where_a_limiter_fails_closed() -> None:
    refused = refusal(failed_closed().check({"ip": "1"}), accept="application/json")
    assert (refused.status, json.loads(refused.body)) == (503, {"error": "Retry later"})
    assert set(refused.headers) == {"Content-Type", "Content-Length"}


def test_there_is_nothing_to_refuse_where_a_call_goes_on() -> None:
    with pytest.raises(ValueError, match=r"ask result\.blocked first"):
        refusal(in_memory(per_ip(1)).check({"ip": "1"}))
