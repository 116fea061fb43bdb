"""The generator: one seed one scenario, all of them well-formed and off every boundary; a difference is found, shown and shrunk."""

import json
import unittest
from pathlib import Path
from typing import Any, ClassVar

from generator import command, documents, grid, identifiers, scenarios, shrink
from generator.rule_lists import rules_of
from judge.languages import Runner
from judge.play import Play
from judge.room import Room
from judge.scenario import Scenario, findings_of
from judge.transcript import Played, Transcript
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
        papers = ("available_limiters", "rate_limits", "default_rules", "allowed_skip_rules", "evaluation", "rules", "only_files")
        for word in markers + rules + steps + papers:
            self.assertIn(f'"{word}"', text)


class Documents(unittest.TestCase):
    """One scenario in four has documents; what they hold is what documents can hold, and valid."""

    def setUp(self) -> None:
        self.made = [scenarios.scenario(seed) for seed in SEEDS]
        self.dressed = [made for made in self.made if "available_limiters" in made or "rate_limits" in made]
        self.sound = [made for made in self.dressed if "expect_build_error" not in made]

    def test_one_in_four(self) -> None:
        self.assertAlmostEqual(documents.SHARE, len(self.dressed) / len(self.made), delta=0.05)

    def test_each_way_comes_up(self) -> None:
        ways = {tuple(sorted(made.keys() & {"rules", "available_limiters", "rate_limits"})) for made in self.sound}
        code, contract, files = "rules", "available_limiters", "rate_limits"
        self.assertEqual({(contract,), (contract, files), (contract, files, code), (files, code)}, ways)

    def test_steps_do_not_hang_on_documents(self) -> None:
        base = {"name": "random_1", "limiter": "random_1", "rules": [{"name": "a", "action": "limit", "limit": 1, "period_s": 62}], "steps": []}
        for seed in range(40):
            made = documents.dressed(base, seed)
            self.assertEqual([], made["steps"])
            self.assertEqual(made, documents.dressed(base, seed))

    def test_documents_hold_no_values_of_a_host(self) -> None:
        for made in self.sound:
            code = {id(rule) for rule in made.get("rules", [])}
            for rule in (rule for rule in rules_of(made) if id(rule) not in code):
                numbers = [rule[field] for field in ("limit", "period_s", "ban_for_s", "burst") if field in rule]
                self.assertTrue(all(isinstance(number, int) for number in numbers), rule)
                self.assertNotIn('"$bytes"', json.dumps(rule))

    def test_files_keep_to_the_contract(self) -> None:
        for made in self.sound:
            for document in made.get("rate_limits", []):
                chain = rules_of(document)
                names = [rule["name"] for rule in chain]
                self.assertEqual(len(set(names)), len(names), made)
                offered, permitted = self.contract(made)
                for rule in chain:
                    self.assertLessEqual(documents.properties_of(rule), offered, made)
                    self.assertTrue(rule["action"] != "skip" or rule["name"] in permitted, made)

    def contract(self, made: dict[str, Any]) -> tuple[set[str], set[str]]:
        """Out: the properties that are offered, and the skips that files may have."""
        if "available_limiters" not in made:
            return set[str]().union(*map(documents.properties_of, made["rules"])), set()
        limiters = made["available_limiters"].get("available_limiters", made["available_limiters"])
        spec = limiters[made["limiter"]]
        self.assertEqual(list(identifiers.PROPERTIES), spec["available_properties"])
        self.assertTrue(("default_rules" in spec) != ("rules" in made), made)
        self.assertFalse("evaluation" in spec and "evaluation" in made.get("options", {}), made)
        return set(spec["available_properties"]), set(spec.get("allowed_skip_rules", []))


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

    def test_sees_what_stands_in_documents(self) -> None:
        for rule in ({"period_s": 104}, {"period_s": 62, "ban_for_s": 104}, {"period_s": 12000, "limit": 7, "algorithm": "gcra"}):
            scenario = self.scenario((4, 104))
            named = [{"name": "b", "action": "limit", "limit": 2, **rule}]
            self.assertFalse(grid.keeps_away({**scenario, "rate_limits": [{}, {"rate_limits": {"a": {"rules": named}}}]}))
            self.assertFalse(grid.keeps_away({**scenario, "rules": [], "available_limiters": {"a": {"default_rules": named}}}))

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

    def test_drops_documents_and_what_they_hold(self) -> None:
        rules = [{"name": name, "match": {}} for name in "abc"]
        scenario = {
            "available_limiters": {"l": {"description": "Some.", "default_rules": rules}},
            "rate_limits": [{"l": rules[:1]}, {"rate_limits": {"l": {"rules": rules}}}],
            "steps": [{"check": {}}],
        }

        def differs(smaller: dict[str, Any]) -> bool:
            return "b" in [rule["name"] for document in smaller.get("rate_limits", []) for rule in rules_of(document)]

        smallest = shrink.shrink(scenario, differs)
        self.assertEqual([{"rate_limits": {"l": {"rules": [{"name": "b"}]}}}], smallest["rate_limits"])
        self.assertEqual({"l": {"description": "Some.", "default_rules": [{"name": "a"}]}}, smallest["available_limiters"])
        self.assertEqual([{"name": "a", "match": {}}, {"name": "b", "match": {}}], rules[:2])
        self.assertEqual(["available_limiters", "steps"], sorted(shrink.shrink(scenario, lambda smaller: bool(rules_of(smaller)))))


class Differences(unittest.TestCase):
    """Languages are held against each other on their own store, so that GCRA counts are looked at on real ones too."""

    RULE: ClassVar = {"name": "a", "action": "limit", "algorithm": "gcra", "limit": 60, "period_s": 12000}
    SCENARIO = Scenario("random_1", Path("random.json"), {"name": "random_1", "rules": [RULE], "steps": [{"check": {}}]}, ("memory", "redis"))

    def differences(self, rule: str = "a", **counts: float) -> list[str]:
        """In: `<language>_<store>` and the count there, 7 elsewhere. Out: what differs."""
        places = [command.Place(language, store, Runner(()), ()) for store in ("memory", "redis") for language in ("rust", "go", "ruby")]
        plays = []
        for place in places:
            count = counts.get(f"{place.language}_{place.store}", 7)
            info = {"limit": 60, "period_s": 12000, "count": count, "remaining": 53, "reset_after": 9, "retry_after": None, "banned": False}
            entry = {"rule": rule, "exceeded": False, "info": info}
            played = Played(None, [{**entry, "evaluations": [entry]}])
            plays.append(Play(place.language, place.store, (self.SCENARIO,), "", Transcript({"random_1": played})))
        return [text for *_, text in command._differences(self.SCENARIO, places, plays)]

    def test_counts_on_a_real_store_keep_to_what_drains_in_a_second(self) -> None:
        self.assertEqual([], self.differences(go_redis=7.004))
        self.assertEqual([], self.differences(rust_redis=7.004, ruby_redis=6.9999))
        told = "rust redis against ruby redis: step 0 (check) info.count: 7 against 7.006"
        self.assertEqual([told, told.replace("info", "evaluations[0].info")], self.differences(ruby_redis=7.006))
        self.assertIn("rust memory against go memory: step 0 (check) info.count: 7 against 7.004", self.differences(go_memory=7.004))

    def test_between_stores_they_are_not_compared(self) -> None:
        self.assertEqual([], self.differences(rust_redis=8, go_redis=8, ruby_redis=8))

    def test_other_counts_are_compared_exactly_between_all(self) -> None:
        found = self.differences("b", rust_redis=8, go_redis=8, ruby_redis=9)
        against = ["rust memory against rust redis", "rust memory against go redis", "rust redis against ruby redis"]
        self.assertEqual(against, [text.split(":")[0] for text in found[::2]])


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
