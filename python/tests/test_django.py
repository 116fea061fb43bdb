"""The example for Django."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import django_app
import pytest
from django.http import HttpResponse
from django.test import Client, RequestFactory
from rules import in_memory, per_ip
from test_web import failed_closed

if TYPE_CHECKING:
    from labkit_ratelimit import Limiter


@pytest.fixture(autouse=True)
def limiter(monkeypatch: pytest.MonkeyPatch) -> Limiter:
    """Counters of each test's own."""
    limiter = in_memory(*django_app.LIMITER.rules)
    monkeypatch.setattr(django_app, "LIMITER", limiter)
    return limiter


def test_serves_with_headers_then_refuses() -> None:
    client = Client(REMOTE_ADDR="192.0.2.1")
    first, second, third = (client.get("/") for _ in range(3))
    assert [first.status_code, second.status_code, third.status_code] == [200, 200, 429]
    assert (first.content, first.headers["RateLimit-Remaining"]) == (b"hello\n", "1")
    assert (third.content, third.headers["Retry-After"]) == (b"Retry later\n", "60")
    assert third.headers["Content-Type"] == "text/plain"
    refused = client.get("/", headers={"accept": "application/json"})
    assert json.loads(refused.content) == {"error": "Retry later", "rule": "per_ip", "retry_after": 60}
    head = client.head("/")
    assert (head.status_code, head.content, head.headers["Content-Length"]) == (429, b"", "12")
    assert Client(REMOTE_ADDR="192.0.2.2").get("/").status_code == 200


def test_503_where_the_limiter_fails_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(django_app, "LIMITER", failed_closed())
    refused = Client().get("/")
    assert (refused.status_code, "Retry-After" in refused.headers) == (503, False)


def test_keeps_what_a_view_says_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(django_app, "LIMITER", in_memory(per_ip(1)))
    view = django_app.rate_limit(lambda _: HttpResponse("x", headers={"ratelimit-limit": "own"}))
    response = view(RequestFactory().get("/"))
    assert (response.headers["RateLimit-Limit"], response.headers["RateLimit-Name"]) == ("own", "per_ip")
