"""Where two plays of one scenario differ: whole results, with the tolerances of the conformance contract.

Beyond them, GCRA counts of two languages on the same real store are compared too: to what drains in the second that times may differ by.
"""

from collections.abc import Iterator
from typing import Any

from judge.compare import ABSENT, Comparison, Mismatch, equal, shown
from judge.scenario import Scenario, op_of
from judge.transcript import Played

OWN_WORDS = {"class_name", "error_message"}
"""Log fields that each language fills in its own words."""


def between(scenario: Scenario, left: Played, right: Played, stores: tuple[str, str]) -> list[str]:
    """In: a scenario, two plays of it, and the store of each. Out: the differences, as text."""
    found = [f"build: {_text(mismatch)}" for mismatch in equal("", left.build, right.build)]
    if len(left.steps) != len(right.steps):
        found.append(f"{len(left.steps)} steps against {len(right.steps)}")
    comparison, same_store = Comparison(stores == ("memory", "memory"), scenario.gcra_rules), stores[0] == stores[1]
    for index, (step, one, other) in enumerate(zip(scenario.steps, left.steps, right.steps, strict=False)):
        found += [f"step {index} ({op_of(step)}) {_text(mismatch)}" for mismatch in _step(comparison, same_store, op_of(step), one, other)]
    return found


def _step(comparison: Comparison, same_store: bool, op: str, left: Any, right: Any) -> Iterator[Mismatch]:
    if op in ("check", "peek"):
        yield from _evaluation(comparison, same_store, "", {**left, "evaluations": None}, {**right, "evaluations": None})
        if len(left["evaluations"]) != len(right["evaluations"]):
            yield Mismatch("evaluations", left["evaluations"], right["evaluations"])
            return
        for index, (one, other) in enumerate(zip(left["evaluations"], right["evaluations"], strict=True)):
            yield from _evaluation(comparison, same_store, f"evaluations[{index}].", one, other)
    elif op == "headers":
        gcra = right.get("RateLimit-Name") in comparison.gcra
        for name in left | right:
            yield from comparison.header(name, left.get(name, ABSENT), right.get(name, ABSENT), gcra)
    elif op == "logs":
        yield from equal("", *([{k: v for k, v in entry.items() if k not in OWN_WORDS} for entry in side] for side in (left, right)))
    else:
        yield from equal("", left, right)


def _evaluation(comparison: Comparison, same_store: bool, path: str, left: dict[str, Any], right: dict[str, Any]) -> Iterator[Mismatch]:
    """A result or an entry of its evaluations: both have a rule and an info."""
    for field, value in left.items():
        if field != "info" or value is None or right["info"] is None:
            yield from equal(f"{path}{field}", value, right[field])
            continue
        gcra = right["rule"] in comparison.gcra
        drained = value["limit"] / value["period_s"] if same_store and value["period_s"] else None
        for name, held in value.items():
            yield from comparison.info_field(f"{path}info.{name}", name, held, right["info"][name], gcra, drained)


def _text(mismatch: Mismatch) -> str:
    return f"{mismatch.path or 'actual'}: {shown(mismatch.expected)} against {shown(mismatch.actual)}"
