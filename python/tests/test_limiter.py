"""Checks in memory: what goes in, what comes out."""

from __future__ import annotations

import datetime
import decimal
import enum
import ipaddress
import pathlib
import pickle
import uuid
from collections import UserDict, defaultdict
from typing import Any

import pytest
from rules import in_memory, per_ip

from labkit_ratelimit import (
    InvalidRules,
    Limiter,
    ManualClock,
    MemoryStore,
    RateLimitExceeded,
    Rule,
)


def test_the_limit_lets_so_many_through() -> None:
    limiter = in_memory(per_ip(2))
    assert [limiter.check({"ip": "198.18.0.1"}).action for _ in range(3)] == ["allow", "allow", "block"]
    assert limiter.check({"ip": "198.18.0.2"})


def test_a_result_says_all() -> None:
    clock = ManualClock(1_700_000_000)
    limiter = in_memory(per_ip(1), clock=clock)
    limiter.check({"ip": "1"})
    clock.advance(20.5)
    result = limiter.check({"ip": "1"})
    assert (result.allowed, result.blocked, bool(result), result.matched, result.exceeded) == (
        False,
        True,
        False,
        True,
        True,
    )
    assert (result.skipped, result.warned, result.error, result.degraded) == (False,) * 4
    assert result.rule == "per_ip"
    assert result.retry_after == 39.5
    info = result.info
    assert info is not None
    assert (info.limit, info.period_s, info.count, info.remaining, info.banned) == (1, 60, 2.0, 0.0, False)
    assert (info.reset_after, info.retry_after) == (39.5, 39.5)
    assert info.reset_at == datetime.datetime.fromtimestamp(1_700_000_060, tz=datetime.timezone.utc)
    (evaluation,) = result.evaluations
    assert (evaluation.rule, evaluation.result, evaluation.exceeded) == ("per_ip", "block", True)
    assert evaluation.info == info
    assert result.headers()["Retry-After"] == "40"
    assert result.headers("ietf")["RateLimit"] == '"per_ip";r=0;t=40'
    assert evaluation.headers()["RateLimit-Name"] == "per_ip"
    assert repr(result) == (
        "Result(action='block', rule='per_ip', exceeded=True, info=Info(limit=1, period_s=60, count=2.0, "
        "remaining=0.0, reset_after=39.5, retry_after=39.5, banned=False))"
    )
    with pytest.raises(ValueError, match="gitlab or ietf"):
        result.headers("json")  # type: ignore[arg-type]


def test_nothing_matched() -> None:
    result = in_memory(per_ip(match={"ip": "1"})).check({"ip": "2"})
    assert (result.action, result.matched, result.rule, result.info, result.evaluations) == (
        "allow",
        False,
        None,
        None,
        (),
    )
    assert result.headers() == {}
    assert repr(result) == "Result(action='allow', rule=None, info=None)"


def test_peek_changes_nothing_and_clear_forgets() -> None:
    limiter = in_memory(per_ip(1, ban_for_s=600))
    assert limiter.peek({"ip": "1"}).allowed
    limiter.check({"ip": "1"}, cost=2)
    assert limiter.peek({"ip": "1"}).blocked
    assert limiter.clear({"ip": "1"}) == 2
    assert limiter.peek({"ip": "1"}).info.count == 0  # type: ignore[union-attr]


def test_enforce_raises_what_was_decided() -> None:
    limiter = in_memory(per_ip(1))
    assert limiter.enforce({"ip": "1"}).allowed
    with pytest.raises(RateLimitExceeded, match=r"^rate limit exceeded: per_ip, retry after 60 s$") as raised:
        limiter.enforce({"ip": "1"})
    assert raised.value.result.blocked
    copy = pickle.loads(pickle.dumps(raised.value))
    assert (str(copy), copy.retry_after) == (str(raised.value), raised.value.retry_after)
    assert not hasattr(copy, "result")


async def test_in_memory_nothing_is_awaited() -> None:
    limiter = in_memory(per_ip(1))
    assert (await limiter.acheck({"ip": "1"})).allowed
    assert (await limiter.apeek({"ip": "1"})).allowed
    with pytest.raises(RateLimitExceeded):
        await limiter.aenforce({"ip": "1"}, cost=5)
    assert await limiter.aclear({"ip": "1"}) == 1


class Colour(enum.Enum):
    RED = "red"
    NUMBER = 7
    DEEP = decimal.Decimal("1.50")


class Level(enum.IntEnum):
    HIGH = 3


class Name(str):
    """A string of another class."""


@pytest.mark.parametrize(
    ("value", "alike"),
    [
        (Name("a"), "a"),
        (b"caf\xc3\xa9", "café"),
        (Colour.RED, "red"),
        (Colour.NUMBER, 7),
        (Colour.DEEP, "1.50"),
        (Level.HIGH, 3),
        (True, "true"),
        (1.0, "1"),
        (-0.0, 0),
        (10**30, str(10**30)),
        (-(2**63), str(-(2**63))),
        (decimal.Decimal("0.10"), "0.10"),
        (uuid.UUID(int=7), "00000000-0000-0000-0000-000000000007"),
        (datetime.date(2026, 11, 30), "2026-11-30"),
        (datetime.datetime(2026, 11, 30, 1, 2), "2026-11-30 01:02:00"),
        (datetime.time(1, 2), "01:02:00"),
        (ipaddress.ip_address("2001:db8::1"), "2001:db8::1"),
        (pathlib.PurePosixPath("/a/b"), "/a/b"),
        (None, ""),
    ],
)
def test_values_of_one_text_count_together(value: Any, alike: Any) -> None:
    limiter = in_memory(per_ip(1))
    assert not limiter.check({"ip": value}).error
    assert limiter.check({"ip": alike}).blocked


@pytest.mark.parametrize(
    "value", [[1], (1,), {"a": 1}, {1}, float("nan"), float("inf"), object(), 1j, pytest.param(10**5000, id="huge")]
)
def test_what_cannot_be_a_value_fails_open(value: Any, caplog: pytest.LogCaptureFixture) -> None:
    result = in_memory(per_ip()).check({"ip": value, "other": 1})
    assert (result.action, result.error, result.evaluations) == ("allow", True, ())
    (record,) = caplog.records
    fields = record.__dict__["rate_limit"]
    assert (fields["class_name"], fields["identifier_keys"]) == ("BadIdentifier", ["ip", "other"])
    assert in_memory(per_ip(), on_error="block").check({"ip": value}).blocked


def test_text_that_is_no_utf8_is_told_apart() -> None:
    limiter = in_memory(per_ip(1))
    assert limiter.check({"ip": "\udcff"}).allowed
    assert limiter.check({"ip": "\udcfe"}).allowed
    assert limiter.check({"ip": "\udcff"}).blocked
    assert limiter.check({"ip": b"\xff"}).allowed


def test_what_no_rule_mentions_may_be_anything() -> None:
    class Touchy:
        def __str__(self) -> str:
            raise AssertionError("nobody asked")

    assert not in_memory(per_ip()).check({"ip": "1", "x": Touchy(), 7: "a"}).error  # type: ignore[dict-item]


def test_mappings_of_other_classes() -> None:
    limiter = in_memory(per_ip(1))
    made = defaultdict[str, str](lambda: "never")
    assert limiter.check(made).allowed
    assert not made
    assert limiter.check(UserDict({"ip": "1"})).allowed
    assert limiter.check({"ip": "1"}).blocked
    with pytest.raises(TypeError):
        limiter.check("198.18.0.1")  # type: ignore[arg-type]


def test_costs() -> None:
    limiter = in_memory(per_ip(10))
    assert limiter.check({"ip": "1"}, 2.5).info.count == 2.5  # type: ignore[union-attr]
    assert limiter.check({"ip": "1"}, cost=decimal.Decimal("0.5")).info.count == 3  # type: ignore[union-attr,arg-type]
    assert limiter.check({"ip": "1"}, cost=0).info.count == 3  # type: ignore[union-attr]
    for bad in (-1, float("nan"), float("inf"), "1", None, object()):
        assert limiter.check({"ip": "1"}, cost=bad).error  # type: ignore[arg-type]
    assert limiter.peek({"ip": "1"}).info.count == 3  # type: ignore[union-attr]


def test_every_mistake_at_once() -> None:
    with pytest.raises(InvalidRules) as raised:
        Limiter("Bad", [per_ip(0, action="refuse"), {"nam": "x"}], deadline=0, on_error="no", redis=_Client())  # type: ignore[arg-type]
    found = {(finding.code, finding.path) for finding in raised.value.findings}
    assert {
        ("limit_below_one", "rules[0].limit"),
        ("action_unknown", "rules[0].action"),
        ("unknown_field", "rules[1].nam"),
        ("name_missing", "rules[1].name"),
        ("option_invalid", "on_error"),
        ("option_invalid", "deadline"),
    } <= found
    assert all(finding.mend for finding in raised.value.findings)
    copy = pickle.loads(pickle.dumps(raised.value))
    assert copy.findings == raised.value.findings


class _Client:
    def execute_command(self, *_: Any) -> bytes:
        return b""


def test_a_store_is_one() -> None:
    with pytest.raises(InvalidRules, match="not in both"):
        Limiter("x", [per_ip()], _Client(), store=MemoryStore())
    with pytest.raises(TypeError, match="execute_command"):
        Limiter("x", [per_ip()], "redis://localhost")
    with pytest.raises(ValueError, match="1 or more"):
        MemoryStore(max_keys=0)


def test_a_store_may_be_shared() -> None:
    store = MemoryStore(max_keys=100)
    one, other = (Limiter("shared", [per_ip(1)], store=store) for _ in range(2))
    assert one.check({"ip": "1"}).allowed
    assert other.check({"ip": "1"}).blocked
    assert (len(store), store.max_keys) == (1, 100)


def test_without_a_store_it_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(2):
        Limiter("process_wide", [per_ip()])
    said = [record.getMessage() for record in caplog.records]
    assert [text for text in said if "rate_limit_memory_store" in text] == said
    assert len(said) <= 1


def test_rules_of_code_are_those_that_were_given() -> None:
    given = per_ip(match={"path": "/"})
    limiter = Limiter("x", [given, {"name": "other", "limit": 1, "period_s": 1}], store=MemoryStore())
    assert limiter.rules[0] is given
    assert limiter.rules[1] == Rule(name="other", limit=1, period_s=1)
    assert repr(limiter) == "Limiter('x', rules=['per_ip', 'other'])"


def test_a_subclass_may_have_a_check_of_its_own() -> None:
    class Lenient(Limiter):
        def check(self, identifier: Any, cost: float = 1, context: Any = None) -> Any:
            return super().check(identifier, cost / 2, context)

    limiter = Lenient("x", [per_ip(1)], store=MemoryStore())
    assert [limiter.check({"ip": "1"}).action for _ in range(3)] == ["allow", "allow", "block"]


def test_metrics() -> None:
    limiter = in_memory(per_ip(1))
    for _ in range(3):
        limiter.check({"ip": "1"})
    limiter.peek({"ip": "1"})
    series = {sample.series: sample.value for sample in limiter.metrics()}
    prefix = "gitlab_labkit_rate_limiter_"
    assert series[f'{prefix}checks_total{{action="block",error="false",matched="true",rate_limiter="tested"}}'] == 2
    assert series[f'{prefix}peeks_total{{error="false",rate_limiter="tested"}}'] == 1
    assert series[f'{prefix}limit{{rate_limiter="tested",rule="per_ip"}}'] == 1
    assert {sample.kind for sample in limiter.metrics()} == {"counter", "gauge"}
