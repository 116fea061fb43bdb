"""When things happen in a random scenario, so that a real store's few milliseconds per step decide nothing.

Every advance is 4 beyond a multiple of 100 s. So two steps with n advances between them lie 4·n apart, modulo 100.

- Windows and bans start at a step and last a number of seconds that is 2 beyond a multiple of 4: no step comes within 2 s of their end.
- A GCRA cell moves by cost × emission interval, here always a multiple of 100 s. So where it fills or admits one more lies a multiple of
  100 s from some step: a step after an advance stays 4 s away, and one without an advance between is exactly at the boundary, on the
  side of it that passing time does not change.

`keeps_away` checks this on a finished scenario, by what the scenario holds and not by how it was made.
"""

from collections.abc import Iterator
from fractions import Fraction
from random import Random
from typing import Any

from generator.rule_lists import rules_of
from judge.scenario import walk

MARGIN_S = 1
ADVANCES = (4, 4, 104, 104, 204, 604, 1204, 3604, 12004, 86404)
MAX_ADVANCES = 24
PERIODS = (6, 10, 62, 62, 302, 602, 3602, 86402)
BANS = (6, 30, 62, 302, 1802, 7202)
GCRA_PERIODS = (12000, 12000, 24000)
GCRA_LIMITS = (1, 2, 2, 3, 3, 4, 5, 6, 10, 12, 20, 60)
GCRA_UNIT_S = 100
GCRA_COSTS = (0, 0.5, 1, 1.5, 2, 2.5, 3, 1000000000)


def advance(random: Random) -> int:
    """Out: seconds to let pass."""
    return random.choice(ADVANCES)


def keeps_away(scenario: dict[str, Any]) -> bool:
    """In: a scenario's JSON. Out: whether every step is at least MARGIN_S from every boundary it could have, on any store."""
    times = [Fraction(0)]
    for step in scenario.get("steps", []):
        if "advance" in step:
            times.append(times[-1] + Fraction(step["advance"]))
    spans = set(_spans(scenario))
    for earlier in times:
        for later in times:
            if any(abs(earlier + span - later) < MARGIN_S for span in spans):
                return False
    return not _uses_gcra(scenario) or _gcra_keeps_away(scenario, times)


def _spans(scenario: dict[str, Any]) -> Iterator[Fraction]:
    """Every length that a window or a ban may have: numbers of rules, of overrides, and what callables may return."""
    for path, node in walk(scenario):
        field = path.rsplit(".", 1)[-1].split("[")[0]
        if isinstance(node, int | float) and not isinstance(node, bool):
            number = Fraction(int(node)) if abs(node) < 2**32 else Fraction(0)
        elif isinstance(node, dict) and field in ("period_s", "ban_for_s"):
            number = Fraction(int(node.get("default") or 0))
        else:
            continue
        if number >= 1 and (field in ("period_s", "ban_for_s") or field.startswith(("period_", "ban_"))):
            yield number


def _uses_gcra(scenario: dict[str, Any]) -> bool:
    return any(rule.get("algorithm") == "gcra" for rule in rules_of(scenario))


def _gcra_keeps_away(scenario: dict[str, Any], times: list[Fraction]) -> bool:
    costs = {Fraction(step["cost"]) for step in scenario.get("steps", []) if "check" in step and isinstance(step.get("cost", {}), int | float)}
    costs = {cost for cost in costs if 0 <= cost < 1000} | {Fraction(1)}
    for rule in rules_of(scenario):
        if rule.get("algorithm") != "gcra":
            continue
        periods = set(_numbers(rule, "period_s", scenario))
        limits = set(_numbers(rule, "limit", scenario))
        if any(cost * period / limit % GCRA_UNIT_S for cost in costs for period in periods for limit in limits):
            return False
    return all(MARGIN_S <= (later - earlier) % GCRA_UNIT_S <= GCRA_UNIT_S - MARGIN_S for n, later in enumerate(times) for earlier in times[:n])


def _numbers(rule: dict[str, Any], field: str, scenario: dict[str, Any]) -> Iterator[Fraction]:
    for holder in (rule, *rule.get("overrides", [])):
        value = holder.get(field)
        values = [value]
        if isinstance(value, dict) and "context" in value:
            values = [value.get("default"), *(step.get("context", {}).get(value["context"]) for step in scenario.get("steps", []))]
        for number in values:
            # What is no number or out of range is a failure or refuses everything: it moves no cell.
            if isinstance(number, int | float) and 1 <= number < 2**32:
                yield Fraction(int(number))
