"""A Redis client of one connection: enough to start servers and to test scripts, without a package to install."""

import socket
from types import TracebackType
from typing import Any, Self


class RedisError(Exception):
    """An error reply, with its text."""


class Connection:
    """In: where the server is. `call(*words)` sends one command and gives its reply: text, int, None or a list."""

    def __init__(self, port: int, host: str = "127.0.0.1", timeout_s: float = 10) -> None:
        self._socket = socket.create_connection((host, port), timeout=timeout_s)
        self._file = self._socket.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()
        self._socket.close()

    def call(self, *words: str | int) -> Any:
        encoded = [str(word).encode() for word in words]
        self._socket.sendall(b"*%d\r\n" % len(encoded) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in encoded))
        return self._reply()

    def _reply(self) -> Any:
        line = self._file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server closed the connection")
        kind, rest = line[:1], line[1:-2].decode()
        if kind == b"+":
            return rest
        if kind == b"-":
            raise RedisError(rest)
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == "-1" else self._file.read(int(rest) + 2)[:-2].decode("utf-8", "surrogateescape")
        if kind == b"*":
            return None if rest == "-1" else [self._reply() for _ in range(int(rest))]
        raise RedisError(f"a reply of unknown kind: {line!r}")
