"""The native half: what `bindings/python` defines."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Generic, Literal, TypeVar, final

from typing_extensions import Self, disjoint_base

from labkit_ratelimit._log import LogFields
from labkit_ratelimit.rule import Cost

__all__ = ["VERSION", "Base", "Call", "Core", "Evaluation", "Info", "ManualClock", "MemoryStore", "Result"]

_AnswerT = TypeVar("_AnswerT")

VERSION: str
"""The version of the library that this is."""

@final
class ManualClock:
    """A clock that stands still until it is told to go on, for tests of what counts in memory."""

    def __new__(cls, unix_seconds: int = 1_700_000_000) -> Self: ...
    def advance(self, seconds: float) -> None:
        """Move it, to the microsecond; back where `seconds` is negative."""
    def now_us(self) -> int:
        """Microseconds since 1970."""

@final
class MemoryStore:
    """Counters of this process: of one limiter, or shared by some. Those of `max_keys` that wait longest go first."""

    def __new__(cls, *, max_keys: int = ...) -> Self: ...
    @property
    def max_keys(self) -> int: ...
    def __len__(self) -> int: ...

@final
class Info:
    """The numbers behind one evaluation. Equal to the same numbers; a copy is itself."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: object, /) -> Self: ...
    @property
    def limit(self) -> int:
        """What the limit was for this call."""
    @property
    def period_s(self) -> int:
        """The window, in seconds."""
    @property
    def count(self) -> float:
        """What was counted, this call included."""
    @property
    def remaining(self) -> float:
        """What is left, within 0 and the limit (GCRA: the burst)."""
    @property
    def reset_at(self) -> datetime:
        """When the window, or the ban, ends; in UTC."""
    @property
    def reset_after(self) -> float:
        """Seconds until then."""
    @property
    def retry_after(self) -> float | None:
        """Seconds until this call could pass; `None` where nothing is refused, or no wait helps."""
    @property
    def banned(self) -> bool:
        """A ban is in force."""

@final
class Evaluation:
    """What one counting rule said. Equal to one that says the same; a copy is itself."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: object, /) -> Self: ...
    @property
    def rule(self) -> str:
        """The rule's name."""
    @property
    def result(self) -> Literal["allow", "block", "warn", "log", "banned"]:
        """What came of it."""
    @property
    def exceeded(self) -> bool:
        """The rule is over."""
    @property
    def info(self) -> Info:
        """The numbers behind it."""
    def headers(self, format: Literal["gitlab", "ietf"] = "gitlab") -> dict[str, str]:
        """Give the HTTP fields of this evaluation, a `log` rule's too."""

@final
class Result:
    """What a check, or a peek, came to. True where the call may go on.

    It never changes, so that a copy of it is itself. It stays in its process: it cannot be pickled.
    """

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: object, /) -> Self: ...
    @property
    def action(self) -> Literal["allow", "block"]:
        """Whether the call may go on."""
    @property
    def allowed(self) -> bool:
        """The call may go on."""
    @property
    def blocked(self) -> bool:
        """The call may not go on."""
    @property
    def matched(self) -> bool:
        """Some rule matched."""
    @property
    def exceeded(self) -> bool:
        """The reported rule is over."""
    @property
    def skipped(self) -> bool:
        """A `skip` rule ended the chain."""
    @property
    def warned(self) -> bool:
        """A `warn` rule is over."""
    @property
    def error(self) -> bool:
        """There is no verdict: `action` is what the limiter's `on_error` says."""
    @property
    def degraded(self) -> bool:
        """There is a verdict, but not the whole one."""
    @property
    def rule(self) -> str | None:
        """The reported rule's name: the first block, else the skip that ended the chain, else the most constraining."""
    @property
    def info(self) -> Info | None:
        """The numbers of the reported rule; `None` where a skip is reported, on no match and on failure."""
    @property
    def evaluations(self) -> tuple[Evaluation, ...]:
        """Every counting rule that was evaluated, in order; none on failure."""
    @property
    def retry_after(self) -> float | None:
        """Seconds until this call could pass; `None` where nothing blocks, or no wait helps."""
    def headers(self, format: Literal["gitlab", "ietf"] = "gitlab") -> dict[str, str]:
        """Give the HTTP fields of the most constraining evaluation that is not of a `log` rule.

        `gitlab`: `RateLimit-Name`, `-Limit`, `-Observed`, `-Remaining`, `-Reset`, and of a block `Retry-After` and
        `RateLimit-ResetTime`. `ietf`: the fields of draft-ietf-httpapi-ratelimit-headers-11.

        Raises:
            ValueError: there is no such format.

        """
    def __bool__(self) -> bool: ...

@final
class Call(Generic[_AnswerT]):
    """A script call that waits to be run: once, and settled once."""

    def evalsha(self) -> tuple[str | bytes | int, ...]: ...
    def eval(self) -> tuple[str | bytes | int, ...]: ...
    @property
    def deadline(self) -> float: ...
    def settle(self, reply: object, /) -> _AnswerT | Call[_AnswerT]: ...
    def fail(self, class_name: str, message: str, /) -> _AnswerT | Call[_AnswerT]: ...
    def late(self) -> _AnswerT | Call[_AnswerT]: ...
    def unsent(self, class_name: str | None = None, message: str = "", /) -> _AnswerT | Call[_AnswerT]: ...
    def abandon(self, class_name: str, message: str, waited_s: float | None = None, /) -> None: ...

@final
class Core:
    """A limiter of the library."""

    def __new__(
        cls,
        name: str,
        rules: object,
        options: dict[str, Any],
        tell: Callable[[str, LogFields], None],
    ) -> Self: ...
    def check(
        self, identifier: Mapping[str, Any], cost: Cost = ..., context: object = None
    ) -> Result | Call[Result]: ...
    def peek(self, identifier: Mapping[str, Any], context: object = None) -> Result | Call[Result]: ...
    def clear(self, identifier: Mapping[str, Any], /) -> int | Call[int]: ...
    def rules(self) -> list[dict[str, Any]]: ...
    def reload(self, documents: dict[str, Any]) -> None: ...
    def close_circuit(self) -> None: ...
    def metrics(self) -> list[tuple[str, Literal["counter", "gauge"], dict[str, str], int]]: ...

@disjoint_base
class Base:
    """What a limiter inherits, so that a check in memory is one step."""

    def __new__(cls, *_words: Any, **_options: Any) -> Self: ...
    def _start(self, core: Core, /) -> None: ...
    def check(self, identifier: Mapping[str, Any], cost: Cost = 1, context: Any = None) -> Result:
        """Count a call, and decide on it. Never raises for a store that fails.

        Args:
            identifier: property → value: `str`, `bytes`, `int`, `float`, `bool`, `None`; an `Enum` is its value;
                decimals, UUIDs, dates, times, paths and IP addresses are their text. Of a mapping that is no plain
                `dict` only what rules mention is looked up.
            cost: of this call: finite, 0 or more, kept to 6 decimal places. 0 reads the state, and writes nothing.
            context: what callables that require a parameter are given.

        Raises:
            TypeError: the identifier is no mapping; or the limiter's client is asynchronous.

        """
