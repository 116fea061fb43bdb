"""The command line: `spec-tests/run`. Exit 0: all passed. 1: a failure. 2: misuse, said on stderr with the way to mend it."""

import argparse
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import TextIO

from generator import command as random_command
from judge import everything, log, manifest, matrix, recordings, results, sources, together
from judge.languages import LANGUAGES, stand_ins
from judge.misuse import Misuse
from judge.play import play
from judge.room import Room
from judge.scenario import STORES, Scenario
from judge.verdict import RUNNER, Verdict, closing_line, judge

USAGE = """\
spec-tests/run LANGUAGE [--store memory|redis|cluster]... [--format text|jsonl] [FILE...]
       spec-tests/run canaries LANGUAGE [--store STORE]...
       spec-tests/run random LANGUAGE... --seed S --count N [--store STORE]...
       spec-tests/run recordings [FILE]
       spec-tests/run log LOG --limiter NAME [--available FILE] [--rules FILE]... [--store memory|redis] [--format text|json] [LANGUAGE...]
       spec-tests/run together [--calls N] [LANGUAGE...]
       spec-tests/run list [FILE...]
       spec-tests/run matrix [LANGUAGE...]
       spec-tests/run all [--check] [--fewer] [--again]
       spec-tests/run --write-manifest
Default: every store, every file in spec-tests/scenarios. Languages: {languages}."""


def main(arguments: Sequence[str]) -> int:
    """In: the words after the command's name. Out: its exit status."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, _leave)
    room = Room(Path(__file__).resolve().parent.parent)
    commands: dict[str, Callable[[Room, Sequence[str]], int]] = {
        "list": _list,
        "matrix": _matrix,
        "all": _all,
        "canaries": _canaries,
        "random": random_command.run,
        "recordings": recordings.run,
        "log": log.run,
        "together": together.run,
        "--write-manifest": _write_manifest,
    }
    try:
        if not arguments or arguments[0] in ("-h", "--help"):
            print("usage: " + USAGE.format(languages=", ".join(LANGUAGES)), file=sys.stdout if arguments else sys.stderr)
            return 0 if arguments else 2
        command = commands.get(arguments[0])
        return command(room, arguments[1:]) if command else _run(room, arguments)
    except Misuse as error:
        print(error, file=sys.stderr)
        return 2


def _leave(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)  # unwinds, so that servers and runners are stopped


def _run(room: Room, arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="spec-tests/run", usage=USAGE.format(languages=", ".join(LANGUAGES)))
    parser.add_argument("language", choices=LANGUAGES)
    parser.add_argument("--store", action="append", choices=STORES)
    parser.add_argument("--format", choices=("text", "jsonl"), default="text")
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_intermixed_args(arguments)
    verdicts = _judged(room, options.language, _stores(options.store), options.files, options.format)
    return 0 if all(verdict.passed for verdict in verdicts) else 1


def _judged(room: Room, language: str, stores: Sequence[str], files: Sequence[Path] = (), form: str = "text") -> list[Verdict]:
    """In: a language, stores, files or none for all, and what goes to stdout. Out: the verdicts, printed, and kept if of this build."""
    scenarios = room.scenarios(files)
    verdicts: list[Verdict] = []
    report = sys.stdout if form == "text" else sys.stderr
    for store in stores:
        if not any(store in scenario.stores for scenario in scenarios):
            continue
        played = play(room, language, store, scenarios)
        if form == "jsonl":
            sys.stdout.write(played.stdout)
            sys.stdout.flush()
        new = judge(played.scenarios, played.transcript, language, store)
        print(*new, sep="\n", file=report, flush=True)
        verdicts += new
    if variables := stand_ins(language):
        print(f"{language}: nothing is kept, as {' and '.join(variables)} let another play than what is built here", file=report)
    else:
        results.keep(room.results, language, scenarios, verdicts, sources.of(room.root, language))
    if not files:
        verdicts += _against_manifest(room, language, stores, scenarios, verdicts, report)
    if not verdicts:
        raise Misuse(f"none of these scenarios runs on {', '.join(stores)}: name another store or file")
    print(closing_line(verdicts), file=report)
    return verdicts


def _against_manifest(
    room: Room, language: str, stores: Sequence[str], scenarios: Sequence[Scenario], verdicts: Sequence[Verdict], report: TextIO
) -> list[Verdict]:
    problems = manifest.problems_of(room.manifest, scenarios)
    wanted = manifest.totals(room.manifest) if room.manifest.exists() else {}
    for store in stores if not problems else ():
        ran = sum(verdict.store == store and verdict.name != RUNNER and "was not run" not in verdict.breaches for verdict in verdicts)
        if ran != wanted.get(store):
            problems.append(f"{ran} scenarios ran on {store}, MANIFEST says {wanted.get(store)}")
    if not problems:
        return []
    verdict = Verdict("(MANIFEST)", language, "all", breaches=tuple(problems))
    print(verdict, file=report)
    return [verdict]


def _canaries(room: Room, arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="spec-tests/run canaries")
    parser.add_argument("language", choices=LANGUAGES)
    parser.add_argument("--store", action="append", choices=STORES)
    options = parser.parse_args(arguments)
    canaries = room.canaries()
    alive = dead = 0
    for store in _stores(options.store):
        played = play(room, options.language, store, canaries)
        verdicts = judge(played.scenarios, played.transcript, options.language, store)
        for verdict in verdicts:
            # Exactly the one wrong expectation must have been caught: a runner that breaks proves nothing.
            caught = not verdict.breaches and len(verdict.mismatches) == 1
            alive, dead = alive + caught, dead + (not caught)
            print(f"ok   {options.language} {store:<7} {verdict.name}: fails as it must" if caught else _dead(verdict), flush=True)
    if not alive + dead:
        raise Misuse("there are no canaries: spec-tests/canaries holds none")
    print(f"{alive} passed, {dead} failed")
    return 0 if not dead else 1


def _dead(verdict: Verdict) -> str:
    if verdict.passed:
        return f"FAIL {verdict.language} {verdict.store:<7} {verdict.name}: passed, though its expectation is wrong: the judge or the runner is blind"
    return f"{verdict}; a canary must fail in exactly one field"


def _list(room: Room, arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="spec-tests/run list")
    parser.add_argument("files", nargs="*", type=Path)
    for scenario in room.scenarios(parser.parse_args(arguments).files):
        print(f"{scenario.file.name} {scenario.name} {','.join(scenario.stores)}")
    return 0


def _matrix(room: Room, arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="spec-tests/run matrix", description="From the results of the last runs; exit 1 unless every cell is ok.")
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE")
    languages = everything.languages_named(parser.parse_args(arguments).languages)
    scenarios = room.scenarios()
    cells = {language: results.cells(room.results, language, scenarios, sources.of(room.root, language)) for language in languages}
    print(matrix.markdown(scenarios, cells), end="")
    return 0 if not matrix.faults(scenarios, cells) else 1


def _all(room: Room, arguments: Sequence[str]) -> int:
    return everything.run(room, arguments, lambda language, stores: _judged(room, language, stores))


def _write_manifest(room: Room, arguments: Sequence[str]) -> int:
    if arguments:
        raise Misuse("--write-manifest stands alone: it always covers every scenario")
    room.manifest.write_text(manifest.text_of(room.scenarios()), encoding="utf-8")
    return 0


def _stores(named: Sequence[str] | None) -> list[str]:
    return [store for store in STORES if store in (named or STORES)]
