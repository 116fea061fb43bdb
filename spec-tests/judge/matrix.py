"""The matrix of scenario × language × store: as Markdown, and what is wrong with it."""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby

from judge.scenario import STORES, Scenario

LEFT_OUT = "–"
NOT_RUN = "?"

Cells = Mapping[str, Mapping[str, Mapping[str, str]]]
"""Language → scenario → store → `ok` or `FAIL`; what was not run with these sources is not there."""

HEAD = """\
# Matrix

Every scenario in every language on every store. Written by `spec-tests/run all`, checked by the check `matrix`: a cell that is neither
`ok` nor left out, or that was here and is gone, is a failure. In a cell stand, in this order: {stores}. `–`: the scenario's
`stores` leave it out, or it has a step that there is no server for (README.md says which).
"""
ROW = re.compile(r"^\| `(?P<scenario>[^`]+)` \| (?P<cells>.+) \|$")


def markdown(scenarios: Sequence[Scenario], cells: Cells) -> str:
    """Out: the text of MATRIX.md."""
    languages = list(cells)
    lines = [HEAD.format(stores=", ".join(STORES)), summary(scenarios, cells)]
    for file, group in groupby(scenarios, key=lambda scenario: scenario.file.name):
        lines += ["", f"## {file}", "", _row(["scenario", *languages]), _row(["---"] * (len(languages) + 1))]
        lines += [
            _row([f"`{scenario.name}`", *(" ".join(_cell(scenario, cells, language, store) for store in STORES) for language in languages)])
            for scenario in group
        ]
    return "\n".join(lines) + "\n"


def summary(scenarios: Sequence[Scenario], cells: Cells) -> str:
    """Out: a table of how many passed, by language and store."""
    lines = [_row(["passed", *STORES]), _row(["---"] * (len(STORES) + 1))]
    for language in cells:
        lines.append(_row([language, *(_passed(scenarios, cells, language, store) for store in STORES)]))
    return "\n".join(lines)


def faults(scenarios: Sequence[Scenario], cells: Cells) -> list[str]:
    """Out: a line for each cell that is not as it must be."""
    return [
        f"{language} {store} {scenario.name}: {'failed' if cell == 'FAIL' else 'was not run'}"
        for scenario in scenarios
        for language in cells
        for store in STORES
        if (cell := _cell(scenario, cells, language, store)) not in ("ok", LEFT_OUT)
    ]


def passed_in(text: str) -> set[str]:
    """In: a text of MATRIX.md. Out: its cells that passed, as `scenario language store`."""
    found, languages = set(), []
    for line in text.splitlines():
        if line.startswith("| scenario |"):
            languages = [word.strip() for word in line.strip("|").split("|")[1:]]
        elif row := ROW.match(line):
            for language, cell in zip(languages, row["cells"].split(" | "), strict=False):
                found |= {f"{row['scenario']} {language} {store}" for store, word in zip(STORES, cell.split(), strict=False) if word == "ok"}
    return found


def _passed(scenarios: Sequence[Scenario], cells: Cells, language: str, store: str) -> str:
    mine = [_cell(scenario, cells, language, store) for scenario in scenarios if store in scenario.stores]
    return f"{mine.count('ok'):,} of {len(mine):,}"


def _cell(scenario: Scenario, cells: Cells, language: str, store: str) -> str:
    if store not in scenario.stores:
        return LEFT_OUT
    return cells[language].get(scenario.name, {}).get(store, NOT_RUN)


def _row(words: Sequence[str]) -> str:
    return "| " + " | ".join(words) + " |"
