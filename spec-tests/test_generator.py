"""The generator: one seed one scenario, all of them well-formed and off every boundary; a difference is found, shown and shrunk."""

import json
import unittest
from pathlib import Path
from typing import Any

from generator import grid, scenarios, shrink
from judge.room import Room
from judge.scenario import findings_of
from test_judge import RoomTest

SEEDS = range(1000)


class Scenarios(unittest.TestCase):
    def test_one_seed_one_scenario(self) -> None:
        self.assertEqual(scenarios.scenario(7), scenarios.scenario(7))
        self.assertNotEqual(scenarios.scenario(7)["rules"], scenarios.scenario(8)["rules"])

    def test_every_one_fits_the_schema(self) -> None:
        schema = Room(Path(__file__).resolve().parent).schema()
        for seed in SEEDS:
            self.assertEqual([], findings_of(scenarios.scenario(seed), schema, must_assert=False), seed)

    def test_all_kinds_come_up(self) -> None:
        text = json.dumps([scenarios.scenario(seed) for seed in SEEDS])
        markers = ("eq", "ne", "regex", "nre", "one_of", "oneOf", "none_of", "noneOf", "not", "prefix", "cidr")
        rules = ("skip", "warn", "log", "limit", "gcra", "burst", "final", "overrides", "ban_for_s", "count_distinct", "raise", "context")
        steps = ("check", "peek", "clear", "headers", "advance", "logs", "metrics", "cost", "expect_build_error", "ietf", "all", "local")
        for word in markers + rules + steps:
            self.assertIn(f'"{word}"', text)


class Grid(unittest.TestCase):
    """`keeps_away` must see what the drawing avoids, or it proves nothing."""

    def scenario(self, advances: tuple[float, ...], **rule: Any) -> dict[str, Any]:
        steps: list[dict[str, Any]] = [{"check": {}}]
        for seconds in advances:
            steps += [{"advance": seconds}, {"check": {}}]
        return {"rules": [{"name": "a", "limit": 2, "period_s": 62, **rule}], "steps": steps}

    def test_sees_windows_and_bans(self) -> None:
        self.assertTrue(grid.keeps_away(self.scenario((4, 104))))
        self.assertFalse(grid.keeps_away(self.scenario((62,))))
        self.assertFalse(grid.keeps_away(self.scenario((62.5,))))
        self.assertTrue(grid.keeps_away(self.scenario((63,))))
        self.assertFalse(grid.keeps_away(self.scenario((4, 104), ban_for_s=104)))
        self.assertFalse(grid.keeps_away(self.scenario((4, 104), ban_for_s={"context": "ban_1", "default": 108})))
        self.assertFalse(grid.keeps_away(self.scenario((4,), overrides=[{"period_s": 4}])))
        context = self.scenario((4,), period_s={"context": "period_1", "default": 62})
        context["steps"][0]["context"] = {"period_1": 4.9}
        self.assertFalse(grid.keeps_away(context))

    def test_sees_cells(self) -> None:
        self.assertTrue(grid.keeps_away(self.scenario((4, 104), algorithm="gcra", limit=3, period_s=12000)))
        self.assertFalse(grid.keeps_away(self.scenario((4, 104), algorithm="gcra", limit=7, period_s=12000)))
        self.assertFalse(grid.keeps_away(self.scenario((100,), algorithm="gcra", limit=3, period_s=12000)))
        costly = self.scenario((4,), algorithm="gcra", limit=3, period_s=12000)
        costly["steps"][0]["cost"] = 0.333333
        self.assertFalse(grid.keeps_away(costly))

    def test_drawn_ones_stay_at_least_a_second_away(self) -> None:
        self.assertTrue(all(grid.keeps_away(scenarios.scenario(seed)) for seed in SEEDS))
        self.assertTrue(all(advance % 100 == 4 for advance in grid.ADVANCES))


class Shrink(unittest.TestCase):
    def test_drops_all_that_the_difference_does_not_need(self) -> None:
        scenario = {
            "rules": [{"name": "a"}, {"name": "b", "match": {}, "overrides": []}],
            "options": {"evaluation": "all"},
            "steps": [{"check": {"n": n}, "cost": n} for n in range(9)],
        }

        def differs(smaller: dict[str, Any]) -> bool:
            return {"name": "b"}.items() <= smaller["rules"][-1].items() and any(step["check"]["n"] == 5 for step in smaller["steps"])

        self.assertEqual({"rules": [{"name": "b"}], "steps": [{"check": {"n": 5}}]}, shrink.shrink(scenario, differs))


class Command(RoomTest):
    def random(self, fault: str = "", *stores: str) -> Any:
        named = [word for store in stores or ("memory", "redis") for word in ("--store", store)]
        return self.run_command("random", "rust", "--seed", "40", "--count", "10", *named, fault=fault)

    def test_agreement_passes(self) -> None:
        ran = self.random()
        self.assertEqual(0, ran.returncode, ran.stdout + ran.stderr)
        self.assertEqual("10 passed, 0 failed", ran.stdout.splitlines()[-1])

    def test_difference_is_shown_small_with_its_seed(self) -> None:
        ran = self.random("wrong_value@redis")
        self.assert_fails(ran, 'action: "allow" against "block"', "9 passed, 1 failed", "--count 1 --store memory --store redis")
        shown = ran.stdout[ran.stdout.index("smallest found:") :].split("\n", 1)[1].rsplit("\n", 2)[0]
        smallest = json.loads(shown)
        self.assertEqual((1, 1), (len(smallest["rules"]), len(smallest["steps"])))

    def test_broken_run_fails(self) -> None:
        for fault in ("early_exit@redis", "missing_field", "no_done", "wrong_version", "missing_scenario"):
            with self.subTest(fault):
                self.assertRegex(self.random(fault).stdout.splitlines()[-1], r"^\d+ passed, [1-9]\d* failed$")


if __name__ == "__main__":
    unittest.main()
