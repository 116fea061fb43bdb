"""Rules and matchers as values."""

from __future__ import annotations

import copy
import dataclasses
import datetime
import enum
import ipaddress
import pathlib
import pickle
import re
import uuid
from decimal import Decimal
from typing import Any

import pytest
from rules import per_ip

from labkit_ratelimit import (
    Limiter,
    Marker,
    MemoryStore,
    Override,
    Rule,
    cidr,
    eq,
    ne,
    none_of,
    not_,
    nre,
    one_of,
    prefix,
    regex,
)


class Kind(enum.Enum):
    FREE = "free"


def test_frozen_and_keyword_only() -> None:
    rule = per_ip()
    with pytest.raises(dataclasses.FrozenInstanceError):
        rule.limit = 5  # type: ignore[misc]
    with pytest.raises(TypeError):
        Rule("per_ip", 5, 60)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Rule(name="per_ip", limt=5)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        rule.match["a"] = 1  # type: ignore[index]


def test_what_the_caller_changes_later_changes_no_rule() -> None:
    match, names = {"a": 1}, ["ip"]
    rule = Rule(name="r", limit=1, period_s=1, match=match, characteristics=names)
    match["b"] = 2
    names.append("b")
    assert rule == Rule(name="r", limit=1, period_s=1, match={"a": 1}, characteristics=("ip",))


def test_values_are_equal_hashed_copied_and_pickled() -> None:
    rule = per_ip(match={"path": regex("^/"), "p": re.compile("x")}, overrides=[Override(match={"a": 1}, limit=7)])
    assert hash(rule) == hash(pickle.loads(pickle.dumps(rule)))
    assert pickle.loads(pickle.dumps(rule)) == rule == copy.deepcopy(rule)
    assert dataclasses.replace(rule, limit=3).limit == 3
    assert {rule: 1}[copy.copy(rule)] == 1


@pytest.mark.parametrize(
    ("matcher", "holds", "holds_not"),
    [
        ("a", ["a"], ["b", None, 1]),
        (1, [1, 1.0], ["1", True]),
        (True, [True], [1, "true"]),
        (None, [None], ["", 0]),
        (b"\xff", [b"\xff"], ["\xff"]),
        (eq("a"), ["a"], ["b"]),
        (ne("a"), ["b", None], ["a"]),
        (regex("^a"), ["ab"], ["ba", None]),
        (nre("^a"), ["ba", None], ["ab"]),
        (one_of("a", 1, None), ["a", 1, None], ["b"]),
        (none_of("a", 1), ["b", None], ["a", 1]),
        (prefix("/api/"), ["/api/v4"], ["/web", None]),
        (cidr("10.0.0.0/8", "::1"), ["10.1.2.3", "::1", "::ffff:10.0.0.1"], ["11.0.0.1", "x", None]),
        (not_(prefix("/api/")), ["/web", None], ["/api/v4"]),
        ([regex("."), nre("^/api/")], ["/web"], ["/api/v4", None]),
        ({"one_of": ["a"]}, ["a"], ["b"]),
    ],
)
def test_matchers(matcher: object, holds: list[object], holds_not: list[object]) -> None:
    rule = Rule(name="r", limit=9, period_s=60, match={"v": matcher})  # type: ignore[dict-item]
    limiter = Limiter("x", [rule], store=MemoryStore())
    assert [limiter.check({"v": value}).matched for value in holds] == [True] * len(holds)
    assert [limiter.check({"v": value}).matched for value in holds_not] == [False] * len(holds_not)


def test_overrides() -> None:
    rule = per_ip(1, overrides=[Override(match={"plan": "pro"}, limit=3), {"match": {"plan": "max"}, "limit": 4}])
    limiter = Limiter("x", [rule], store=MemoryStore())
    limits = [limiter.peek({"plan": plan}).info.limit for plan in (None, "pro", "max")]  # type: ignore[union-attr]
    assert limits == [1, 3, 4]
    assert limiter.rules == (rule,)


def test_a_burst_is_a_number_as_a_limit_is() -> None:
    burst = Decimal(3)
    rule = per_ip(Decimal(2), algorithm="gcra", overrides=[Override(match={"plan": "pro"}, burst=burst)])
    rule = dataclasses.replace(rule, burst=burst)
    limiter = Limiter("x", [Rule(name="r", limit=2, period_s=60, algorithm="gcra", burst=burst), rule])
    assert [limiter.check({"ip": "1"}).allowed for _ in range(4)] == [True] * 3 + [False]


def test_a_marker_shows_what_documents_write() -> None:
    assert repr(regex("^a")) == "{'regex': '^a'}"


def test_nothing_within_a_rule_changes() -> None:
    words, nested = ["a"], {"one_of": ["b"]}
    rule = per_ip(match={"x": words, "y": nested, "z": Marker("one_of", words)}, overrides=[{"match": {"x": words}}])
    same = copy.deepcopy(rule)
    words.append("c")
    nested["none_of"] = ["d"]
    assert rule == same
    y: Any = rule.match["y"]
    changes: list[Any] = [
        lambda: y.update(a=1),
        lambda: y.pop("one_of"),
        lambda: y.__setitem__("one_of", 1),
        lambda: y.__ior__({"a": 1}),
        lambda: y["one_of"].append("c"),
    ]
    for change in changes:
        with pytest.raises((TypeError, AttributeError)):
            change()
    assert rule == same
    assert dataclasses.asdict(rule)["match"]["y"] == {"one_of": ("b",)}
    assert pickle.loads(pickle.dumps(rule)) == rule


def test_what_is_typed_and_what_is_taken_is_the_same() -> None:
    # mypy reads this: no line is told to be ignored.
    rule = Rule(
        name="typed",
        limit=Decimal("5"),
        period_s=lambda: Decimal("60"),
        match={
            "kind": Kind.FREE,
            "ip": ipaddress.ip_address("198.18.0.1"),
            "amount": one_of(Decimal("1.5"), uuid.UUID(int=1), pathlib.PurePosixPath("/")),
            "net": cidr(ipaddress.ip_network("198.18.0.0/15")),
        },
        overrides=[Override(match={"day": eq(datetime.date(2026, 11, 30))}, limit=Decimal("7"))],
    )
    limiter = Limiter("typed", [rule], store=MemoryStore())
    given = {"kind": "free", "ip": "198.18.0.1", "amount": Decimal("1.5"), "net": "198.18.0.9"}
    result = limiter.check(given, cost=Decimal("0.5"))
    assert result.info is not None
    assert (result.info.limit, result.info.count) == (5, 0.5)
    assert limiter.peek({**given, "day": "2026-11-30"}).info.limit == 7  # type: ignore[union-attr]
