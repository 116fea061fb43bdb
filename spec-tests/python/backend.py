"""Redis as a host has it: its client, and the runner's own connection to each master."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import redis
from calls import TIMEOUT_S, Switch

AGE = (Path(__file__).parent.parent / "age.lua").read_text(encoding="utf-8")
ON_EVERY_MASTER = ("KEYS", "DBSIZE", "SCRIPT", "FLUSHALL", "FLUSHDB")


class Backend:
    """The servers of a run."""

    def __init__(self, addresses: list[str], *, clustered: bool, client: Callable[[list[str], bool], Any]) -> None:
        self.masters = {address: _connected(address) for address in addresses}
        self.client = client(addresses, clustered)

    def flush(self) -> None:
        """Empties them, and lets them be up."""
        for master in self.masters.values():
            master.execute_command("FLUSHALL")
        Switch.down = False

    def age(self, limiter: str, us: int) -> None:
        """Lets `us` microseconds pass for the keys of a limiter."""
        for master in self.masters.values():
            for key in _scanned(master, f"labkit:rl:{{{limiter}:*"):
                master.execute_command("EVAL", AGE, 1, key, us)

    def raw(self, words: list[str]) -> dict[str, Any]:
        """In: the words of a `redis` step. Out: its reply."""
        try:
            if words[0].upper() not in ON_EVERY_MASTER:
                return {"reply": _written(self._routed(words))}
            replies = [master.execute_command(*words) for master in self.masters.values()]
        except redis.ResponseError as error:
            return {"reply": {"error": str(error)}}
        first, *others = replies
        for other in others if isinstance(first, (list, int)) and not isinstance(first, bool) else []:
            first = first + other
        return {"reply": _written(first)}

    def _routed(self, words: list[str]) -> Any:
        try:
            return next(iter(self.masters.values())).execute_command(*words)
        except redis.exceptions.MovedError as error:
            # The server says which one owns the key.
            return self.masters[f"{error.host}:{error.port}"].execute_command(*words)


def _connected(address: str) -> Any:
    host, _, port = address.rpartition(":")
    client: Any = redis.Redis(host=host, port=int(port), socket_timeout=TIMEOUT_S)
    # Replies as they are: a callback would make a bool of OK, and a dict of a list.
    client.response_callbacks = {}
    return client


def _scanned(master: Any, pattern: str) -> set[bytes]:
    keys, cursor = set(), b"0"
    while True:
        cursor, found = master.execute_command("SCAN", cursor, "MATCH", pattern, "COUNT", 1000)
        keys.update(found)
        if cursor == b"0":
            return keys


def _written(reply: Any) -> Any:
    if isinstance(reply, list):
        return [_written(item) for item in reply]
    if not isinstance(reply, bytes):
        return reply
    try:
        return reply.decode()
    except UnicodeDecodeError:
        return {"$bytes": reply.hex()}
