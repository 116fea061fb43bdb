"""Callables and pattern objects: what rules ask of Python."""

from __future__ import annotations

import functools
import gc
import operator
import re
import subprocess
import sys
import weakref
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from rules import in_memory, per_ip

from labkit_ratelimit import InvalidRules, Limiter, MemoryStore, Rule, not_


def limit_of(limiter: Limiter, context: Any = None) -> Any:
    info = limiter.check({"ip": "1"}, context=context).info
    return info and info.limit


def test_one_that_requires_a_parameter_gets_the_context() -> None:
    class Plans:
        def limit(self, context: Any) -> int:
            return int(context["limit"])

        def __call__(self, context: Any) -> int:
            return int(context["limit"])

    for asked in (lambda context: context["limit"], Plans().limit, Plans()):
        assert limit_of(in_memory(per_ip(asked)), {"limit": 7}) == 7


def test_others_get_nothing() -> None:
    def defaulted(context: Any = 3) -> Any:
        return context

    assert limit_of(in_memory(per_ip(lambda: 5)), {"limit": 7}) == 5
    assert limit_of(in_memory(per_ip(defaulted)), {"limit": 7}) == 3
    assert limit_of(in_memory(per_ip(lambda *_: 4)), {"limit": 7}) == 4
    assert limit_of(in_memory(per_ip(int)), 1) == 0


@pytest.mark.parametrize(
    ("given", "limit"), [(7.9, 7), (Decimal("7.9"), 7), (Fraction(15, 2), 7), (0, 0), (-1, 0), (2**64 - 1, 2**64 - 1)]
)
def test_numbers(given: Any, limit: int) -> None:
    assert limit_of(in_memory(per_ip(lambda: given))) == limit


@pytest.mark.parametrize("given", ["7", None, True, 1j, float("nan"), 2**64, 10**60, [1]])
def test_what_is_no_number_fails_the_rule(given: Any, caplog: pytest.LogCaptureFixture) -> None:
    assert in_memory(per_ip(lambda: given)).check({"ip": "1"}).error
    assert caplog.records[0].__dict__["rate_limit"]["rule"] == "per_ip"


def test_an_exception_is_the_rules_failure(caplog: pytest.LogCaptureFixture) -> None:
    def fails() -> int:
        raise LookupError("no plan")

    result = in_memory(per_ip(fails)).check({"ip": "1"})
    assert (result.action, result.error) == ("allow", True)
    fields = caplog.records[0].__dict__["rate_limit"]
    assert (fields["rule"], fields["class_name"], fields["error_message"]) == ("per_ip", "LookupError", "no plan")
    assert caplog.records[0].getMessage().startswith("rate_limit_error name=tested")


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_is_no_exception_passes_and_nothing_is_counted(raised: type[BaseException]) -> None:
    asked = iter([raised, None])

    def limit() -> int:
        if (error := next(asked, None)) is not None:
            raise error
        return 5

    counted = Rule(name="first", limit=5, period_s=60)
    limiter = in_memory(counted, per_ip(limit))
    with pytest.raises(raised):
        limiter.check({"ip": "1"})
    assert [one.info.count for one in limiter.check({"ip": "1"}).evaluations] == [1, 1]


def test_a_coroutine_function_is_a_mistake() -> None:
    async def limit() -> int:
        return 1

    with pytest.raises((InvalidRules, TypeError)):
        in_memory(per_ip(limit))


def test_a_check_inside_of_a_check() -> None:
    limiter: Limiter

    def limit() -> int:
        return 5 if limiter.check({"ip": "inner"}, context=None).rule else 1

    inner = in_memory(per_ip(9))
    limiter = inner
    assert limit_of(in_memory(per_ip(limit))) == 5


def test_a_callable_that_knows_its_limiter_is_collected() -> None:
    class Owner:
        def __init__(self) -> None:
            self.limiter = Limiter("x", [per_ip(self.limit)], store=MemoryStore())

        def limit(self) -> int:
            return 1

    owner = Owner()
    known = weakref.ref(owner)
    del owner
    gc.collect()
    assert known() is None


def matches(pattern: Any, text: Any) -> bool:
    return in_memory(per_ip(match={"path": pattern})).check({"path": text}).matched


def test_a_pattern_keeps_its_meaning() -> None:
    # Found anywhere; `$` is before a last line end too; flags, look-around and back-references are Python's.
    assert matches(re.compile("b+c"), "abbc")
    assert matches(re.compile("c$"), "abc\n")
    assert not matches({"regex": "c$"}, "abc\n")
    assert matches(re.compile("ABC", re.IGNORECASE), "xabc")
    assert matches(re.compile(r"(a)(?=b)b\b"), "ab")
    assert matches(re.compile(r"(.)\1"), "aa")
    assert matches(re.compile("^42$"), 42)
    assert matches(re.compile("^$"), None)
    assert matches(re.compile(rb"\xc3\xa9"), "é")
    assert matches(not_(re.compile("^/api")), "/web")
    assert not matches([re.compile("^/api"), {"regex": "v4$"}], "/api/v5")


def test_a_pattern_that_fails_fails_its_rule() -> None:
    class Slow:
        pattern = "x"

        def search(self, text: str) -> bool:
            raise TimeoutError(f"too slow for {text}")

    rule = per_ip(match={"path": Slow()})
    assert in_memory(rule).check({"path": "x"}).error
    assert not in_memory(Rule(name="s", action="skip"), rule).check({"path": "x"}).error


def test_what_takes_an_object_gets_the_context() -> None:
    assert limit_of(in_memory(per_ip(operator.itemgetter("limit"))), {"limit": 7}) == 7
    assert limit_of(in_memory(per_ip(operator.attrgetter("real"))), 8) == 8
    assert limit_of(in_memory(per_ip(operator.methodcaller("get", "limit"))), {"limit": 9}) == 9


def test_what_gives_a_coroutine_is_a_mistake_as_soon_as_that_is_seen(caplog: pytest.LogCaptureFixture) -> None:
    async def limit() -> int:
        return 1

    class Asked:
        async def __call__(self) -> int:
            return 1

    for asked in (Asked(), functools.partial(limit)):
        with pytest.raises(TypeError, match="waits for no coroutine"):
            in_memory(per_ip(asked))
    assert in_memory(per_ip(lambda: limit())).check({"ip": "1"}).error
    assert "waits for no coroutine" in caplog.text


def test_one_that_asks_its_own_limiter_comes_to_an_end(caplog: pytest.LogCaptureFixture) -> None:
    def limit() -> int:
        return 5 if limiter.check({"ip": "1"}).rule else 1

    class Deep:
        pattern = "x"

        def search(self, text: str) -> bool:
            return limiter.check({"ip": text}).matched

    limiter = in_memory(per_ip(limit))
    assert limiter.check({"ip": "1"}).matched
    assert caplog.records[0].__dict__["rate_limit"]["class_name"] == "RecursionError"
    limiter = in_memory(per_ip(match={"ip": Deep()}))
    assert limiter.check({"ip": "1"}).error is False


SMALL_STACK = """
import threading
from labkit_ratelimit import Limiter, MemoryStore, Rule


class Deep:
    pattern = "x"

    def search(self, text):
        return limiter.check({"ip": text}).matched


def limit():
    return 5 if limiter.check({"ip": "1"}).rule else 1


def ask():
    global limiter
    for rule in ({"limit": limit}, {"limit": 3, "match": {"ip": Deep()}}):
        limiter = Limiter("x", [Rule(name="r", period_s=60, characteristics=["ip"], **rule)], store=MemoryStore())
        limiter.check({"ip": "1"})
    print("ended")


threading.stack_size(256 * 1024)
thread = threading.Thread(target=ask)
thread.start()
thread.join()
"""


def test_it_comes_to_an_end_on_a_small_stack_too() -> None:
    ran = subprocess.run([sys.executable, "-c", SMALL_STACK], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "ended\n"), ran.stderr
