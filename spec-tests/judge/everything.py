"""`spec-tests/run all`: every scenario in every language on every store, and MATRIX.md, which shows it."""

import argparse
import sys
from collections.abc import Callable, Sequence

from judge import matrix, results, sources
from judge.languages import LANGUAGES, stand_ins
from judge.misuse import Misuse
from judge.room import Room
from judge.scenario import STORES
from judge.verdict import Verdict

SHOWN = 20

Play = Callable[[str, list[str]], list[Verdict]]
"""Plays a language on stores, and keeps what passed."""


def run(room: Room, arguments: Sequence[str], play: Play) -> int:
    """In: the words after `all`, and how a language is played. Out: the exit status."""
    parser = argparse.ArgumentParser(prog="spec-tests/run all")
    parser.add_argument("--check", action="store_true", help="MATRIX.md must be as it is written already")
    parser.add_argument("--fewer", action="store_true", help="cells may be lost: scenarios were taken away on purpose")
    parser.add_argument("--again", action="store_true", help="also what passed already, with the same sources and scenarios")
    options = parser.parse_args(arguments)
    scenarios = room.scenarios()
    strange = {language: variables for language in LANGUAGES if (variables := stand_ins(language))}
    without = " ".join(f"--unset={variable}" for variables in strange.values() for variable in variables)
    if strange and options.check:
        raise Misuse(f"MATRIX.md is of what is built here, and others would play: run env {without} spec-tests/run all --check")
    red: list[Verdict] = []
    for language in LANGUAGES:
        build = sources.of(room.root, language)
        kept = results.cells(room.results, language, scenarios, build)
        every = options.again or language in strange
        stores = [
            store for store in STORES if every or any(kept[scenario.name].get(store) != "ok" for scenario in scenarios if store in scenario.stores)
        ]
        if not stores:
            print(f"{language}: every cell is ok already, with these sources", flush=True)
            continue
        red += [verdict for verdict in play(language, stores) if not verdict.passed]
    if strange:
        print(f"MATRIX.md stays as it is: it is of what is built here. To write it: env {without} spec-tests/run all", flush=True)
        return _end([str(verdict) for verdict in red])
    cells = {language: results.cells(room.results, language, scenarios, sources.of(room.root, language)) for language in LANGUAGES}
    text = matrix.markdown(scenarios, cells)
    file = room.home / "MATRIX.md"
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    # What is no scenario's, a runner that broke off say, has no cell to show it.
    faults = [str(verdict) for verdict in red if verdict.name.startswith("(")]
    faults += matrix.faults(scenarios, cells)
    if not options.fewer:
        faults += [f"MATRIX.md had a cell that is gone: {cell}" for cell in sorted(matrix.passed_in(before) - matrix.passed_in(text))]
    if options.check and before != text:
        faults.append("MATRIX.md is not what this run gives: run spec-tests/run all, and commit what it writes")
    print(matrix.summary(scenarios, cells))
    faults = faults or [str(verdict) for verdict in red]
    if not faults:
        file.write_text(text, encoding="utf-8")
    return _end(faults)


def _end(faults: Sequence[str]) -> int:
    if not faults:
        return 0
    print(*faults[:SHOWN], *([f"and {len(faults) - SHOWN} more"] if len(faults) > SHOWN else []), sep="\n", file=sys.stderr)
    return 1


def languages_named(named: Sequence[str]) -> list[str]:
    """In: names of languages, or none for all. Out: them; Misuse if one is none."""
    if unknown := [language for language in named if language not in LANGUAGES]:
        raise Misuse(f"no such language: {', '.join(unknown)}; there are {', '.join(LANGUAGES)}")
    return list(named) or list(LANGUAGES)
