"""A middleware for WSGI: Django, Flask, what gunicorn serves."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from labkit_ratelimit._hooks import complain, known
from labkit_ratelimit._values import dropped
from labkit_ratelimit.limiter import usable
from labkit_ratelimit.web import RESULT, TEXT, After, Format, Identified, refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from _typeshed import OptExcInfo
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

    from labkit_ratelimit._native import Result
    from labkit_ratelimit.limiter import Limiter

__all__ = ["RESULT", "After", "RateLimitMiddleware"]

_STATUS = {429: "429 Too Many Requests", 503: "503 Service Unavailable"}


class RateLimitMiddleware:
    """Asks a limiter on each request, and answers 429 to a block.

    A response that is served carries the headers too, those that the application did not say itself; its body is not
    touched. The result stands in the environment, as `RESULT`.

    What `identify` raises, the server sees: nobody is let through unlimited by a request that breaks it. Where the
    application raises, a request that is charged after its response is charged nothing.

    >>> address = ClientAddress()
    >>> app = RateLimitMiddleware(app, limiter, lambda environ: {"ip": address.of_wsgi(environ)})
    """

    def __init__(
        self,
        app: WSGIApplication,
        limiter: Limiter,
        identify: Callable[[WSGIEnvironment], Identified],
        *,
        on_block: Callable[[WSGIEnvironment, Result], object] | None = None,
        format: Format = "gitlab",
        text: str = TEXT,
    ) -> None:
        """Put a limiter before an application.

        Args:
            app: the application.
            limiter: one in memory, or on a client that is not asynchronous.
            identify: gives an identifier, one that is charged `After` the response, or `None`: not limited.
            on_block: is told the environment and the result of each block; what it raises is logged.
            format: of the headers.
            text: what a client that is refused reads.

        Raises:
            TypeError: the limiter's client is asynchronous.
            ValueError: there is no such format.

        """
        known(format)
        usable(limiter, awaited=False)
        self._app = app
        self._limiter = limiter
        self._identify = identify
        self._on_block = on_block
        self._format: Format = format
        self._text = text

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Serve a request, or refuse it."""
        identified = self._identify(environ)
        if identified is None:
            return self._app(environ, start_response)
        if isinstance(identified, After):
            result, after = self._limiter.peek(identified.identifier), identified
        else:
            result, after = self._limiter.check(identified), None
        environ[RESULT] = result
        if result.blocked:
            return self._refuse(environ, result, start_response)
        return self._app(environ, self._begin(environ, result, after, start_response))

    def _begin(
        self, environ: WSGIEnvironment, result: Result, after: After | None, start_response: StartResponse
    ) -> StartResponse:
        due = after

        def begin(
            status: str, headers: list[tuple[str, str]], exc_info: OptExcInfo | None = None, /
        ) -> Callable[[bytes], object]:
            nonlocal result, due
            # An application that fails on the way begins anew; it is charged once.
            if due is not None:
                charged, due = self._charged(due, status, headers), None
                result = environ[RESULT] = result if charged is None else charged
            # What the application says itself stands.
            said = {name.lower() for name, _ in headers}
            fields = [field for field in result.headers(self._format).items() if field[0].lower() not in said]
            more: tuple[Any, ...] = (exc_info,) if exc_info else ()
            return start_response(status, [*headers, *fields], *more)

        return begin

    def _charged(self, after: After, status: str, headers: list[tuple[str, str]]) -> Result | None:
        """Charge a request whose response begins, which is served, whatever comes of it."""
        try:
            cost = after.cost(int(status[:3]), {name.lower(): value for name, value in headers})
            if isinstance(cost, Awaitable):
                dropped(cost)
                raise TypeError("the cost is awaitable, and WSGI waits for nothing: make it a plain function")
            return self._limiter.check(after.identifier, cost) if cost else None
        except Exception:
            complain(self, "the cost")
            return None

    def _refuse(self, environ: WSGIEnvironment, result: Result, start_response: StartResponse) -> Iterable[bytes]:
        if self._on_block is not None:
            try:
                self._on_block(environ, result)
            except Exception:
                complain(self, "on_block")
        method, accept = environ.get("REQUEST_METHOD", "GET"), environ.get("HTTP_ACCEPT")
        refused = refusal(result, method=method, accept=accept, format=self._format, text=self._text)
        start_response(_STATUS[refused.status], list(refused.headers.items()))
        return [refused.body]
