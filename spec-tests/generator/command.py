"""`spec-tests/run random`: random scenarios on every language and store given; all must agree, step by step."""

import argparse
import json
import random
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generator import grid, scenarios
from generator.difference import between
from generator.shrink import shrink
from judge.compare import build_mismatches
from judge.languages import LANGUAGES, Runner, runner_of
from judge.misuse import Misuse
from judge.play import Play, play_at
from judge.room import Room
from judge.scenario import STORES, Scenario, findings_of, stores_of
from judge.servers import serving

SHOWN = 5


@dataclass(frozen=True)
class Place:
    """One language on one store: where scenarios are played. Others are held against the first place, and the first one on their store."""

    language: str
    store: str
    its: Runner
    where: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.language} {self.store}"


Difference = tuple[int, int, str]
"""The index of the place that another one was held against, that one's, and what differs. Twice the same index: the place alone shows it."""


def run(room: Room, arguments: Sequence[str]) -> int:
    """In: the words after `random`. Out: the exit status."""
    parser = argparse.ArgumentParser(prog="spec-tests/run random")
    parser.add_argument("languages", nargs="+", choices=LANGUAGES, metavar="LANGUAGE")
    parser.add_argument("--seed", type=int, help="of the first scenario; the next ones count up (default: some number, printed)")
    parser.add_argument("--count", type=int, default=200, help="how many scenarios (default: 200)")
    parser.add_argument("--store", action="append", choices=STORES)
    options = parser.parse_intermixed_args(arguments)
    languages = list(dict.fromkeys(options.languages))
    stores = [store for store in STORES if store in (options.store or STORES)]
    seed = random.randrange(10**9) if options.seed is None else options.seed
    if len(languages) * len(stores) < 2:
        raise Misuse("one language on one store has nothing to agree with: name another language or store")
    if options.count < 1 or seed < 0:
        raise Misuse("--count must be at least 1 and --seed at least 0")
    print(f"seed {seed}, {options.count} scenarios", flush=True)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="labkit-spec-")))
        runners = {language: runner_of(language, room.root) for language in languages}
        servers = {store: tuple(stack.enter_context(serving(store))) for store in stores}
        places = [Place(language, store, runners[language], servers[store]) for store in stores for language in languages]
        return _agree(room, folder, places, [scenarios.scenario(seed + index) for index in range(options.count)])


def _agree(room: Room, folder: Path, places: Sequence[Place], drawn: list[dict[str, Any]]) -> int:
    made = _written(room, folder / "random.json", drawn)
    plays = _played(room, places, made)
    unsound = [f"{place}: {problem}" for place, play in zip(places, plays, strict=True) for problem in play.transcript.problems]
    for problem in unsound:
        print(f"FAIL {problem}")
    failed = 0
    for scenario in made:
        differences = _differences(scenario, places, plays)
        if differences:
            failed += 1
            if failed <= SHOWN:
                _report(room, folder, places, scenario, differences)
    failed = max(failed, 1 if unsound else 0)
    print(f"{len(made) - failed} passed, {failed} failed")
    return 1 if failed else 0


def _played(room: Room, places: Sequence[Place], made: Sequence[Scenario]) -> list[Play]:
    """A play of each place, in their order. Stores at the same time; the languages on one store after each other, as each empties it."""

    def on_store(store: str) -> dict[Place, Play]:
        return {place: play_at(room, place.language, place.its, place.store, place.where, made) for place in places if place.store == store}

    stores = dict.fromkeys(place.store for place in places)
    with ThreadPoolExecutor(len(stores)) as threads:
        plays = {place: play for some in threads.map(on_store, stores) for place, play in some.items()}
    return [plays[place] for place in places]


def _written(room: Room, file: Path, drawn: Sequence[dict[str, Any]]) -> list[Scenario]:
    """The scenarios as the runner will read them; one that breaks the schema is a mistake of the generator."""
    schema = room.schema()
    for data in drawn:
        if findings := findings_of(data, schema, must_assert=False):
            raise Misuse(f"the generator made a bad scenario, mend generator/: {findings}\n{json.dumps(data)}")
    file.write_text(json.dumps(drawn), encoding="utf-8")
    return [Scenario(data["name"], file, data, stores_of(data)) for data in drawn]


def _differences(scenario: Scenario, places: Sequence[Place], plays: Sequence[Play]) -> list[Difference]:
    """What differs, place by place: from the first one on its store, or else from the first of all."""
    played = [play.transcript.played.get(scenario.name) for play in plays]
    found: list[Difference] = []
    for index, (place, other) in enumerate(zip(places, played, strict=True)):
        if other is None:
            found.append((index, index, f"{place}: was not run"))
            continue
        found += [(index, index, f"{place}: {problem}") for problem in other.problems]
        if "expect_build_error" in scenario.data:
            wrong = build_mismatches(scenario.data["expect_build_error"], other.build)
            found += [(index, index, f"{place}: build: {mismatch}") for mismatch in wrong]
        nearest = next(number for number, one in enumerate(places) if one.store == place.store)
        for held in dict.fromkeys((nearest, 0)):
            against, first = places[held], played[held]
            if held == index or first is None:
                continue
            texts = between(scenario, first, other, (against.store, place.store))
            found += [(held, index, f"{against} against {place}: {text}") for text in texts]
            if texts:
                break
    return found


def _report(room: Room, folder: Path, places: Sequence[Place], scenario: Scenario, differences: list[Difference]) -> None:
    seed = scenario.name.removeprefix("random_")
    print(f"FAIL {scenario.name}")
    for _, _, text in differences[:SHOWN]:
        print(f"  {text}")
    pair = [places[index] for index in sorted(set(differences[0][:2]))]
    print("  repeat: spec-tests/run random " + " ".join(dict.fromkeys(place.language for place in places)), end="")
    print(f" --seed {seed} --count 1 " + " ".join(f"--store {store}" for store in dict.fromkeys(place.store for place in places)))

    def differs(data: dict[str, Any]) -> bool:
        if findings_of(data, room.schema(), must_assert=False) or not grid.keeps_away(data):
            return False
        smaller = _written(room, folder / "shrunk.json", [data])
        plays = [play_at(room, place.language, place.its, place.store, place.where, smaller) for place in pair]
        return bool(_differences(smaller[0], pair, plays))

    smallest = scenario.data if "expect_build_error" in scenario.data else shrink(scenario.data, differs)
    print("  smallest found:")
    print(json.dumps(smallest, ensure_ascii=False, indent=2), flush=True)
