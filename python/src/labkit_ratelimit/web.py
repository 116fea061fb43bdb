"""What the middlewares share, and what a host takes that writes its own: an answer to who is refused."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from labkit_ratelimit._native import Result

__all__ = ["RESULT", "TEXT", "After", "Format", "Identified", "Refusal", "prefers_json", "refusal"]

RESULT = "labkit.rate_limit.result"
"""Where the result stands in WSGI's environment, and in ASGI's scope."""

TEXT = "Retry later"
"""What a client that is refused reads where nothing is said."""

Format = Literal["gitlab", "ietf"]
"""Which HTTP fields tell a client of its limit: see `Result.headers`."""

_QUALITY = re.compile(r"q=([0-9]+(?:\.[0-9]*)?|\.[0-9]+)", re.IGNORECASE)
_JSON = {"application/json": True, "application/*": True}
_KINDS = {**_JSON, "text/plain": False, "text/*": False, "text/html": False, "*/*": False}


@dataclass(frozen=True, slots=True)
class After:
    """An identifier whose request is charged after its response. Until then it is only looked at.

    >>> After({"ip": "198.18.0.1"}, lambda status, headers: 1 if status == 401 else 0)  # doctest: +SKIP
    """

    identifier: Mapping[str, Any]
    """As of `check`."""
    cost: Callable[[int, Mapping[str, str]], float | Awaitable[float | None] | None]
    """Gives the cost for a status and headers, whose names are in lower case; `None` and 0 charge nothing. In ASGI it
    may be asynchronous."""


Identified = Mapping[str, Any] | After | None
"""What says who a request is of: an identifier, one to be charged after the response, or `None`: not limited."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer to a request that is refused."""

    status: int
    """429; 503 where the store failed and `on_error="block"` decided."""
    headers: dict[str, str]
    """Those of the result, and the body's type and length."""
    body: bytes
    """Nothing, for `HEAD`."""


def refusal(
    result: Result, *, method: str = "GET", accept: str | None = None, format: Format = "gitlab", text: str = TEXT
) -> Refusal:
    """Give the answer to a request that is refused.

    Args:
        result: a block.
        method: of the request.
        accept: the request's header `Accept`: it gets text, or JSON if it would rather have that.
        format: of the headers.
        text: what the client reads.

    Raises:
        ValueError: the call may go on: there is nothing to refuse.

    """
    if not result.blocked:
        raise ValueError(
            "refusal takes a result that blocks, and this one lets the call go on: ask result.blocked first"
        )
    if prefers_json(accept):
        wait = result.retry_after
        said = {"error": text, "rule": result.rule, "retry_after": None if wait is None else math.ceil(wait)}
        kind, body = "application/json", json.dumps({name: value for name, value in said.items() if value is not None})
    else:
        kind, body = "text/plain" if text.isascii() else "text/plain; charset=utf-8", text
    content = f"{body}\n".encode()
    headers = {"Content-Type": kind, "Content-Length": str(len(content)), **result.headers(format)}
    # A limiter that fails closed knows no time to come again.
    return Refusal(503 if result.error else 429, headers, b"" if method == "HEAD" else content)


def prefers_json(accept: str | None) -> bool:
    """Say whether a client would rather have JSON than text, which those get who say nothing."""
    wanted = [range_ for text in (accept or "").split(",") if (range_ := _range(text))]
    return max(wanted, key=lambda range_: range_[1], default=(False, 1.0))[0]


def _range(text: str) -> tuple[bool, float] | None:
    """Give whether a media range asks for JSON, and its quality; `None` where it is neither JSON nor text."""
    kind, *parameters = (part.strip().lower() for part in text.split(";"))
    as_json = _KINDS.get(kind, True if kind.endswith("+json") else None)
    qualities = (float(found[1]) for parameter in parameters if (found := _QUALITY.fullmatch(parameter)))
    quality = next(qualities, 1.0)
    return None if as_json is None or quality <= 0 else (as_json, quality)
