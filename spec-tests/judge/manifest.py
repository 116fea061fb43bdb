"""MANIFEST: which scenarios there are and how many must run per store, so that none can be lost in silence.

A comment, a line of totals, then one line per scenario, sorted: `file name store,store`.
"""

from collections.abc import Iterable
from pathlib import Path

from judge.scenario import STORES, Scenario

HEAD = "# Written by spec-tests/run --write-manifest; every full run checks it."
MEND = "if the change is meant, run spec-tests/run --write-manifest and commit it"


def text_of(scenarios: Iterable[Scenario]) -> str:
    """In: all scenarios. Out: the text of MANIFEST."""
    rows = sorted(f"{scenario.file.name} {scenario.name} {','.join(scenario.stores)}" for scenario in scenarios)
    per_store = (f"{store} {sum(store in row.split()[2].split(',') for row in rows)}" for store in STORES)
    return "\n".join([HEAD, f"total {len(rows)} {' '.join(per_store)}", *rows, ""])


def problems_of(path: Path, scenarios: Iterable[Scenario]) -> list[str]:
    """In: where MANIFEST is, and all scenarios. Out: how they differ, with the way to mend it."""
    if not path.exists():
        return [f"there is no MANIFEST: {MEND}"]
    stands = path.read_text(encoding="utf-8")
    wanted = text_of(scenarios)
    if stands == wanted:
        return []
    gone = sorted(set(stands.splitlines()) - set(wanted.splitlines()))
    new = sorted(set(wanted.splitlines()) - set(stands.splitlines()))
    lines = [f"only in MANIFEST: {line}" for line in gone] + [f"not in MANIFEST: {line}" for line in new]
    return [f"MANIFEST differs from the scenarios: {MEND}", *(lines or ["the order or the line ends differ"])]


def totals(path: Path) -> dict[str, int]:
    """In: where MANIFEST is. Out: {store: number of scenarios that must run}, empty if its line of totals cannot be read."""
    words = next((line.split() for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("total ")), [])
    names, numbers = words[2::2], words[3::2]
    return {name: int(number) for name, number in zip(names, numbers, strict=False) if number.isdecimal()}
