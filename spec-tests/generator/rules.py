"""Random rule chains, and rules with one planted mistake."""

from random import Random
from typing import Any

from generator import grid, identifiers, matchers

ACTIONS = ("limit",) * 6 + ("warn", "log", "skip")
LIMITS = (1, 1, 2, 2, 2, 3, 3, 5, 10, 100)


def chain(random: Random) -> list[dict[str, Any]]:
    """Out: a limiter's rules, built without an error."""
    return [rule(random, f"r{index}_{random.choice(('user', 'ip', 'all'))}") for index in range(random.randint(1, 4))]


def rule(random: Random, name: str) -> dict[str, Any]:
    """In: a name. Out: a rule."""
    action = random.choice(ACTIONS)
    made: dict[str, Any] = {"name": name, "action": action, "match": matchers.match(random)}
    if action == "skip":
        # Of a skip rule only the match is read: matching everything would hide the rest of the chain.
        made["match"] = made["match"] or {"path": matchers.matcher(random, "path")}
        return made
    if not made["match"] and random.random() < 0.5:
        del made["match"]
    made["characteristics"] = random.sample(identifiers.PROPERTIES, random.choice((0, 1, 1, 1, 2)))
    kind = random.choices(("window", "gcra", "distinct"), (6, 3, 1.5))[0]
    gcra = kind == "gcra"
    made["limit"] = _number(random, "limit", grid.GCRA_LIMITS if gcra else LIMITS)
    made["period_s"] = _number(random, "period", grid.GCRA_PERIODS if gcra else grid.PERIODS)
    if gcra:
        made["algorithm"] = "gcra"
        if random.random() < 0.5:
            made["burst"] = random.randint(1, 6)
    if kind == "distinct":
        made["count_distinct"] = random.choice([p for p in identifiers.PROPERTIES if p not in made["characteristics"]])
    elif random.random() < 0.35:
        made["ban_for_s"] = _number(random, "ban", grid.BANS)
    if random.random() < 0.1:
        made["final"] = True
    if random.random() < 0.25:
        made["overrides"] = [override(random, made) for _ in range(random.randint(1, 2))]
    return made


def override(random: Random, rule: dict[str, Any]) -> dict[str, Any]:
    """In: the rule it belongs to. Out: an override, without numbers now and then."""
    gcra = rule.get("algorithm") == "gcra"
    made: dict[str, Any] = {"match": matchers.match(random)}
    if random.random() < 0.6:
        made["limit"] = random.choice(grid.GCRA_LIMITS if gcra else LIMITS)
    if random.random() < 0.3:
        made["period_s"] = random.choice(grid.GCRA_PERIODS if gcra else grid.PERIODS)
    if gcra and random.random() < 0.4:
        made["burst"] = random.randint(1, 6)
    if "count_distinct" not in rule and random.random() < 0.3:
        made["ban_for_s"] = random.choice(grid.BANS)
    return made


def context(random: Random, rules: list[dict[str, Any]]) -> dict[str, Any]:
    """In: a chain. Out: a context for its callables: numbers they may return, null, and what makes them fail."""
    made: dict[str, Any] = {}
    for rule in rules:
        for field in ("limit", "period_s", "ban_for_s"):
            named = rule.get(field)
            if not isinstance(named, dict) or "context" not in named or random.random() < 0.3:
                continue
            fraction = random.choice((0, 0, 0, 0.25, 0.999))
            odd = random.choice((0, -1, -0.5, 0.5, None, {"$float": "nan"}, {"$float": "inf"}, 1e30))
            number: Any = random.choice(usual(rule)[field])
            made[named["context"]] = odd if random.random() < 0.12 else number + fraction if fraction else number
    return made


def usual(rule: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """In: a rule. Out: by field, the numbers that keep it on the grid."""
    gcra = rule.get("algorithm") == "gcra"
    return {
        "limit": grid.GCRA_LIMITS if gcra else LIMITS,
        "period_s": grid.GCRA_PERIODS if gcra else grid.PERIODS,
        "ban_for_s": grid.BANS,
    }


def _number(random: Random, kind: str, among: tuple[int, ...]) -> Any:
    draw = random.random()
    if draw < 0.8:
        return random.choice(among)
    if draw < 0.96:
        return {"context": f"{kind}_{random.randrange(10**6)}", "default": random.choice(among)}
    return {"raise": "planted"}


def broken(random: Random) -> tuple[list[dict[str, Any]], str]:
    """Out: a chain with one mistake in it, and the code of it."""
    rules = chain(random)
    last = {"name": "last", "action": "limit", "characteristics": ["user"], "limit": 2, "period_s": 62}
    code, change = random.choice(MISTAKES)
    return [*rules, {**last, **change}], code


MISTAKES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("limit_below_one", {"limit": 0}),
    ("period_below_one", {"period_s": 0}),
    ("period_above_max", {"period_s": 31622401}),
    ("ban_below_one", {"ban_for_s": 0}),
    ("burst_requires_gcra", {"burst": 3}),
    ("burst_below_one", {"burst": 0, "algorithm": "gcra"}),
    ("gcra_excludes_count_distinct", {"algorithm": "gcra", "count_distinct": "ip"}),
    ("ban_excludes_count_distinct", {"ban_for_s": 60, "count_distinct": "ip"}),
    ("duplicate_characteristic", {"characteristics": ["user", "user"]}),
    ("distinct_in_characteristics", {"count_distinct": "user"}),
    ("property_invalid", {"characteristics": ["no-name"]}),
    ("matcher_empty_list", {"match": {"user": []}}),
    ("matcher_bare_list", {"match": {"user": ["a", "b"]}}),
    ("matcher_unknown_marker", {"match": {"user": {"like": "a"}}}),
    ("matcher_two_markers", {"match": {"user": {"eq": "a", "ne": "b"}}}),
    ("matcher_bad_regex", {"match": {"user": {"regex": "(?=a)"}}}),
    ("matcher_bad_cidr", {"match": {"ip": {"cidr": "10.0.0.0/33"}}}),
    ("limit_below_one", {"overrides": [{"match": {}, "limit": 0}]}),
    ("ban_requires_threshold", {"action": "skip", "ban_for_s": 60}),
)
