"""Makes a scenario that shows a difference smaller, as long as it still shows one."""

import time
from collections.abc import Callable, Iterator
from typing import Any

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
    """Half of the steps first, then steps from the last one on, rules, and parts of either."""
    steps, rules = scenario.get("steps", []), scenario["rules"]
    for cut in (len(steps) // 2, len(steps) * 3 // 4):
        if 0 < cut < len(steps):
            yield {**scenario, "steps": steps[:cut]}
    for field, items in (("steps", steps), ("rules", rules)):
        for index in reversed(range(len(items)) if len(items) > 1 else ()):
            yield {**scenario, field: items[:index] + items[index + 1 :]}
    if "options" in scenario:
        yield {key: value for key, value in scenario.items() if key != "options"}
    for field, items in (("rules", rules), ("steps", steps)):
        for index, item in enumerate(items):
            for name in item.keys() & set(DROPPABLE):
                smaller = {key: value for key, value in item.items() if key != name}
                yield {**scenario, field: [*items[:index], smaller, *items[index + 1 :]]}
