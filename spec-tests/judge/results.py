"""Results kept between runs, one file per language, and the matrix of scenario × language × store made of them."""

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from judge.scenario import STORES, Scenario
from judge.strict_json import write
from judge.verdict import Verdict

LEFT_OUT = "–"
NOT_RUN = "?"


def keep(folder: Path, language: str, scenarios: Iterable[Scenario], verdicts: Iterable[Verdict]) -> None:
    """In: where results are kept, and what a run gave. Adds to the language's file; what is not of this run stays."""
    digests = {scenario.name: _digest(scenario) for scenario in scenarios}
    results = _read(folder, language)
    for verdict in verdicts:
        if verdict.name in digests:
            row = results.get(verdict.name, {})
            if row.get("digest") != digests[verdict.name]:
                row = {"digest": digests[verdict.name]}
            row[verdict.store] = "ok" if verdict.passed else "FAIL"
            results[verdict.name] = row
    folder.mkdir(parents=True, exist_ok=True)
    fresh = folder / f"{language}.{os.getpid()}.tmp"
    fresh.write_text(json.dumps(results, indent=1, sort_keys=True), encoding="utf-8")
    fresh.replace(folder / f"{language}.json")


def matrix(folder: Path, languages: Sequence[str], scenarios: Sequence[Scenario]) -> tuple[str, bool]:
    """In: where results are kept, the languages, all scenarios. Out: the matrix as text, and whether every cell that must be `ok` is.

    `–`: the scenario's stores leave it out. `?`: it was not run, or it was changed since.
    """
    kept = {language: _read(folder, language) for language in languages}
    columns = [(language, store) for language in languages for store in STORES]
    width = max((len(scenario.name) for scenario in scenarios), default=8)
    lines = [f"{'scenario':<{width}}  " + "  ".join(f"{f'{language} {store}':<{_width(language, store)}}" for language, store in columns)]
    seen: dict[str, int] = {}
    for scenario in scenarios:
        cells = [_cell(scenario, kept[language], store) for language, store in columns]
        for cell in cells:
            seen[cell] = seen.get(cell, 0) + 1
        padded = (f"{cell:<{_width(*column)}}" for cell, column in zip(cells, columns, strict=True))
        lines.append(f"{scenario.name:<{width}}  " + "  ".join(padded).rstrip())
    lines.append(
        f"{seen.get('ok', 0)} ok, {seen.get('FAIL', 0)} failed, {seen.get(NOT_RUN, 0)} not run ({NOT_RUN}), "
        f"{seen.get(LEFT_OUT, 0)} left out by their stores ({LEFT_OUT})"
    )
    return "\n".join(lines), bool(scenarios) and set(seen) <= {"ok", LEFT_OUT}


def _cell(scenario: Scenario, results: dict[str, Any], store: str) -> str:
    if store not in scenario.stores:
        return LEFT_OUT
    row = results.get(scenario.name, {})
    return row.get(store, NOT_RUN) if row.get("digest") == _digest(scenario) else NOT_RUN


def _digest(scenario: Scenario) -> str:
    return hashlib.sha256(write(scenario.data).encode()).hexdigest()[:16]


def _read(folder: Path, language: str) -> dict[str, Any]:
    file = folder / f"{language}.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def _width(language: str, store: str) -> int:
    return len(language) + 1 + len(store)
