"""Results kept between runs, one file per language: what passed, with which scenario and which sources."""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from judge.scenario import Scenario
from judge.strict_json import write
from judge.verdict import RUNNER, Verdict


def keep(folder: Path, language: str, scenarios: Iterable[Scenario], verdicts: Iterable[Verdict], build: str) -> None:
    """In: where results are kept, what a run gave, and the digest of its sources. Adds to the language's file; what is not of this run stays.

    Of a store whose run was unsound nothing is kept, and what was kept of its scenarios is forgotten: the same sources gave both.
    """
    verdicts = list(verdicts)
    unsound = {verdict.store for verdict in verdicts if verdict.name == RUNNER}
    digests = {scenario.name: _digest(scenario) for scenario in scenarios}
    with _alone(folder, language):
        results = _read(folder, language)
        for verdict in verdicts:
            if verdict.name in digests:
                made_of = f"{digests[verdict.name]} {build}"
                row = results.get(verdict.name, {})
                if row.get("made_of") != made_of:
                    row = {"made_of": made_of}
                row[verdict.store] = "ok" if verdict.passed else "FAIL"
                if verdict.store in unsound:
                    del row[verdict.store]
                results[verdict.name] = row
        fresh = folder / f"{language}.{os.getpid()}.tmp"
        fresh.write_text(json.dumps(results, indent=1, sort_keys=True), encoding="utf-8")
        fresh.replace(folder / f"{language}.json")


def cells(folder: Path, language: str, scenarios: Sequence[Scenario], build: str) -> dict[str, dict[str, str]]:
    """In: where results are kept, a language, all scenarios, the digest of the sources as they are. Out: scenario → store → `ok` or `FAIL`.

    What was not run, or was run with another scenario of that name or other sources, is not there.
    """
    kept = _read(folder, language)
    rows = ((scenario, kept.get(scenario.name, {})) for scenario in scenarios)
    return {
        scenario.name: {store: cell for store, cell in row.items() if store != "made_of"}
        if row.get("made_of") == f"{_digest(scenario)} {build}"
        else {}
        for scenario, row in rows
    }


@contextmanager
def _alone(folder: Path, language: str) -> Iterator[None]:
    """While the context lasts, no other run changes the language's file. The lock is on a file beside it, which is never replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{language}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _digest(scenario: Scenario) -> str:
    return hashlib.sha256(write(scenario.data).encode()).hexdigest()[:16]


def _read(folder: Path, language: str) -> dict[str, Any]:
    file = folder / f"{language}.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
