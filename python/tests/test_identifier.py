"""What identifies a call, and what it costs: values of Python's classes."""

from __future__ import annotations

import datetime
import decimal
import enum
import ipaddress
import numbers
import pathlib
import uuid
from collections import ChainMap, UserDict, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from rules import in_memory, per_ip

from labkit_ratelimit import Limiter, Rule


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


class Lists(dict[str, list[str]]):
    """Gives the last of each list, as the query of a web framework does."""

    def __getitem__(self, name: str) -> Any:
        return super().__getitem__(name)[-1]


class Lazy(Mapping[str, Any]):
    """Works out what is asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __getitem__(self, name: str) -> Any:
        self.asked.append(name)
        if name == "gone":
            raise KeyError(name)
        if name == "broken":
            raise RuntimeError("a secret")
        if name == "stopped":
            raise KeyboardInterrupt
        return "1"

    def __iter__(self) -> Iterator[str]:
        return iter(["broken", "ip"])

    def __len__(self) -> int:
        return 2


def test_a_dict_that_looks_up_in_its_own_way() -> None:
    limiter = in_memory(per_ip(1))
    assert not limiter.check(Lists(ip=["2", "1"])).error
    assert limiter.check({"ip": "1"}).blocked
    assert limiter.check(Lists(other=["1"])).info.count == 1  # type: ignore[union-attr]


def test_of_a_mapping_only_what_rules_mention_is_asked_for(caplog: pytest.LogCaptureFixture) -> None:
    given = Lazy()
    assert in_memory(per_ip()).check(given).info.count == 1  # type: ignore[union-attr]
    assert given.asked == ["ip"]

    def by(name: str) -> Limiter:
        return in_memory(Rule(name="r", limit=1, period_s=60, characteristics=[name]))

    assert not by("gone").check(given).error
    assert by("broken").check(given).error
    fields = caplog.records[-1].__dict__["rate_limit"]
    assert (fields["class_name"], fields["identifier_keys"]) == ("BadIdentifier", ["broken", "ip"])
    assert "secret" not in caplog.text
    with pytest.raises(KeyboardInterrupt):
        by("stopped").check(given)
    assert by("gone").check(ChainMap({"a": "1"})).info.count == 1  # type: ignore[union-attr]
    assert by("gone").clear(given) == 0


def test_no_default_is_made_up() -> None:
    class Made(UserDict[str, str]):
        def __missing__(self, name: str) -> str:
            raise AssertionError("nobody asked")

    assert not in_memory(per_ip()).check(Made(a="1")).error


@numbers.Integral.register
class Int64:
    """An integer of another library."""

    def __int__(self) -> int:
        return 7

    def __floordiv__(self, _: int) -> int:
        return 7

    def __eq__(self, other: object) -> bool:
        return other == 7

    def __hash__(self) -> int:
        return 7


@numbers.Real.register
class Float32:
    """A float of fewer bits."""

    def __str__(self) -> str:
        return "0.1"


def test_numbers_of_other_libraries() -> None:
    limiter = in_memory(per_ip(100))
    assert limiter.check({"ip": Int64()}, cost=Int64()).info.count == 7  # type: ignore[union-attr,arg-type]
    assert limiter.check({"ip": 7}).info.count == 8  # type: ignore[union-attr]
    limiter.check({"ip": Float32()})
    assert limiter.check({"ip": 0.1}).info.count == 2  # type: ignore[union-attr]


def test_costs() -> None:
    limiter = in_memory(per_ip(10))
    assert limiter.check({"ip": "1"}, 2.5).info.count == 2.5  # type: ignore[union-attr]
    assert limiter.check({"ip": "1"}, cost=decimal.Decimal("0.5")).info.count == 3  # type: ignore[union-attr]
    assert limiter.check({"ip": "1"}, cost=0).info.count == 3  # type: ignore[union-attr]
    for bad in (-1, float("nan"), float("inf"), "1", None, object(), True):
        assert limiter.check({"ip": "1"}, cost=bad).error  # type: ignore[arg-type]
    assert limiter.peek({"ip": "1"}).info.count == 3  # type: ignore[union-attr]
