"""A Sentinel with a master and a replica of its own."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import redis
from private_redis import PrivateRedis, free_port

NAME = "main"


class PrivateSentinel:
    """Started when it is made, and ready to fail over."""

    def __init__(self) -> None:
        self.master = PrivateRedis()
        self.servers = [self.master, PrivateRedis("--replicaof", "127.0.0.1", str(self.master.port))]
        self.folder = tempfile.mkdtemp()
        self.port = free_port()
        config = Path(self.folder) / "sentinel.conf"
        config.write_text(
            f"port {self.port}\nbind 127.0.0.1\ndir {self.folder}\n"
            f"sentinel monitor {NAME} 127.0.0.1 {self.master.port} 1\n"
            f"sentinel down-after-milliseconds {NAME} 1000\n",
            encoding="utf-8",
        )
        words = ["redis-server", str(config), "--sentinel"]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._until(lambda: self.say("REPLICAS", NAME) and b"ok" in self.say("CKQUORUM", NAME).lower())
        self._until(lambda: self.port_of_master() == self.master.port)

    def say(self, *words: str) -> Any:
        """Run one of its own commands."""
        with redis.Redis(port=self.port, socket_timeout=5) as client:
            client.response_callbacks.clear()
            return client.execute_command("SENTINEL", *words)

    def port_of_master(self) -> int:
        """Where it says that the master is."""
        return int(self.say("GET-MASTER-ADDR-BY-NAME", NAME)[1])

    def fail_over(self) -> None:
        """Kill the master, once the replica has what it has, and wait until that is in its place."""
        with redis.Redis(port=self.master.port) as client:
            self._until(lambda: client.wait(1, 1000) == 1)
        self.master.kill()
        self._until(lambda: self.port_of_master() != self.master.port)

    def stop(self) -> None:
        """End all three."""
        self.process.kill()
        self.process.wait()
        for server in self.servers:
            server.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    @staticmethod
    def _until(holds: Any) -> None:
        end = time.monotonic() + 30
        while time.monotonic() < end:
            try:
                if holds():
                    return
            except redis.RedisError:
                pass
            time.sleep(0.1)
        raise RuntimeError("the Sentinel does not come to it")
