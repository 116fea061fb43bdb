"""Servers on ports of their own, that keep nothing."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import redis


class PrivateRedis:
    """Started when it is made; a missing server is a failure, never a skip."""

    def __init__(self, *options: str) -> None:
        self.options = options
        self.folder = tempfile.mkdtemp()
        self.socket = str(Path(self.folder) / "redis.sock")
        self.port = free_port()
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        words = ["redis-server", "--port", str(self.port), "--save", "", "--appendonly", "no"]
        words += ["--bind", "127.0.0.1", "--unixsocket", self.socket, "--dir", self.folder, *self.options]
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


class PrivateCluster:
    """Two masters, with half of the slots each."""

    def __init__(self) -> None:
        # A port and 10,000 more is for what they tell each other.
        self.nodes = [PrivateRedis("--cluster-enabled", "yes", "--cluster-port", str(free_port())) for _ in range(2)]
        self.ids = [self.say(at, "CLUSTER", "MYID").decode() for at in range(2)]
        self.say(0, "CLUSTER", "ADDSLOTSRANGE", 0, 8191)
        self.say(1, "CLUSTER", "ADDSLOTSRANGE", 8192, 16383)
        bus = self.nodes[1].options[-1]
        self.say(0, "CLUSTER", "MEET", "127.0.0.1", self.nodes[1].port, bus)
        end = time.monotonic() + 20
        while not all(b"cluster_state:ok" in self.info(at) and b"known_nodes:2" in self.info(at) for at in range(2)):
            if time.monotonic() > end:
                raise RuntimeError("the cluster does not come up")
            time.sleep(0.05)

    def info(self, at: int) -> bytes:
        """What a node says of the cluster."""
        said: bytes = self.say(at, "CLUSTER", "INFO")
        return said

    def say(self, at: int, *words: str | bytes | int) -> Any:
        """Run a command on one of them."""
        with redis.Redis(port=self.nodes[at].port, socket_timeout=5) as client:
            client.response_callbacks.clear()
            return client.execute_command(*words)

    def owner(self, slot: int) -> int:
        """Which of the two it was, when they were made."""
        return 0 if slot < 8192 else 1

    def stop(self) -> None:
        """End both."""
        for node in self.nodes:
            node.stop()


def free_port() -> int:
    """Give one that nobody has."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
