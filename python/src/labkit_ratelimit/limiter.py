"""Limiters."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypedDict, cast

from labkit_ratelimit._async_redis import AsyncRedis
from labkit_ratelimit._clients import is_async, is_cluster, no_client
from labkit_ratelimit._log import Log
from labkit_ratelimit._native import Base, Core, Result
from labkit_ratelimit._sync_redis import SyncRedis
from labkit_ratelimit.documents import Documents
from labkit_ratelimit.errors import RateLimitExceeded
from labkit_ratelimit.metrics import Sample
from labkit_ratelimit.rule import Cost, Rule, written

if TYPE_CHECKING:
    import logging

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


class Limiter(Base):
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
                `acheck` and its like. What is like one has `execute_command`, `async def` where it is awaited. Without
                one, counters live in this process, and a line in the log says so.
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
            TypeError: `redis` is no client: a class, a pipeline, a URL.

        """
        log = Log(name, logger)
        self._name = name
        self._documents = documents
        self._redis = None if redis is None else _redis(redis, log)
        options = {
            "on_error": on_error,
            "evaluation": evaluation,
            "redis": redis is not None,
            "cluster": is_cluster(redis) if cluster is None else cluster,
            "deadline": deadline,
            "store": store,
            "clock": clock,
            "logger": logger,
            # What is none is a mistake, as another store.
            "documents": documents.native() if isinstance(documents, Documents) else documents,
        }
        # What is no list of rules is a mistake, which is found with all others.
        given = _listed(rules)
        native = given if given is None else [written(rule) for rule in given]
        self._core = Core(name, rules if native is None else native, options, log.tell)
        # `check` is of the native half: where nothing is waited for that is the whole of it.
        self._start(self._core)
        self._given = {rule.name: rule for rule in given or () if isinstance(rule, Rule)}
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
            TypeError: what is given is no document, or no list of them.

        """
        documents = Documents(
            available_limiters=available_limiters,
            rate_limits=rate_limits,
            strict=strict,
            properties=properties,
            allowed_skip_rules=allowed_skip_rules,
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

    def peek(self, identifier: Mapping[str, Any], context: Any = None) -> Result:
        """Decide on the state as it stands, for a call of cost 1, and change nothing. As `check` else."""
        answer = self._core.peek(identifier, context)
        return answer if type(answer) is Result else self._run(answer)

    def clear(self, identifier: Mapping[str, Any]) -> int:
        """Delete counter and ban of every rule for this identifier. Gives how many keys were deleted."""
        answer = self._core.clear(identifier)
        return answer if isinstance(answer, int) else self._run(answer)

    def enforce(self, identifier: Mapping[str, Any], cost: Cost = 1, context: Any = None) -> Result:
        """As `check`; a block raises.

        Raises:
            RateLimitExceeded: with the `result`.

        """
        return _let_through(self.check(identifier, cost, context))

    async def acheck(self, identifier: Mapping[str, Any], cost: Cost = 1, context: Any = None) -> Result:
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

    async def aenforce(self, identifier: Mapping[str, Any], cost: Cost = 1, context: Any = None) -> Result:
        """As `enforce`, on an asynchronous client.

        Raises:
            RateLimitExceeded: with the `result`.

        """
        return _let_through(await self.acheck(identifier, cost, context))

    def reload(self, documents: Documents | None = None) -> None:
        """Load documents: those that it was built with, as they are now, or others. A mistake changes nothing.

        Raises:
            InvalidDocuments: with all that is wrong; it is logged too.
            TypeError: they are no `Documents`.
            ValueError: there are none.

        """
        chosen = self._documents if documents is None else documents
        if chosen is None:
            raise ValueError("this limiter has no documents: build it with some, or give them")
        if not isinstance(cast("object", chosen), Documents):
            kind = type(chosen).__qualname__
            raise TypeError(f"reload takes Documents, not a {kind}: Documents(rate_limits=[…]) takes paths and sources")
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
        raise TypeError(_AWAITED)

    async def _arun(self, answer: Any) -> Any:
        if isinstance(self._redis, AsyncRedis):
            return await self._redis.run(answer)
        raise TypeError(_CALLED)


_AWAITED = "the Redis client of this limiter is asynchronous: await acheck, apeek, aclear or aenforce"
_CALLED = (
    "the Redis client of this limiter is not asynchronous: call check, peek, clear or enforce "
    "(a wrapper that is awaited has `async def execute_command`)"
)


def usable(limiter: Limiter, *, awaited: bool) -> None:
    """Raise where a middleware is built, not at each request.

    Raises:
        TypeError: it is no limiter, or the other half of it is what its client serves.

    """
    name = "acheck" if awaited else "check"
    if not callable(getattr(limiter, name, None)):
        kind = type(limiter).__qualname__
        raise TypeError(f"limiter takes a Limiter, which has {name}; a {kind} has none")
    # One of the host's own may do what it likes.
    if getattr(type(limiter), name, None) is not getattr(Limiter, name):
        return
    if isinstance(getattr(limiter, "_redis", None), SyncRedis if awaited else AsyncRedis):
        wanted = "an asynchronous client, as of redis.asyncio," if awaited else "a client that is not asynchronous"
        raise TypeError(f"{_CALLED if awaited else _AWAITED}. Here it takes {wanted} or none")


def _listed(rules: Any) -> list[Any] | None:
    """Give them as a list; nothing, where they are no list of rules."""
    is_list = isinstance(rules, Iterable) and not isinstance(rules, (str, bytes, Mapping))
    return list(cast("Any", rules)) if is_list else None


def _redis(client: Any, log: Log) -> SyncRedis | AsyncRedis:
    why = no_client(client)
    if why is not None:
        raise TypeError(f"redis takes a client, {why}")
    # Else the first connect imports it: a child that was forked meanwhile would wait for that import for ever.
    codecs.lookup("idna")
    return AsyncRedis(client, log) if is_async(client) else SyncRedis(client, log)


def _let_through(result: Result) -> Result:
    if result.blocked:
        raise RateLimitExceeded(result)
    return result
