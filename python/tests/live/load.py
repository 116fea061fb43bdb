"""Threads that ask without a pause, and keep what came back. They cost little: they run beside the server."""

from __future__ import annotations

import socket
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from types import TracebackType

REQUESTS = 50
"""Of one connection. A worker keeps those that it took: so each worker gets some in time, whichever was there first."""


class Response(NamedTuple):
    """What came back."""

    path: str
    status: int
    fields: dict[str, str]
    began: float
    ended: float

    @property
    def seconds(self) -> float:
        """From the first byte sent to the last one read."""
        return self.ended - self.began

    @property
    def failed_open(self) -> bool:
        """The limiter had no verdict, and said so."""
        return "x-failed-open" in self.fields

    @property
    def worker(self) -> str:
        """Who served it."""
        return self.fields["x-worker"]


class Load:
    """The path may change on the way. Each request is sent once."""

    def __init__(self, port: int, path: str, threads: int) -> None:
        self.path = path
        self._port = port
        self._seen: list[Response] = []
        self._taken = 0
        self._failures: list[Exception] = []
        self._going = True
        self._threads = [threading.Thread(target=self._ask) for _ in range(threads)]

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        self._end()
        if kind is None and self._failures:
            raise self._failures[0]

    def take(self) -> list[Response]:
        """Give the responses since the last time."""
        if self._failures:
            raise self._failures[0]
        taken = self._seen[self._taken :]
        self._taken += len(taken)
        return taken

    def stop(self) -> list[Response]:
        """Give the last responses."""
        self._end()
        return self.take()

    def _end(self) -> None:
        self._going = False
        for thread in self._threads:
            thread.join()

    def _ask(self) -> None:
        try:
            while self._going:
                self._ask_on_a_connection()
        except Exception as error:
            self._failures.append(error)

    def _ask_on_a_connection(self) -> None:
        with (
            socket.create_connection(("127.0.0.1", self._port), timeout=20) as connection,
            connection.makefile("rb") as reader,
        ):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for _ in range(REQUESTS):
                path = self.path
                began = time.monotonic()
                connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                # uvicorn's socket waits with the second piece of a response until the first is acknowledged.
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
                status = int(reader.readline().split()[1])
                fields: dict[str, str] = {}
                while (line := reader.readline().strip()) != b"":
                    name, _, value = line.decode().partition(": ")
                    fields[name.lower()] = value
                if len(reader.read(int(fields["content-length"]))) != int(fields["content-length"]):
                    raise EOFError("the server closed the connection")
                self._seen.append(Response(path, status, fields, began, time.monotonic()))
                if not self._going or fields.get("connection", "").lower() == "close":
                    return
