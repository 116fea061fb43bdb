"""Checks in memory: what goes in, what comes out."""

from __future__ import annotations

import copy
import datetime
import inspect
import logging
import pickle
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
from labkit_ratelimit._native import Base


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


class Refused(RateLimitExceeded):
    """A host's own."""

    def __init__(self, result: Any, door: str) -> None:
        super().__init__(result)
        self.door = door


def test_what_was_raised_is_copied_whole_and_travels_without_its_result() -> None:
    limiter = in_memory(per_ip(1), clock=ManualClock())
    exceeded = Refused([limiter.check({"ip": "1"}) for _ in range(2)][-1], "front")
    exceeded.__dict__["__notes__"] = ["at the door"]
    for copied in (copy.copy(exceeded), copy.deepcopy(exceeded), pickle.loads(pickle.dumps(exceeded))):
        assert (type(copied), str(copied), copied.__dict__["__notes__"]) == (Refused, str(exceeded), ["at the door"])
        assert (copied.retry_after, copied.door) == (60, "front")
    assert copy.deepcopy(exceeded).result is copy.copy(exceeded).result is exceeded.result
    assert not hasattr(pickle.loads(pickle.dumps(exceeded)), "result")


def test_results_are_values() -> None:
    limiter = in_memory(per_ip(5), clock=ManualClock())
    result = limiter.check({"ip": "1"})
    one = result.evaluations[0]
    assert result.evaluations[0] == one != limiter.check({"ip": "1"}).evaluations[0]
    assert one == limiter.check({"ip": "2"}).evaluations[0]
    assert {one: 1, one.info: 2}[result.evaluations[0]] == 1
    assert hash(one.info) == hash(result.info)
    assert one != result
    for value in (result, one, one.info):
        assert copy.copy(value) is copy.deepcopy(value) is value
    assert copy.deepcopy({"kept": result})["kept"] is result
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(result)


async def test_in_memory_nothing_is_awaited() -> None:
    limiter = in_memory(per_ip(1))
    assert (await limiter.acheck({"ip": "1"})).allowed
    assert (await limiter.apeek({"ip": "1"})).allowed
    with pytest.raises(RateLimitExceeded):
        await limiter.aenforce({"ip": "1"}, cost=5)
    assert await limiter.aclear({"ip": "1"}) == 1


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
    with pytest.raises(TypeError, match="execute_command; a str has none") as raised:
        Limiter("x", [per_ip()], "redis://:s3cret@localhost")
    assert "s3cret" not in str(raised.value)
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
        def check(self, identifier: Any, cost: Any = 1, context: Any = None) -> Any:
            return super().check(identifier, cost / 2, context)

    limiter = Lenient("x", [per_ip(1)], store=MemoryStore())
    assert [limiter.check({"ip": "1"}).action for _ in range(3)] == ["allow", "allow", "block"]


def test_check_is_a_method_like_any(monkeypatch: pytest.MonkeyPatch) -> None:
    limiter = in_memory(per_ip(1))
    assert str(inspect.signature(limiter.check)) == "(identifier, cost=1, context=None)"
    assert list(inspect.signature(Limiter.check).parameters) == ["self", "identifier", "cost", "context"]
    assert (limiter.check.__doc__ or "").startswith("Count a call")
    monkeypatch.setattr(Limiter, "check", lambda *_: "patched")
    assert limiter.check({"ip": "1"}) == "patched"  # type: ignore[comparison-overlap]
    with pytest.raises(RuntimeError, match="was not built"):
        Base().check({})


def test_mistakes_of_a_limiter_are_findings() -> None:
    cyclic: dict[str, Any] = {}
    cyclic["not"] = cyclic
    bad: Any
    for bad, code, path in (
        ({"on_error": None}, "option_invalid", "on_error"),
        ({"evaluation": 5}, "option_invalid", "evaluation"),
        ({"redis": _Client(), "deadline": None}, "option_invalid", "deadline"),
        ({"redis": _Client(), "deadline": 10**400}, "option_invalid", "deadline"),
        ({"redis": _Client(), "deadline": "soon"}, "option_invalid", "deadline"),
        ({"deadline": "soon"}, "option_invalid", "deadline"),
        ({"deadline": float("inf")}, "option_invalid", "deadline"),
        ({"store": object()}, "option_invalid", "store"),
        ({"store": MemoryStore}, "option_invalid", "store"),
        ({"clock": 1}, "option_invalid", "clock"),
        ({"cluster": "no"}, "option_invalid", "cluster"),
        ({"logger": "app"}, "option_invalid", "logger"),
        ({"logger": object()}, "option_invalid", "logger"),
        ({"logger": logging.Logger}, "option_invalid", "logger"),
        ({"rules": [per_ip(final="false")]}, "wrong_type", "rules[0].final"),
        ({"rules": [{"name": "r", "limit": 1, "period_s": 1, "final": 1}]}, "wrong_type", "rules[0].final"),
        ({"rules": {"name": "r"}}, "wrong_type", "rules"),
        ({"rules": "r"}, "wrong_type", "rules"),
        ({"rules": 5}, "wrong_type", "rules"),
        ({"rules": [per_ip(), "r", None]}, "wrong_type", "rules[1]"),
        ({"rules": [per_ip(match={"ip": cyclic})]}, "matcher_too_deep", "rules[0].match"),
        ({"rules": [{"name": "r", "limit": 1, "period_s": 1, "match": {"ip": cyclic}}]}, "", "rules[0].match"),
    ):
        with pytest.raises(InvalidRules) as raised:
            Limiter(**{"name": "x", "rules": [per_ip()], **bad})
        assert any(found.code == code or not code for found in raised.value.findings if found.path.startswith(path)), (
            raised.value.findings
        )


def test_a_wrong_option_is_called_by_its_class_and_not_by_its_words() -> None:
    class Store:
        def __repr__(self) -> str:
            return "s3cret"

    wrong: Any = Store()
    with pytest.raises(InvalidRules, match=r"store takes a MemoryStore, not a .*Store") as raised:
        Limiter("x", [per_ip()], store=wrong, clock=wrong)
    assert "s3cret" not in str(raised.value)
    assert [finding.path for finding in raised.value.findings] == ["store", "clock"]
    wrong = MemoryStore
    with pytest.raises(InvalidRules, match="not the class MemoryStore"):
        Limiter("x", [per_ip()], store=wrong)


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
