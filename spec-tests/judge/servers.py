"""Real Redis servers for one run: on loopback, on free ports, in a folder of their own, gone afterwards."""

import os
import random
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from judge.misuse import Misuse
from judge.resp import Connection, RedisError

MASTERS = 3
SLOTS = 16384
START_S = 10
CLUSTER_S = 60
ATTEMPTS = 5
PORTS = range(20000, 45000)
BUS_OFFSET = 10000
INSTALL = (
    "install it (Debian: apt-get install redis-server; macOS: brew install redis) or name another server's binary in "
    "LABKIT_SPEC_REDIS_SERVER (for example valkey-server). The stores redis and cluster are never skipped; "
    "--store memory runs without a server"
)


@contextmanager
def serving(store: str) -> Iterator[list[str]]:
    """In: a store. Out, while the context lasts: the runner's arguments that say where its servers are."""
    with ExitStack() as stack:
        if store == "memory":
            yield []
        elif store == "redis":
            yield ["--redis", f"127.0.0.1:{stack.enter_context(_server())}"]
        else:
            ports = [stack.enter_context(_server("--cluster-enabled", "yes")) for _ in range(MASTERS)]
            _join(ports)
            yield ["--cluster", ",".join(f"127.0.0.1:{port}" for port in ports)]


@contextmanager
def _server(*options: str) -> Iterator[int]:
    binary = os.environ.get("LABKIT_SPEC_REDIS_SERVER") or "redis-server"
    if shutil.which(binary) is None:
        raise Misuse(f"there is no {binary}: {INSTALL}")
    folder = Path(tempfile.mkdtemp(prefix="labkit-spec-"))
    process: subprocess.Popen[bytes] | None = None
    try:
        for _ in range(ATTEMPTS):
            port = _free_port()
            arguments = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(folder)]
            with (folder / "log").open("wb") as log:
                process = subprocess.Popen([binary, *arguments, *options], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
            if _answers(process, port, folder):
                break
            _stop(process)
        else:
            said = (folder / "log").read_text(encoding="utf-8", errors="replace")[-2000:]
            raise Misuse(f"{binary} did not start within {START_S} s, {ATTEMPTS} times. It said:\n{said}")
        yield port
    finally:
        if process is not None:
            _stop(process)
        shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    while True:
        port = random.choice(PORTS)
        try:
            for candidate in (port, port + BUS_OFFSET):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", candidate))
            return port
        except OSError:
            continue


def _answers(process: subprocess.Popen[bytes], port: int, folder: Path) -> bool:
    """Whether this very process serves the port: another run may have taken it first, and then the folder is not ours."""
    deadline = time.monotonic() + START_S
    while process.poll() is None and time.monotonic() < deadline:
        try:
            with Connection(port) as connection:
                return Path(connection.call("CONFIG", "GET", "dir")[1]).resolve() == folder.resolve()
        except (OSError, RedisError, IndexError):
            time.sleep(0.02)
    return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _join(ports: list[int]) -> None:
    with ExitStack() as stack:
        nodes = [stack.enter_context(Connection(port)) for port in ports]
        for index, node in enumerate(nodes):
            node.call("CLUSTER", "ADDSLOTS", *range(SLOTS * index // MASTERS, SLOTS * (index + 1) // MASTERS))
            node.call("CLUSTER", "SET-CONFIG-EPOCH", index + 1)
        for port in ports[1:]:
            nodes[0].call("CLUSTER", "MEET", "127.0.0.1", port)
        deadline = time.monotonic() + CLUSTER_S
        while not all(map(_whole, nodes)):
            if time.monotonic() > deadline:
                raise Misuse(f"the cluster did not form within {CLUSTER_S} s:\n{nodes[0].call('CLUSTER', 'INFO')}")
            time.sleep(0.05)


def _whole(node: Connection) -> bool:
    info = node.call("CLUSTER", "INFO").split("\r\n")
    return {"cluster_state:ok", f"cluster_slots_ok:{SLOTS}", f"cluster_known_nodes:{MASTERS}"} <= set(info) and len(
        node.call("CLUSTER", "SLOTS")
    ) == MASTERS
