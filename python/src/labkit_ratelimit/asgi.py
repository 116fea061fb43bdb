"""A middleware for ASGI: Starlette, FastAPI, Django, what uvicorn serves."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any, TypeAlias

from labkit_ratelimit._hooks import complain, known
from labkit_ratelimit.limiter import usable
from labkit_ratelimit.web import RESULT, TEXT, After, Format, Identified, refusal

if TYPE_CHECKING:
    from labkit_ratelimit._native import Result
    from labkit_ratelimit.limiter import Limiter

__all__ = ["RESULT", "After", "RateLimitMiddleware"]

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Application: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]


class RateLimitMiddleware:
    """Asks a limiter on each HTTP request, and answers 429 to a block. Websockets and the lifespan pass.

    A response that is served carries the headers too, those that the application did not say itself; its body is not
    touched. The result stands in the scope, as `RESULT`; in that of who is outside too, as an access log.

    What `identify` raises, the server sees: nobody is let through unlimited by a request that breaks it. Where the
    application raises, a request that is charged after its response is charged nothing.

    >>> address = ClientAddress()
    >>> app = RateLimitMiddleware(app, limiter, lambda scope: {"ip": address.of_asgi(scope)})
    """

    def __init__(
        self,
        app: Application,
        limiter: Limiter,
        identify: Callable[[Scope], Identified | Awaitable[Identified]],
        *,
        on_block: Callable[[Scope, Result], object] | None = None,
        format: Format = "gitlab",
        text: str = TEXT,
    ) -> None:
        """Put a limiter before an application.

        Args:
            app: the application.
            limiter: one in memory, or on an asynchronous client.
            identify: gives an identifier, one that is charged `After` the response, or `None`: not limited. May be
                asynchronous.
            on_block: is told the scope and the result of each block; what it raises is logged. May be asynchronous.
            format: of the headers.
            text: what a client that is refused reads.

        Raises:
            TypeError: the limiter's client is not asynchronous.
            ValueError: there is no such format.

        """
        known(format)
        usable(limiter, awaited=True)
        self._app = app
        self._limiter = limiter
        self._identify = identify
        self._on_block = on_block
        self._format: Format = format
        self._text = text

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or refuse it."""
        identified = await self._identified(scope) if scope["type"] == "http" else None
        if identified is None:
            return await self._app(scope, receive, send)
        if isinstance(identified, After):
            result, after = await self._limiter.apeek(identified.identifier), identified
        else:
            result, after = await self._limiter.acheck(identified), None
        scope[RESULT] = result
        if result.blocked:
            return await self._refuse(scope, result, send)
        return await self._app(scope, receive, self._begin(scope, result, after, send))

    async def _identified(self, scope: Scope) -> Identified:
        identified = self._identify(scope)
        return await identified if inspect.isawaitable(identified) else identified

    def _begin(self, scope: Scope, result: Result, after: After | None, send: Send) -> Send:
        async def begin(message: Message) -> None:
            nonlocal result
            if message["type"] != "http.response.start":
                return await send(message)
            headers: list[tuple[bytes, bytes]] = list(message.get("headers", ()))
            if after is not None:
                charged = await self._charged(after, message["status"], headers)
                result = scope[RESULT] = result if charged is None else charged
            # What the application says itself stands.
            said = {bytes(name).lower() for name, _ in headers}
            fields = [field for field in _raw(result.headers(self._format)) if field[0] not in said]
            return await send({**message, "headers": [*headers, *fields]})

        return begin

    async def _charged(self, after: After, status: int, headers: list[tuple[bytes, bytes]]) -> Result | None:
        """Charge a request whose response begins, which is served, whatever comes of it."""
        try:
            read = {bytes(name).decode("latin-1").lower(): bytes(value).decode("latin-1") for name, value in headers}
            told = after.cost(status, read)
            cost = await told if inspect.isawaitable(told) else told
            return await self._limiter.acheck(after.identifier, cost) if cost else None
        except Exception:
            complain(self, "the cost")
            return None

    async def _refuse(self, scope: Scope, result: Result, send: Send) -> None:
        await tell(self, self._on_block, scope, result)
        accept = b",".join(value for name, value in scope["headers"] if name == b"accept").decode("latin-1")
        refused = refusal(result, method=scope["method"], accept=accept, format=self._format, text=self._text)
        start = {"type": "http.response.start", "status": refused.status, "headers": _raw(refused.headers)}
        await send(start)
        await send({"type": "http.response.body", "body": refused.body})


async def tell(owner: Any, hook: Callable[[Any, Result], object] | None, request: Any, result: Result) -> None:
    """Tell a hook of a block. One that fails makes no 500 of a 429."""
    if hook is None:
        return
    try:
        told = hook(request, result)
        if inspect.isawaitable(told):
            await told
    except Exception:
        complain(owner, "on_block")


def _raw(fields: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in fields.items()]
