"""Limiters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

from labkit_ratelimit._async_redis import AsyncRedis
from labkit_ratelimit._clients import is_async, is_cluster
from labkit_ratelimit._log import Log
from labkit_ratelimit._native import Core, Result
from labkit_ratelimit._sync_redis import SyncRedis
from labkit_ratelimit.documents import Documents
from labkit_ratelimit.errors import RateLimitExceeded
from labkit_ratelimit.metrics import Sample
from labkit_ratelimit.rule import Rule, written

if TYPE_CHECKING:
    import logging
    from collections.abc import Iterable, Mapping

    from typing_extensions import Unpack

    from labkit_ratelimit._native import ManualClock, MemoryStore
    from labkit_ratelimit.documents import Document

__all__ = ["DEADLINE", "Evaluations", "Limiter", "OnError", "Options"]

OnError = Literal["allow", "block", "local"]
Evaluations = Literal["first_block", "all"]

DEADLINE = 0.1
"""How long a call of the store is waited for where nothing is said, in seconds."""


class Options(TypedDict, total=False):
    """What a limiter takes beside its name, its rules, its Redis and its documents: see `Limiter`."""

    on_error: OnError
    evaluation: Evaluations
    deadline: float
    cluster: bool | None
    store: MemoryStore | None
    clock: ManualClock | None
    logger: logging.Logger | logging.LoggerAdapter[Any] | None


class Limiter:
    """A chain of rules, and the store it counts in.

    Build one for the life of the process: threads and event loops share it, and a child process goes on with it.

    >>> limiter = Limiter("sign_in", [Rule(name="per_ip", limit=2, period_s=60, characteristics=["ip"])], redis)
    >>> limiter.check({"ip": "198.18.0.1"}).allowed
    True
    """

    def __init__(
        self,
        name: str,
        rules: Iterable[Rule | Mapping[str, Any]] = (),
        redis: Any = None,
        *,
        on_error: OnError = "allow",
        evaluation: Evaluations = "first_block",
        deadline: float = DEADLINE,
        cluster: bool | None = None,
        store: MemoryStore | None = None,
        clock: ManualClock | None = None,
        logger: logging.Logger | logging.LoggerAdapter[Any] | None = None,
        documents: Documents | None = None,
    ) -> None:
        """Build a limiter.

        Args:
            name: a-z, 0-9 and _. Limiters of one name on one Redis count together.
            rules: in the order of the chain; with documents, the default rules. A mapping is a rule as documents
                write it.
            redis: the host's client, of redis-py or valkey-py: single, Sentinel or Cluster; an asynchronous one for
                `acheck` and its like. Without one, counters live in this process, and a line in the log says so.
            on_error: what a check without a verdict answers: `allow`, `block`, or `local`, which counts in this process
                until the store answers again.
            evaluation: `first_block`, or `all`: then a block does not end the chain.
            deadline: seconds that a check waits for each call of its store.
            cluster: whether the Redis is a Cluster; by default, what the client says.
            store: counters of this process, on purpose.
            clock: for tests: the time of the memory store.
            logger: takes warnings; `logging.getLogger("labkit_ratelimit")` where there is none.
            documents: rules in files.

        Raises:
            InvalidRules: a mistake in the name, the rules or the options. All of them, in `findings`.
            InvalidDocuments: the same, where there are documents.
            TypeError: `redis` is no client.

        """
        log = Log(name, logger)
        self._name = name
        self._documents = documents
        self._redis = None if redis is None else _redis(redis, deadline, log)
        options = {
            "on_error": on_error,
            "evaluation": evaluation,
            "redis": redis is not None,
            "cluster": is_cluster(redis) if cluster is None else cluster,
            "deadline": float(deadline),
            "store": store,
            "clock": clock,
            "documents": documents and documents.native(),
        }
        given = list(rules)
        self._core = Core(name, [written(rule) for rule in given], options, log.tell)
        if self._redis is None and type(self).check is Limiter.check:
            # Nothing is waited for: the native method is the whole of it, and saves a fifth of the time.
            self.__dict__["check"] = self._core.check
        self._given = {rule.name: rule for rule in given if isinstance(rule, Rule)}
        self._rules = self._shown()

    @classmethod
    def from_files(
        cls,
        name: str,
        available_limiters: Document | None = None,
        rate_limits: Iterable[Document] = (),
        *,
        rules: Iterable[Rule | Mapping[str, Any]] = (),
        redis: Any = None,
        strict: bool = True,
        properties: Iterable[str] = (),
        allowed_skip_rules: Iterable[str] = (),
        **options: Unpack[Options],
    ) -> Limiter:
        """Build a limiter whose rules come from documents, which `reload` reads again.

        Args:
            name: the limiter's, in the documents too.
            available_limiters: the contract: the path of a file, or a `Source`.
            rate_limits: files of rules; the earlier one wins.
            rules: default rules in code, where the contract holds none.
            redis: as of `Limiter`.
            strict: whether documents that cannot be taken raise; else that is logged, and the default rules run.
            properties: what identifiers hold, where there is no contract.
            allowed_skip_rules: which skip rules files may bring, where there is no contract.
            options: the others of `Limiter`.

        Raises:
            InvalidDocuments: with all that is wrong, each at its file, line and column.

        """
        documents = Documents(
            available_limiters=available_limiters,
            rate_limits=tuple(rate_limits),
            strict=strict,
            properties=tuple(properties),
            allowed_skip_rules=tuple(allowed_skip_rules),
        )
        return cls(name, rules, redis, documents=documents, **options)

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules in force, in the order of the chain."""
        return self._rules

    def check(self, identifier: Mapping[str, Any], cost: float = 1, context: Any = None) -> Result:
        """Count a call, and decide on it. Never raises for a store that fails.

        Args:
            identifier: property → value: `str`, `bytes`, `int`, `float`, `bool`, `None`; an `Enum` is its value;
                decimals, UUIDs, dates, times, paths and IP addresses are their text.
            cost: of this call: finite, 0 or more, kept to 6 decimal places. 0 reads the state, and writes nothing.
            context: what callables that require a parameter are given.

        Raises:
            TypeError: the identifier is no mapping; or the limiter's client is asynchronous.

        """
        answer = self._core.check(identifier, cost, context)
        return answer if type(answer) is Result else self._run(answer)

    def peek(self, identifier: Mapping[str, Any], context: Any = None) -> Result:
        """Decide on the state as it stands, for a call of cost 1, and change nothing. As `check` else."""
        answer = self._core.peek(identifier, context)
        return answer if type(answer) is Result else self._run(answer)

    def clear(self, identifier: Mapping[str, Any]) -> int:
        """Delete counter and ban of every rule for this identifier. Gives how many keys were deleted."""
        answer = self._core.clear(identifier)
        return answer if isinstance(answer, int) else self._run(answer)

    def enforce(self, identifier: Mapping[str, Any], cost: float = 1, context: Any = None) -> Result:
        """As `check`; a block raises.

        Raises:
            RateLimitExceeded: with the `result`.

        """
        return _let_through(self.check(identifier, cost, context))

    async def acheck(self, identifier: Mapping[str, Any], cost: float = 1, context: Any = None) -> Result:
        """As `check`, on an asynchronous client. Without a Redis it waits for nothing.

        Raises:
            TypeError: the identifier is no mapping; or the limiter's client is not asynchronous.

        """
        answer = self._core.check(identifier, cost, context)
        return answer if type(answer) is Result else await self._arun(answer)

    async def apeek(self, identifier: Mapping[str, Any], context: Any = None) -> Result:
        """As `peek`, on an asynchronous client."""
        answer = self._core.peek(identifier, context)
        return answer if type(answer) is Result else await self._arun(answer)

    async def aclear(self, identifier: Mapping[str, Any]) -> int:
        """As `clear`, on an asynchronous client."""
        answer = self._core.clear(identifier)
        return answer if isinstance(answer, int) else await self._arun(answer)

    async def aenforce(self, identifier: Mapping[str, Any], cost: float = 1, context: Any = None) -> Result:
        """As `enforce`, on an asynchronous client.

        Raises:
            RateLimitExceeded: with the `result`.

        """
        return _let_through(await self.acheck(identifier, cost, context))

    def reload(self, documents: Documents | None = None) -> None:
        """Load documents: those that it was built with, as they are now, or others. A mistake changes nothing.

        Raises:
            InvalidDocuments: with all that is wrong; it is logged too.
            ValueError: there are none.

        """
        chosen = documents or self._documents
        if chosen is None:
            raise ValueError("this limiter has no documents: build it with some, or give them")
        self._core.reload(chosen.native())
        self._documents = chosen
        self._rules = self._shown()

    def metrics(self) -> list[Sample]:
        """Counters and gauges, as they stand."""
        return [Sample(*sample) for sample in self._core.metrics()]

    def close_circuit(self) -> None:
        """Ask a store again that kept failing, without waiting for the pause to end."""
        self._core.close_circuit()

    def __repr__(self) -> str:
        return f"Limiter({self._name!r}, rules={[rule.name for rule in self._rules]!r})"

    def _shown(self) -> tuple[Rule, ...]:
        """Give the rules in force. One of code is the same object, unless a document has another in its place."""
        shown = [Rule(**rule) for rule in self._core.rules()]
        return tuple(self._own(rule) for rule in shown)

    def _own(self, rule: Rule) -> Rule:
        own = self._given.get(rule.name)
        return own if own and Rule(**written(own)) == rule else rule

    def _run(self, answer: Any) -> Any:
        if isinstance(self._redis, SyncRedis):
            return self._redis.run(answer)
        raise TypeError("the Redis client of this limiter is asynchronous: await acheck, apeek, aclear or aenforce")

    async def _arun(self, answer: Any) -> Any:
        if isinstance(self._redis, AsyncRedis):
            return await self._redis.run(answer)
        raise TypeError("the Redis client of this limiter is not asynchronous: call check, peek, clear or enforce")


def _redis(client: Any, deadline: float, log: Log) -> SyncRedis | AsyncRedis:
    if not callable(getattr(client, "execute_command", None)):
        raise TypeError(f"redis takes a client, which has execute_command; {client!r} has none")
    return AsyncRedis(client, log) if is_async(client) else SyncRedis(client, deadline, log)


def _let_through(result: Result) -> Result:
    if result.blocked:
        raise RateLimitExceeded(result)
    return result
