"""schema.json means to the `jsonschema` package what it means to judge/schema.py. Needs that package, in a virtual environment say."""

import json
import unittest
from pathlib import Path
from typing import Any

try:
    import jsonschema
except ImportError as error:
    raise ImportError("this test alone needs the package jsonschema: pip install jsonschema, in a virtual environment") from error

from generator import scenarios
from judge import strict_json
from judge.room import Room

HOME = Path(__file__).resolve().parent
ROOM = Room(HOME)


class BothSchemas(unittest.TestCase):
    def setUp(self) -> None:
        self.ours = ROOM.schema()
        jsonschema.Draft202012Validator.check_schema(self.ours.root)
        self.theirs = jsonschema.Draft202012Validator(self.ours.root)

    def assert_same(self, value: Any, fits: bool) -> None:
        self.assertEqual(fits, not self.ours.check(value), value)
        self.assertEqual(fits, self.theirs.is_valid(value), value)

    def test_every_file_fits_both(self) -> None:
        files = sorted([*(HOME / "scenarios").glob("*.json"), *(HOME / "canaries").glob("*.json")])
        self.assertTrue(files)
        for file in files:
            self.assert_same(strict_json.parse(file.read_text(encoding="utf-8")), True)

    def test_random_ones_fit_both_and_each_spoiled_one_neither_or_both(self) -> None:
        for seed in range(60):
            good = scenarios.scenario(seed)
            self.assert_same([good], True)
            for place in range(20):
                spoiled = json.loads(json.dumps(good))
                _spoil(spoiled, seed * 20 + place)
                self.assertEqual(not self.ours.check([spoiled]), self.theirs.is_valid([spoiled]), spoiled)

    def test_transcript_schema_is_a_schema(self) -> None:
        jsonschema.Draft202012Validator.check_schema(ROOM.line_schema().root)


def _spoil(scenario: dict[str, Any], place: int) -> None:
    """Changes one object somewhere in the scenario: a field more, a field less, or a value of another type."""
    found = [node for node in _objects(scenario) if node]
    node = found[place % len(found)]
    name = sorted(node)[place % len(node)]
    match place % 3:
        case 0:
            node["unknown"] = 1
        case 1:
            del node[name]
        case _:
            node[name] = {"x": [None]} if place % 2 else "?"


def _objects(node: Any) -> list[dict[str, Any]]:
    children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else []
    return ([node] if isinstance(node, dict) else []) + [found for child in children for found in _objects(child)]


if __name__ == "__main__":
    unittest.main()
