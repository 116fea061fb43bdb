"""`spec-tests/run log`: one access log through every language side by side."""

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge import access_log, runner, transcript
from judge.languages import LANGUAGES, profile, runner_of, version_of
from judge.misuse import Misuse
from judge.room import Room
from judge.servers import serving

SHOWN = 5
DECISION = {"action", "error", "rule", "exceeded"}


@dataclass(frozen=True)
class Played:
    """What a language made of the log: a decision for each request, and how long deciding took, in seconds."""

    language: str
    decisions: list[dict[str, Any]]
    seconds: float

    @property
    def rate(self) -> int:
        return round(len(self.decisions) / self.seconds)


def run(room: Room, arguments: Sequence[str]) -> int:
    """In: the words after `log`. Out: the exit status: 0 if all languages decided alike, 1 if not."""
    parser = argparse.ArgumentParser(prog="spec-tests/run log")
    parser.add_argument("log", type=Path, help="an access log in the combined format, plain or gzip")
    parser.add_argument(
        "languages", nargs="*", choices=[*LANGUAGES, []], metavar="LANGUAGE", help="by default all; the first is what others are held against"
    )
    parser.add_argument("--limiter", required=True, help="its name in the documents")
    parser.add_argument("--available", type=Path, help="the contract")
    parser.add_argument("--rules", type=Path, action="append", default=[], help="a rate_limits document; once for each, in order")
    parser.add_argument("--store", choices=("memory", "redis"), default="memory")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    options = parser.parse_intermixed_args(arguments)
    if not options.rules and not options.available:
        raise Misuse("no rules: give --rules FILE, --available FILE or both")
    seconds = access_log.read(options.log)
    log = {**access_log.Rules(options.limiter, options.available, options.rules).texts(), "seconds": seconds}
    wanted = sum(len(requests) for _, requests in seconds)
    with tempfile.TemporaryDirectory(prefix="labkit-spec-") as folder:
        file = Path(folder) / "log.json"
        file.write_text(json.dumps(log), encoding="utf-8")
        languages = list(dict.fromkeys(options.languages)) or list(LANGUAGES)
        plays = [_play(room, language, options.store, file, wanted) for language in languages]
    report = _json if options.format == "json" else _text
    print(report(options.store, plays))
    return 0 if not any(_differing(plays)) and not any(decision["error"] for play in plays for decision in play.decisions) else 1


def _play(room: Room, language: str, store: str, file: Path, wanted: int) -> Played:
    its = runner_of(language, room.root)
    print(f"{language}: deciding {wanted} requests on {store}", file=sys.stderr, flush=True)
    with serving(store) as where:
        ran = runner.run(its.command, store, [*where, "--log", str(file)], [])
    try:
        first, *decisions, last = [json.loads(line) for line in ran.stdout.splitlines()]
        header = transcript.Expectation(language, store, version_of(room.root), (), its.library)
        unsound = list(transcript.header_problems(first["runner"], header))
        if not last["done"] == len(decisions) == wanted or any(line.keys() != DECISION for line in decisions):
            unsound.append(f"{len(decisions)} decisions and {last}, {wanted} requests")
        played = Played(language, decisions, last["seconds"])
    except (ValueError, KeyError, TypeError) as error:
        raise Misuse(f"{language}'s runner broke the protocol: {ran.failure or error!r}") from error
    if ran.failure or unsound:
        raise Misuse(f"{language}'s runner broke the protocol: {ran.failure or '; '.join(unsound)}")
    return played


def _differing(plays: Sequence[Played]) -> list[int]:
    """How many decisions of each differ from the first's."""
    return [sum(ours != theirs for ours, theirs in zip(plays[0].decisions, play.decisions, strict=True)) for play in plays]


def _refused(play: Played) -> Counter[str]:
    return Counter(decision["rule"] for decision in play.decisions if decision["action"] == "block")


def _over(play: Played) -> Counter[str]:
    """How often each rule was over without refusing: a dry run, or a warning."""
    return Counter(rule for decision in play.decisions for rule in decision["exceeded"] if decision["action"] != "block" or rule != decision["rule"])


def _json(store: str, plays: Sequence[Played]) -> str:
    languages = {
        play.language: {"refused": _refused(play), "over": _over(play), "differ": differ, "decisions_per_second": play.rate}
        for play, differ in zip(plays, _differing(plays), strict=True)
    }
    return json.dumps({"store": store, "build": profile(), "requests": len(plays[0].decisions), "languages": languages}, indent=2)


def _text(store: str, plays: Sequence[Played]) -> str:
    rows = [["", *(play.language for play in plays)]]
    for title, count in (("refused by", _refused), ("over, not refused:", _over)):
        counts = [count(play) for play in plays]
        rows += [[f"{title} {rule}", *(f"{each[rule]:,}" for each in counts)] for rule in sorted(set().union(*counts))]
    differ = _differing(plays)
    rows += [
        [f"differ from {plays[0].language}", "", *(f"{number:,}" for number in differ[1:])],
        ["failed", *(f"{sum(decision['error'] for decision in play.decisions):,}" for play in plays)],
        ["decisions per second" + (" (debug build)" if profile() == "debug" else ""), *(f"{play.rate:,}" for play in plays)],
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]).rstrip() for row in rows
    ]
    lines += _examples(plays)
    lines.append(f"{len(plays[0].decisions):,} requests on {store} by {len(plays)} languages: {sum(differ)} decisions differ")
    return "\n".join(lines)


def _examples(plays: Sequence[Played]) -> list[str]:
    first = plays[0]
    return [
        f"request {at + 1}, in order of time: {first.language} {ours}, {play.language} {theirs}"
        for play in plays[1:]
        for at, ours, theirs in [(at, *pair) for at, pair in enumerate(zip(first.decisions, play.decisions, strict=True)) if pair[0] != pair[1]][
            :SHOWN
        ]
    ]
