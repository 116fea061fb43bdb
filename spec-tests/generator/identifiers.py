"""Random identifiers: a few callers per scenario, so that they meet in the same counters, and odd values now and then."""

from random import Random
from typing import Any

VALUES: dict[str, list[Any]] = {
    "user": ["user:1", "user:2", "<anonymous>", "1", 1, 1.0, "", None, "a:tier:b", "{x}", "_unknown_", "ü" * 201, "é", {"$bytes": "ff00"}],
    "tier": ["free", "gold", "Gold", "", None, "free:user:", True, "true"],
    "ip": [
        "10.0.0.1",
        "10.1.2.3",
        "::ffff:10.0.0.1",
        "2001:db8::1",
        "2001:db8:0:1::1",
        "192.0.2.7",
        "10.0.0.256",
        "fe80::1%eth0",
        "",
        None,
    ],
    "path": ["/", "/api/v4/projects", "/api/", "/API/", "/health", "", None, "/api/v4/projects?page=2"],
    "size": [0, 1, 1.0, 1.5, -1, "1", 9223372036854775807, 18446744073709551615, 1e21, 1e-7, -0.0, 0.1, None],
    "flag": [True, False, "true", 1, 0, None],
}
PROPERTIES = tuple(VALUES)
BAD_VALUES: tuple[Any, ...] = ([1, 2], {"a": 1}, {"$float": "nan"}, {"$float": "inf"})


def value(random: Random, name: str) -> Any:
    """In: a property. Out: one of its values, the common ones more often."""
    pool = VALUES[name]
    return pool[min(random.randrange(len(pool)), random.randrange(len(pool)))]


def callers(random: Random) -> list[dict[str, Any]]:
    """Out: the identifiers that a scenario's steps choose from."""
    first = {name: value(random, name) for name in PROPERTIES if random.random() < 0.8}
    others = [changed(random, first) for _ in range(random.randint(1, 3))]
    return [first, first, *others]


def changed(random: Random, identifier: dict[str, Any]) -> dict[str, Any]:
    """In: an identifier. Out: it with one property set anew, taken away, spelled as nobody asked, or, seldom, bad."""
    name = random.choice(PROPERTIES)
    draw = random.random()
    if draw < 0.2:
        return {key: held for key, held in identifier.items() if key != name}
    if draw < 0.25:
        return {**identifier, name: random.choice(BAD_VALUES)}
    if draw < 0.35:
        return {**identifier, "nobody_asked": random.choice([1, "x", [1], None])}
    return {**identifier, name: value(random, name)}
