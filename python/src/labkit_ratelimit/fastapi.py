"""A dependency of FastAPI: limits for some routes. For all of them take `labkit_ratelimit.asgi`."""

# FastAPI reads annotations as they are.
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from fastapi import HTTPException, Request, Response, WebSocketException
from starlette.requests import HTTPConnection

from labkit_ratelimit._hooks import known, within
from labkit_ratelimit._native import Result
from labkit_ratelimit.asgi import tell
from labkit_ratelimit.limiter import Limiter, usable
from labkit_ratelimit.web import RESULT, TEXT, Format, refusal

__all__ = ["RESULT", "RateLimit", "RateLimited", "WebSocketRateLimited", "refuse"]

_OF_BODY = ("Content-Type", "Content-Length")


class RateLimited(HTTPException):
    """A request that is refused. FastAPI answers it in its own JSON, with the headers; `refuse` as middlewares do."""

    result: Result
    """What the check decided."""

    def __init__(self, result: Result, format: Format = "gitlab", text: str = TEXT) -> None:
        """Take a block: 429, or 503 where the store failed and `on_error="block"` decided."""
        self.result = result
        self._shown: tuple[Format, str] = format, text
        refused = refusal(result, format=format, text=text)
        headers = {name: value for name, value in refused.headers.items() if name not in _OF_BODY}
        super().__init__(refused.status, text, headers)

    def response(self, request: Request) -> Response:
        """Give the answer that middlewares give: text or JSON, as the request's `Accept` says; for `HEAD` no body."""
        shown, text = self._shown
        accept = ",".join(request.headers.getlist("accept"))
        refused = refusal(self.result, method=request.method, accept=accept, format=shown, text=text)
        return Response(refused.body, refused.status, refused.headers)


class WebSocketRateLimited(WebSocketException):
    """A websocket that is refused: closed as 1013, "try again later", before it is accepted. Clients see a 403."""

    result: Result
    """What the check decided."""

    def __init__(self, result: Result, text: str = TEXT) -> None:
        """Take a block."""
        self.result = result
        super().__init__(1013, text)


async def refuse(request: Request, exc: Exception) -> Response:
    """Answer as the middlewares do: `app.add_exception_handler(RateLimited, refuse)`."""
    if isinstance(exc, RateLimited):
        return exc.response(request)
    raise exc


class RateLimit:
    """Asks a limiter before a route runs, and raises `RateLimited` on a block, `WebSocketRateLimited` for a websocket.

    A response that is served carries the headers too, those that the route did not say itself; one that a route
    returns as a `Response` stays as it is. The result is what the dependency gives, and `request.scope[RESULT]`.

    >>> limited = RateLimit(limiter, lambda request: {"ip": address.of_asgi(request.scope)})
    >>> @app.get("/", dependencies=[Depends(limited)])
    """

    def __init__(
        self,
        limiter: Limiter,
        identify: Callable[[Any], Mapping[str, Any] | Awaitable[Mapping[str, Any] | None] | None],
        *,
        cost: float = 1,
        on_block: Callable[[Any, Result], object] | None = None,
        format: Format = "gitlab",
        text: str = TEXT,
    ) -> None:
        """Make a dependency.

        Args:
            limiter: one in memory, or on an asynchronous client.
            identify: takes the request, or the websocket; gives an identifier, or `None`: not limited. May be
                asynchronous.
            cost: of a request: finite, 0 or more.
            on_block: is told the request and the result of each block; what it raises is logged. May be asynchronous.
            format: of the headers.
            text: what a client that is refused reads.

        Raises:
            TypeError: the limiter's client is not asynchronous.
            ValueError: there is no such format, or no such cost.

        """
        known(format)
        usable(limiter, awaited=True)
        within("cost", cost, 0)
        self._limiter = limiter
        self._identify = identify
        self._cost = cost
        self._on_block = on_block
        self._format: Format = format
        self._text = text

    async def __call__(self, request: HTTPConnection, response: Response) -> Result | None:
        """Decide on a request, or on a websocket before it is accepted.

        Raises:
            RateLimited: the request is refused.
            WebSocketRateLimited: the websocket is.

        """
        identifier = self._identify(request)
        if inspect.isawaitable(identifier):
            identifier = await identifier
        if identifier is None:
            return None
        result = request.scope[RESULT] = await self._limiter.acheck(identifier, self._cost)
        if result.blocked:
            await tell(self, self._on_block, request, result)
            if request.scope["type"] == "websocket":
                raise WebSocketRateLimited(result, self._text)
            raise RateLimited(result, self._format, self._text)
        for name, value in result.headers(self._format).items():
            response.headers.setdefault(name, value)
        return result
