"""Random scenarios without expectations; one seed, one scenario, for ever."""

from random import Random
from typing import Any

from generator import documents, grid, identifiers, rules

COSTS: tuple[Any, ...] = (0, 0.1, 0.5, 1, 1.5, 2, 3, 0.333333, 0.1234567, 1e-7, 0.0000005, 1000000, 1e15)
BAD_COSTS: tuple[Any, ...] = (-1, -0.000001, {"$float": "nan"}, {"$float": "inf"})
STEPS = ("check",) * 12 + ("peek",) * 3 + ("advance",) * 3 + ("headers",) * 2 + ("clear", "logs", "metrics")


def scenario(seed: int) -> dict[str, Any]:
    """In: a seed. Out: its scenario; on real stores nothing in it depends on how fast it runs."""
    random = Random(seed)
    while not grid.keeps_away(made := _draw(random, seed)):
        pass
    return documents.dressed(made, seed)


def _draw(random: Random, seed: int) -> dict[str, Any]:
    made: dict[str, Any] = {"name": f"random_{seed}", "limiter": f"random_{seed}"}
    if random.random() < 0.04:
        made["rules"], code = rules.broken(random)
        return {**made, "expect_build_error": {"code": code}}
    made["rules"] = rules.chain(random)
    options = {}
    if random.random() < 0.35:
        options["evaluation"] = random.choice(("all", "all", "first_block"))
    if random.random() < 0.25:
        options["on_error"] = random.choice(("allow", "block", "local"))
    if options:
        made["options"] = options
    return {**made, "steps": _steps(random, made["rules"])}


def _steps(random: Random, chain: list[dict[str, Any]]) -> list[dict[str, Any]]:
    gcra = any(rule.get("algorithm") == "gcra" for rule in chain)
    people = identifiers.callers(random)
    steps: list[dict[str, Any]] = []
    advances = 0
    for _ in range(random.randint(6, 24)):
        kind = random.choice(STEPS)
        person = random.choice(people)
        if random.random() < 0.1:
            person = identifiers.changed(random, person)
        if kind == "advance" and advances < grid.MAX_ADVANCES:
            advances += 1
            steps.append({"advance": grid.advance(random)})
        elif kind == "headers" and any("check" in step or "peek" in step for step in steps):
            steps.append({"headers": random.choice(({}, {}, {"format": "ietf"}))})
        elif kind == "clear":
            steps.append({"clear": person})
        elif kind in ("logs", "metrics"):
            steps.append({kind: True})
        elif kind == "peek":
            steps.append(_with_context(random, {"peek": person}, chain))
        else:
            step: dict[str, Any] = {"check": person}
            if random.random() < 0.35:
                costs = BAD_COSTS if random.random() < 0.1 else grid.GCRA_COSTS if gcra else COSTS
                step["cost"] = random.choice(costs)
            steps.append(_with_context(random, step, chain))
    return [*steps, {"logs": True}, {"metrics": True}]


def _with_context(random: Random, step: dict[str, Any], chain: list[dict[str, Any]]) -> dict[str, Any]:
    context = rules.context(random, chain)
    return {**step, "context": context} if context else step
