"""Makes a scenario that shows a difference smaller, as long as it still shows one."""

import time
from collections.abc import Callable, Iterator
from typing import Any

from generator.rule_lists import Place, replaced, rule_lists

BUDGET_S = 60
DROPPABLE = ("match", "overrides", "ban_for_s", "burst", "final", "context", "cost")


def shrink(scenario: dict[str, Any], differs: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """In: a scenario, and whether another one still shows the difference. Out: the smallest that was found in BUDGET_S."""
    deadline = time.monotonic() + BUDGET_S
    progress = True
    while progress:
        progress = False
        for smaller in _smaller(scenario):
            if time.monotonic() > deadline:
                return scenario
            if differs(smaller):
                scenario, progress = smaller, True
                break
    return scenario


def _smaller(scenario: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Half of the steps first, then steps from the last one on, rules, options and files, and parts of either."""
    steps = scenario.get("steps", [])
    for cut in (len(steps) // 2, len(steps) * 3 // 4):
        if 0 < cut < len(steps):
            yield {**scenario, "steps": steps[:cut]}
    chains: list[tuple[Place, list[dict[str, Any]]]] = list(rule_lists(scenario))
    files = [(("rate_limits",), scenario["rate_limits"])] if "rate_limits" in scenario else []
    for place, items in [(("steps",), steps), *chains, *files]:
        for index in reversed(range(len(items)) if len(items) > 1 else ()):
            yield replaced(scenario, place, items[:index] + items[index + 1 :])
    for field in ("options", "rate_limits"):
        if field in scenario:
            yield {key: value for key, value in scenario.items() if key != field}
    for place, items in [*chains, (("steps",), steps)]:
        for index, item in enumerate(items):
            for name in item.keys() & set(DROPPABLE):
                smaller = {key: value for key, value in item.items() if key != name}
                yield replaced(scenario, (*place, index), smaller)
