"""What gunicorn serves. The limiter is built and used before the workers are forked; nothing here knows of that."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import redis
from told import limiter, told

from labkit_ratelimit.wsgi import RESULT, RateLimitMiddleware

if TYPE_CHECKING:
    from collections.abc import Iterable

LIMITER = limiter(redis.Redis.from_url(os.environ["LIVE_REDIS"]))
if LIMITER.check({"path": "before the fork"}).error:
    raise SystemExit("not used before the fork")


def served(_: Any, start_response: Any) -> Iterable[bytes]:
    """Serve something."""
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "3")])
    return [b"ok\n"]


LIMITED = RateLimitMiddleware(served, LIMITER, lambda environ: {"path": environ["PATH_INFO"]})


def app(environ: Any, start_response: Any) -> Iterable[bytes]:
    """Serve, or refuse, and say what the limiter found."""
    began = time.monotonic()

    def begin(status: str, headers: list[tuple[str, str]], *exc_info: Any) -> Any:
        return start_response(status, [*headers, *told(environ[RESULT], began)], *exc_info)

    return LIMITED(environ, begin)
