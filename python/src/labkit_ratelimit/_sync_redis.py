"""A host's Redis that is called, and waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

from labkit_ratelimit._fault import fault_of, is_unknown_script
from labkit_ratelimit._native import Call
from labkit_ratelimit._sibling import close, package_of, sibling

if TYPE_CHECKING:
    from labkit_ratelimit._log import Log

T = TypeVar("T")


class SyncRedis:
    """Runs the calls of a plan, each once, and knows nothing of what they say."""

    __slots__ = ("_client", "_deadline", "_given", "_log", "_package")

    def __init__(self, client: Any, deadline: float, log: Log) -> None:
        self._given = client
        self._deadline = deadline
        self._log = log
        self._package = package_of(client)
        self._client: Any = None if self._package else client
        if self._package is None:
            log.say_unknown(client)

    def run(self, answer: T | Call[T]) -> T:
        """Run call after call, until there is an answer."""
        while isinstance(answer, Call):
            answer = self._settled(cast("Call[T]", answer))
        return answer

    def _settled(self, call: Call[T]) -> T | Call[T]:
        try:
            client = self._client or self._connect()
            try:
                reply = client.execute_command(*call.evalsha())
            except Exception as error:
                if not is_unknown_script(error):
                    raise
                # Nothing ran.
                reply = client.execute_command(*call.eval())
        except Exception as error:
            return call.fail(*fault_of(error))
        return call.settle(reply)

    def _connect(self) -> Any:
        if self._package is not None:
            try:
                self._client = sibling(self._given, self._package, self._deadline)
            except (AttributeError, TypeError):
                # Of a kind that is not made as the others are.
                self._package, self._client = None, self._given
                self._log.say_unknown(self._given)
        return self._client

    def close(self) -> None:
        """Close the connections that the limiters of this client made. The next call makes others."""
        if self._package and self._client is not None:
            client, self._client = self._client, None
            close(client)
