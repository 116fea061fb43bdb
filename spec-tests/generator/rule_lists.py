"""Where the rules of a scenario stand: in code, in a contract, in files."""

from collections.abc import Iterator, Sequence
from typing import Any

Place = tuple[str | int, ...]
"""The keys and indices that lead from a scenario to one of its parts."""


def rule_lists(node: Any, place: Place = ()) -> Iterator[tuple[Place, list[dict[str, Any]]]]:
    """In: a scenario. Out: each list of rules in it, with its place. A list of rules is one of maps that all have a name; nothing else is."""
    if isinstance(node, list):
        if node and all(isinstance(entry, dict) and "name" in entry for entry in node):
            yield place, node
            return
        for index, entry in enumerate(node):
            yield from rule_lists(entry, (*place, index))
    elif isinstance(node, dict):
        for key, value in node.items():
            if key != "steps":
                yield from rule_lists(value, (*place, key))


def rules_of(scenario: dict[str, Any]) -> list[dict[str, Any]]:
    """In: a scenario. Out: every rule in it, wherever it stands, those that others replace included."""
    return [rule for _, rules in rule_lists(scenario) for rule in rules]


def replaced(node: Any, place: Sequence[str | int], value: Any) -> Any:
    """In: a scenario, a place in it, and what is to stand there. Out: the scenario with that; the old one stays as it is."""
    if not place:
        return value
    key, *rest = place
    copy: Any = list(node) if isinstance(node, list) else dict(node)
    copy[key] = replaced(node[key], rest, value)
    return copy
