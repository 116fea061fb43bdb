"""A `redis-server` on a port of its own, that keeps nothing."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path


class PrivateRedis:
    """Started when it is made; a missing server is a failure, never a skip."""

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp()
        self.socket = str(Path(self.folder) / "redis.sock")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        words = ["redis-server", "--port", str(self.port), "--save", "", "--appendonly", "no"]
        words += ["--bind", "127.0.0.1", "--unixsocket", self.socket, "--dir", self.folder]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 20
        while time.monotonic() < end:
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                    connection.sendall(b"PING\r\n")
                    if connection.recv(7) == b"+PONG\r\n":
                        return
            except OSError:
                time.sleep(0.02)
        raise RuntimeError("redis-server does not answer")

    def kill(self) -> None:
        """End it at once."""
        self.process.kill()
        self.process.wait()

    def pause(self) -> None:
        """Connections are taken, and nothing is answered."""
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """After a pause."""
        self.process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        """End it, and leave nothing."""
        self.go_on()
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
