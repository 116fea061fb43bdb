"""An access log in the combined format, as a runner plays it (`Log` in PROTOCOL.md)."""

import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from judge.misuse import Misuse

# The last field may be cut off.
LINE = re.compile(r'(\S+) \S+ \S+ \[([^\]]+)\] "(\S+) (\S+)[^"]*" \d+ (?:\d+|-) "[^"]*" "([^"]*)"?')
TIME = "%d/%b/%Y:%H:%M:%S %z"


@dataclass(frozen=True)
class Rules:
    """The documents that a log is decided by, and which of their limiters does it."""

    limiter: str
    available_limiters: Path | None
    rate_limits: Sequence[Path]

    def texts(self) -> dict[str, Any]:
        """Out: the fields of a played log that speak of them."""
        available = self.available_limiters and _text(self.available_limiters)
        return {"limiter": self.limiter, "available_limiters": available, "rate_limits": [_text(file) for file in self.rate_limits]}


def read(file: Path) -> list[tuple[int, list[dict[str, str]]]]:
    """In: a log, plain or gzip. Out: its requests, those of a second together, in order of time. Misuse if a line is none of such a log."""
    try:
        packed = file.read_bytes()
        text = gzip.decompress(packed) if packed.startswith(b"\x1f\x8b") else packed
    except (OSError, EOFError, zlib.error) as error:
        raise Misuse(f"{file} cannot be read: {error}") from error
    requests = sorted(_requests(file, text.decode("utf-8", "replace")), key=lambda request: request[0])
    if not requests:
        raise Misuse(f"{file} holds no request")
    return [(at, [identifier for _, identifier in group]) for at, group in groupby(requests, key=lambda request: request[0])]


def _requests(file: Path, text: str) -> Iterator[tuple[int, dict[str, str]]]:
    for number, line in enumerate(text.splitlines(), 1):
        found = LINE.fullmatch(line)
        if not found:
            raise Misuse(f"{file}: line {number} is none of a combined log: {line[:100]}")
        ip, when, method, target, agent = found.groups()
        identifier = {"ip": ip, "method": method, "path": target.partition("?")[0], "user_agent": agent}
        try:
            at = int(datetime.strptime(when, TIME).timestamp())
        except ValueError as error:
            raise Misuse(f"{file}: line {number} has no time such as 17/May/2015:10:05:01 +0000: {when}") from error
        yield at, {name: value for name, value in identifier.items() if value != "-"}


def _text(document: Path) -> str:
    try:
        return document.read_text(encoding="utf-8")
    except OSError as error:
        raise Misuse(f"{document} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Misuse(f"{document} is not UTF-8, from byte {error.start} on") from error
