"""Limits in Django: a middleware, and the least of a project around it.

`python3 django_app.py` serves it at http://127.0.0.1:8000/; the third request of a minute is refused.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import django
from django.conf import settings
from django.core.management import execute_from_command_line
from django.http import HttpResponse
from django.urls import path

from labkit_ratelimit import Limiter, Rule
from labkit_ratelimit.client_address import ClientAddress
from labkit_ratelimit.web import refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest

# One for the life of the process. With a Redis: `Limiter("site", [...], redis.Redis())`.
LIMITER = Limiter("site", [Rule(name="per_ip", limit=2, period_s=60, characteristics=["ip"])])
# As many as there are proxies of our own in front.
ADDRESS = ClientAddress(trusted_hops=0)


def rate_limit(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Limit each request: a middleware."""

    def middleware(request: HttpRequest) -> HttpResponse:
        result = LIMITER.check({"ip": ADDRESS.of_wsgi(request.META)})
        if result.blocked:
            refused = refusal(result, method=request.method or "GET", accept=request.headers.get("Accept"))
            return HttpResponse(refused.body, status=refused.status, headers=refused.headers)
        response = get_response(request)
        for name, value in result.headers().items():
            # What a view says itself stands.
            response.setdefault(name, value)
        return response

    return middleware


def hello(request: HttpRequest) -> HttpResponse:
    """Serve something."""
    return HttpResponse("hello\n", content_type="text/plain")


urlpatterns = [path("", hello)]

if not settings.configured:
    settings.configure(
        ALLOWED_HOSTS=["127.0.0.1", "testserver"],
        MIDDLEWARE=[f"{__name__}.rate_limit"],
        ROOT_URLCONF=__name__,
        SECRET_KEY="of an example",
    )
    django.setup()

if __name__ == "__main__":
    execute_from_command_line([sys.argv[0], "runserver", "--noreload"])
