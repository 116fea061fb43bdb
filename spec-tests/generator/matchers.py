"""Random matchers, made of the values that identifiers have, so that about half of them hold."""

from collections.abc import Callable
from random import Random
from typing import Any

from generator import identifiers

PATTERNS = (".", "^$", "^/api/", "[0-9]+$", "(?i)gold", "^user:[12]$", "^(a|<)", r"\.5$", "é|ü", "^true$", "x{2,}")
PREFIXES = ("", "/api/", "user:", "10.", "1", "t", "ü")
NETWORKS = ("10.0.0.0/8", "10.1.2.3", "10.0.0.1/30", "2001:db8::/64", "2001:db8::1", "::/0", "0.0.0.0/0", "::ffff:10.0.0.0/104", "192.0.2.0/24")
DEPTH = 4


def match(random: Random) -> dict[str, Any]:
    """Out: a rule's or an override's `match`; often empty."""
    names = random.sample(identifiers.PROPERTIES, random.choice((0, 0, 1, 1, 1, 2)))
    return {name: matcher(random, name) for name in names}


def matcher(random: Random, name: str, depth: int = 0) -> Any:
    """In: the property it is for. Out: a scalar, a marker map or a list of marker maps."""
    draw = random.random()
    if draw < 0.25:
        plain = identifiers.value(random, name)
        return {"eq": plain} if isinstance(plain, dict) else plain
    if draw < 0.85 or depth >= DEPTH:
        return marker(random, name, depth)
    return [marker(random, name, depth + 1) for _ in range(random.randint(1, 3))]


def marker(random: Random, name: str, depth: int) -> dict[str, Any]:
    """In: the property, and how deep this is. Out: a map of one marker."""

    def members(least: int) -> list[Any]:
        return [identifiers.value(random, name) for _ in range(random.randint(least, 4))]

    makers: dict[str, Callable[[], Any]] = {
        "eq": lambda: identifiers.value(random, name),
        "ne": lambda: identifiers.value(random, name),
        "regex": lambda: random.choice(PATTERNS),
        "nre": lambda: random.choice(PATTERNS),
        "one_of": lambda: members(0),
        "oneOf": lambda: members(1),
        "none_of": lambda: members(1),
        "noneOf": lambda: members(1),
        "prefix": lambda: random.choice(PREFIXES),
        "cidr": lambda: random.choice((random.choice(NETWORKS), random.sample(NETWORKS, random.randint(0, 3)))),
        "not": lambda: matcher(random, name, depth + 1),
    }
    if depth >= DEPTH:
        del makers["not"]
    if name == "ip" and random.random() < 0.6:
        return {"cidr": makers["cidr"]()}
    kind = random.choice(list(makers))
    return {kind: makers[kind]()}
