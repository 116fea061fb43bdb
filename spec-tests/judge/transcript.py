"""What a runner printed, read and held against the protocol."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judge import strict_json
from judge.scenario import Scenario, op_of
from judge.schema import Schema


@dataclass
class Played:
    """One scenario as it ran: the build's `actual`, each step's, and what broke the protocol on the way."""

    build: dict[str, Any] | None = None
    steps: list[Any] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


@dataclass
class Transcript:
    """All of a run: scenarios by name, and `problems` that belong to no scenario. Sound only if there are none."""

    played: dict[str, Played] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    done: int | None = None


@dataclass(frozen=True)
class Expectation:
    """What a sound transcript must be of: `scenarios` in their order; no `version` and no `library` mean that any will do."""

    language: str
    store: str
    version: str | None
    scenarios: tuple[Scenario, ...]
    library: Path | None = None


def read(text: str, expectation: Expectation, line_schema: Schema) -> Transcript:
    """In: a runner's stdout, what it should hold, and `transcript-schema.json`. Out: the transcript with every breach named."""
    transcript = Transcript()
    lines = [line for line in text.split("\n") if line]
    parsed = list(_parse(lines, line_schema, transcript))
    if parsed and "runner" in parsed[0]:
        transcript.problems += header_problems(parsed.pop(0)["runner"], expectation)
    else:
        transcript.problems.append('the first line is not {"runner": {"language", "version", "store"}}')
    if parsed and "done" in parsed[-1]:
        transcript.done = parsed.pop()["done"]
    else:
        transcript.problems.append('the last line is not {"done": N}: the runner ended early')
    _play(parsed, expectation, transcript)
    return transcript


def _parse(lines: list[str], schema: Schema, transcript: Transcript) -> Iterable[dict[str, Any]]:
    for number, line in enumerate(lines, 1):
        try:
            value = strict_json.parse(line)
        except strict_json.BadJson as error:
            transcript.problems.append(f"line {number} is not JSON ({error}): {line[:100]}")
            continue
        findings = schema.check(value)
        if findings:
            path, problem = findings[0]
            where = f"{value.get('scenario')} step {value.get('step')}: " if isinstance(value, dict) and "scenario" in value else ""
            transcript.problems.append(f"line {number} breaks the protocol: {where}{path or 'the line'}: {problem}")
        else:
            yield value


def header_problems(header: dict[str, str], expectation: Expectation) -> Iterable[str]:
    """In: what a runner says of itself. Out: what of it is not as it must be."""
    wanted = {"language": expectation.language, "store": expectation.store, "version": expectation.version or header["version"]}
    for key, value in wanted.items():
        if header[key] != value:
            hint = ": that library is not this build" if key == "version" else ""
            yield f"the runner says {key} {header[key]!r}, must be {value!r}{hint}"
    if expectation.library and not _same(header.get("library"), expectation.library):
        yield f"the runner uses {header.get('library')}, which is not this build ({expectation.library})"


def _same(used: str | None, built: Path) -> bool:
    try:
        return used is not None and (Path(used) == built or Path(used).read_bytes() == built.read_bytes())
    except OSError:
        return False


def _play(lines: list[dict[str, Any]], expectation: Expectation, transcript: Transcript) -> None:
    scenarios = {scenario.name: scenario for scenario in expectation.scenarios}
    current: str | None = None
    for line in lines:
        if "scenario" not in line:
            transcript.problems.append(f"{'first' if 'runner' in line else 'last'} line in the middle: {strict_json.write(line)[:100]}")
            continue
        name = line["scenario"]
        if name not in scenarios:
            if name != current:
                transcript.problems.append(f"{name} was run, but is not among the scenarios for {expectation.store}")
        elif line["step"] == -1:
            if name in transcript.played:
                transcript.played[name].problems.append("was run twice")
            else:
                transcript.played[name] = Played(build=line["actual"])
            if line["op"] != "build":
                transcript.played[name].problems.append(f"step -1 is {line['op']}, must be build")
        elif name not in transcript.played or name != current:
            transcript.problems.append(f"{name}: step {line['step']} stands apart from its build line")
            transcript.played.setdefault(name, Played())
        else:
            _add_step(transcript.played[name], scenarios[name], line)
        current = name
    for scenario in expectation.scenarios:
        _close(scenario, transcript)
    if transcript.done is not None and transcript.done != len(expectation.scenarios):
        transcript.problems.append(f"done says {transcript.done} scenarios, must be {len(expectation.scenarios)}")
    order = [scenario.name for scenario in expectation.scenarios if scenario.name in transcript.played]
    if list(transcript.played) != order:
        transcript.problems.append("the scenarios ran in another order than the files hold them")


def _add_step(played: Played, scenario: Scenario, line: dict[str, Any]) -> None:
    index = len(played.steps)
    if line["step"] != index:
        played.problems.append(f"step {line['step']} came where step {index} must")
    elif index >= len(scenario.steps):
        played.problems.append(f"extra step {index} ({line['op']})")
    elif line["op"] != op_of(scenario.steps[index]):
        played.problems.append(f"step {index} is {line['op']}, must be {op_of(scenario.steps[index])}")
    else:
        played.steps.append(line["actual"])


def _close(scenario: Scenario, transcript: Transcript) -> None:
    played = transcript.played.get(scenario.name)
    if played is None:
        return
    expected = len(scenario.steps) if played.build is None else 0
    if len(played.steps) < expected and not played.problems:
        played.problems.append(f"step {len(played.steps)} ({op_of(scenario.steps[len(played.steps)])}) is missing")
    if played.build is not None and played.steps:
        played.problems.append("steps follow a failed build")
