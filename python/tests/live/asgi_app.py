"""What uvicorn serves."""

from __future__ import annotations

import os
import time
from typing import Any

import redis.asyncio
from told import limiter, told

from labkit_ratelimit.asgi import RESULT, RateLimitMiddleware

HEADERS = [(b"content-type", b"text/plain"), (b"content-length", b"3")]


async def served(_scope: Any, _receive: Any, send: Any) -> None:
    """Serve something."""
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    await send({"type": "http.response.body", "body": b"ok\n"})


LIMITED = RateLimitMiddleware(
    served, limiter(redis.asyncio.Redis.from_url(os.environ["LIVE_REDIS"])), lambda scope: {"path": scope["path"]}
)


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Serve, or refuse, and say what the limiter found."""
    began = time.monotonic()

    async def tell(message: Any) -> None:
        if message["type"] == "http.response.start":
            fields = [(name.encode(), value.encode()) for name, value in told(scope[RESULT], began)]
            message = {**message, "headers": [*message["headers"], *fields]}
        await send(message)

    await LIMITED(scope, receive, tell)
