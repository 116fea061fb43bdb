"""Servers that are no Redis, and fail in their own ways."""

from __future__ import annotations

import queue
import socket
import threading
import time


class Counting:
    """Takes commands, and closes each connection after one that it does not answer."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self.seen: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                while data := connection.recv(65536):
                    if b"EVALSHA" in data:
                        self.seen.put(data)
                        break
                    connection.sendall(b"-ERR unknown\r\n" * data.count(b"*"))

    def count(self) -> int:
        time.sleep(0.1)
        return self.seen.qsize()


class Slow:
    """Takes connections, and answers each command after a while, or never."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                while connection.recv(65536):
                    if self.seconds is not None:
                        time.sleep(self.seconds)
                        connection.sendall(b"+OK\r\n")
            except OSError:
                return


class Full:
    """Has no room for one more connection: to connect takes for ever."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=0)
        self.port: int = self.listener.getsockname()[1]
        self.waiting = [socket.socket() for _ in range(3)]
        for each in self.waiting:
            each.setblocking(False)
            each.connect_ex(("127.0.0.1", self.port))

    def close(self) -> None:
        """Let all of them go."""
        for each in (self.listener, *self.waiting):
            each.close()
