"""Scenarios: read from files, held against `schema.json` and against the rules that a schema cannot say."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge import strict_json
from judge.misuse import Misuse
from judge.schema import Finding, Schema

STORES = ("memory", "redis", "cluster")
OPS = ("check", "peek", "clear", "headers", "advance", "redis", "store", "logs", "metrics", "publish", "remove", "refresh")
WHOLE = ("logs", "publish")
"""Operations of which an empty `expect` asserts something."""
PROPERTY_LISTS = {"characteristics", "available_properties", "availableProperties", "count_distinct", "countDistinct"}
METRIC_LABELS = {
    "gitlab_labkit_rate_limiter_checks_total": ["action", "error", "matched", "rate_limiter"],
    "gitlab_labkit_rate_limiter_rule_evaluations_total": ["action", "rate_limiter", "result", "rule"],
    "gitlab_labkit_rate_limiter_peeks_total": ["error", "rate_limiter"],
    "gitlab_labkit_rate_limiter_limit": ["rate_limiter", "rule"],
    "gitlab_labkit_rate_limiter_period_seconds": ["rate_limiter", "rule"],
}


@dataclass(frozen=True)
class Scenario:
    """One scenario: its name, the file it stands in, its JSON, and the stores it runs on."""

    name: str
    file: Path
    data: dict[str, Any]
    stores: tuple[str, ...]

    @property
    def steps(self) -> list[dict[str, Any]]:
        steps: list[dict[str, Any]] = self.data.get("steps", [])
        return steps

    @property
    def gcra_rules(self) -> frozenset[str]:
        """Names of the rules that anything in the scenario gives the algorithm GCRA."""
        return frozenset(
            node["name"]
            for _, node in walk(self.data)
            if isinstance(node, dict) and node.get("algorithm") in ("gcra", "ALGORITHM_GCRA") and isinstance(node.get("name"), str)
        )


def op_of(step: dict[str, Any]) -> str:
    """In: a step that fits the schema. Out: its one operation."""
    return next(op for op in OPS if op in step)


def stores_of(data: dict[str, Any]) -> tuple[str, ...]:
    """In: a scenario's JSON. Out: the stores it runs on, in the order of STORES."""
    named = data.get("stores", STORES)
    steps = data.get("steps", [])
    off_memory = any("redis" in step or "store" in step for step in steps)
    only_memory = any(step.get("advance", 0) < 0 for step in steps)
    return tuple(s for s in STORES if s in named and not (off_memory and s == "memory") and not (only_memory and s != "memory"))


def load(files: Iterable[Path], schema: Schema, other_files: Iterable[Path] = ()) -> list[Scenario]:
    """In: scenario files, the schema, and files that run another time but share the names. Out: the scenarios, in order.

    Raises Misuse with every finding of every file if anything at all is wrong with them.
    """
    scenarios: list[Scenario] = []
    complaints: list[str] = []
    for file in files:
        for data, findings in _read(file, schema, complaints):
            name = data.get("name") if isinstance(data, dict) else None
            complaints += [f"{file.name}: {name or '(no name)'}: {path or 'the scenario'}: {text}" for path, text in findings]
            if not findings:
                scenarios.append(Scenario(data["name"], file, data, stores_of(data)))
    complaints += _twice(scenarios, other_files)
    if complaints:
        raise Misuse("\n".join(complaints) + f"\n{len(complaints)} finding(s): nothing was run. The fields are in spec-tests/schema.json.")
    return scenarios


def findings_of(data: Any, schema: Schema, *, must_assert: bool = True) -> list[Finding]:
    """In: what should be one scenario; a random one need not assert anything. Out: all that is wrong with it, one finding per place."""
    findings = [(path.removeprefix("[0]").removeprefix("."), text) for path, text in schema.check([data])]
    if not findings:
        findings = list(_rules_beyond_schema(data, must_assert))
    return list({path: (path, text) for path, text in reversed(findings)}.values())[::-1]


def walk(node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """In: JSON. Out: every node in it with its path, itself first."""
    yield path, node
    if isinstance(node, dict):
        for key, value in node.items():
            yield from walk(value, f"{path}.{key}" if path else key)
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from walk(value, f"{path}[{index}]")


def _read(file: Path, schema: Schema, complaints: list[str]) -> Iterator[tuple[Any, list[Finding]]]:
    try:
        content = strict_json.parse(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, strict_json.BadJson) as error:
        complaints.append(f"{file}: {error}")
        return
    if not isinstance(content, list) or not content:
        complaints.append(f"{file}: must be a list of at least one scenario")
        return
    for data in content:
        yield data, findings_of(data, schema)


def _twice(scenarios: list[Scenario], other_files: Iterable[Path]) -> Iterator[str]:
    seen: dict[str, Path] = {}
    for file in other_files:
        try:
            content = strict_json.parse(file.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, strict_json.BadJson):
            continue  # said when that file is run
        for data in content if isinstance(content, list) else []:
            if isinstance(data, dict) and isinstance(data.get("name"), str):
                seen[data["name"]] = file
    for scenario in scenarios:
        if scenario.name in seen:
            yield f"{scenario.file.name}: {scenario.name}: the name stands in {seen[scenario.name].name} too: rename one"
        seen[scenario.name] = scenario.file


def _rules_beyond_schema(data: dict[str, Any], must_assert: bool) -> Iterator[Finding]:
    yield from _store_findings(data)
    yield from _name_findings(data)
    yield from _document_findings(data)
    asserts = "expect_build_error" in data
    result_seen = False
    for index, step in enumerate(data.get("steps", [])):
        asserts = asserts or bool(step.get("expect")) or ("expect" in step and op_of(step) in WHOLE)
        result_seen = result_seen or "check" in step or "peek" in step
        if "headers" in step and not result_seen:
            yield f"steps[{index}].headers", "there is no result yet: check or peek first"
        for series in step.get("expect", {}) if "metrics" in step else ():
            if text := _bad_series(series):
                yield f"steps[{index}].expect[{series}]", text
    if must_assert and not asserts:
        yield "steps", "no step expects anything, so the scenario asserts nothing"


def _store_findings(data: dict[str, Any]) -> Iterator[Finding]:
    left = stores_of(data)
    if not left:
        yield "stores", "nothing is left to run on: `redis` and `store` steps leave out memory, a negative `advance` leaves out the others"
    for store in data.get("stores", []):
        if left and store not in left:
            yield "stores", f"{store} is named, but the steps leave it out: take it off the list"


def _name_findings(data: dict[str, Any]) -> Iterator[Finding]:
    for path, node in walk({key: value for key, value in data.items() if key != "why"}):
        if isinstance(node, dict):
            for key in node.keys() & {"endpoint", "re"}:
                yield (
                    f"{path}.{key}",
                    f"{key!r} is not the same in every language: "
                    + ("Ruby strips the query of it; take another property" if key == "endpoint" else "write `regex`"),
                )
            for key in node.keys() & PROPERTY_LISTS:
                if node[key] == "endpoint" or (isinstance(node[key], list) and "endpoint" in node[key]):
                    yield f"{path}.{key}", "'endpoint' is not the same in every language: Ruby strips the query of it; take another property"


def _document_findings(data: dict[str, Any]) -> Iterator[Finding]:
    """What no document can hold, as it is handed over as JSON text; and a contract that leaves the scenario's own limiter out."""
    for field in ("available_limiters", "rate_limits"):
        for path, node in walk(data.get(field), field):
            for key in node if isinstance(node, dict) else ():
                if key.startswith("$"):
                    yield f"{path}.{key}", "a document is plain JSON text: no floats, bytes or patterns of the host in it"
    contract = data.get("available_limiters")
    if "expect_build_error" not in data and contract is not None:
        limiters = contract.get("available_limiters", contract)
        if data["limiter"] not in limiters:
            yield "limiter", f"the contract has no such limiter; it has {', '.join(limiters)}"


def _bad_series(series: str) -> str | None:
    fitted = re.fullmatch(r'([a-z_]+)\{((?:[a-z_]+="(?:[^"\\]|\\.)*",?)*)\}', series)
    if not fitted or fitted[1] not in METRIC_LABELS:
        return f'no series of a limiter; write one of {", ".join(METRIC_LABELS)} with its labels as {{a="…",b="…"}}'
    labels = re.findall(r'([a-z_]+)="(?:[^"\\]|\\.)*"', fitted[2])
    wanted = METRIC_LABELS[fitted[1]]
    return None if labels == wanted else f"the labels must be {', '.join(wanted)}, in this order"
