"""`spec-tests/run together`: processes of every language share one limiter on one Redis at the same time."""

import argparse
import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.languages import LANGUAGES, runner_of
from judge.misuse import Misuse
from judge.resp import Connection
from judge.room import Room
from judge.servers import serving

CALLERS = 8
PERIOD_S = 3600
WINDOWS = 3
PATIENCE_S = 300
OUTCOMES = ("allowed", "blocked", "failed")


@dataclass(frozen=True)
class Process:
    """A runner that shares the limiter."""

    language: str
    process: subprocess.Popen[str]

    def begin(self) -> None:
        """Lets it call."""
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def line(self) -> dict[str, Any]:
        """Out: the next line that it prints. Misuse if none comes."""
        assert self.process.stdout is not None
        patience = threading.Timer(PATIENCE_S, _kill, [self.process])
        patience.start()
        text = self.process.stdout.readline()
        patience.cancel()
        try:
            line: dict[str, Any] = json.loads(text)
        except ValueError as error:
            raise Misuse(f"{self.language}'s runner broke the protocol: {text!r}") from error
        return line


def run(room: Room, arguments: Sequence[str]) -> int:
    """In: the words after `together`. Out: the exit status: 0 if exactly the limit passed in each window."""
    parser = argparse.ArgumentParser(prog="spec-tests/run together")
    parser.add_argument("languages", nargs="*", choices=[*LANGUAGES, []], metavar="LANGUAGE", help="by default all")
    parser.add_argument("--calls", type=int, default=12_000, help="of all of them, in each window (default: 12000)")
    options = parser.parse_intermixed_args(arguments)
    languages = list(dict.fromkeys(options.languages)) or list(LANGUAGES)
    each = max(1, options.calls // len(languages) // CALLERS)
    calls = each * CALLERS * len(languages)
    # So many that each language is refused, and so few that none can use them up alone.
    limit = calls // 2
    share = {
        "limiter": "together",
        "rules": [{"name": "all", "limit": limit, "period_s": PERIOD_S, "characteristics": ["key"]}],
        "identifier": {"key": "shared"},
        "callers": CALLERS,
        "calls": each,
    }
    with ExitStack() as stack:
        file = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="labkit-spec-"))) / "share.json"
        file.write_text(json.dumps(share), encoding="utf-8")
        runners = {language: runner_of(language, room.root) for language in languages}
        where = stack.enter_context(serving("redis"))
        started = [
            Process(language, stack.enter_context(_started([*its.command, "--store", "redis", *where, "--share", str(file)])))
            for language, its in runners.items()
        ]
        for process in started:
            if process.line().keys() != {"runner"} or process.line() != {"ready": True}:
                raise Misuse(f"{process.language}'s runner broke the protocol: it did not say that it was ready")
        with Connection(int(where[1].rpartition(":")[2])) as redis:
            windows = [_window(room, redis, started, number) for number in range(1, WINDOWS + 1)]
    faults = [fault for number, counts in enumerate(windows, 1) for fault in _faults(number, counts, limit, each * CALLERS)]
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{limit:,} of {calls:,} concurrent calls by {', '.join(languages)}, in each of {WINDOWS} windows: {len(faults)} faults")
    return 1 if faults else 0


@contextmanager
def _started(command: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        yield process
    finally:
        _kill(process)
        process.wait()


def _kill(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _window(room: Room, redis: Connection, processes: Sequence[Process], number: int) -> dict[str, dict[str, int]]:
    """Lets all call at once, then ends the window. Out: what came of the calls, by language."""
    began = time.monotonic()
    for process in processes:
        process.begin()
    counts: dict[str, dict[str, int]] = {process.language: process.line() for process in processes}
    spent = time.monotonic() - began
    for key in redis.call("KEYS", "labkit:rl:{together:*"):
        redis.call("EVAL", (room.home / "age.lua").read_text(encoding="utf-8"), 1, key, PERIOD_S * 1_000_000)
    said = "; ".join(f"{language} " + ", ".join(f"{count[outcome]:,} {outcome}" for outcome in OUTCOMES) for language, count in counts.items())
    print(f"window {number}, {spent:.1f} s: {said}", flush=True)
    return counts


def _faults(number: int, counts: dict[str, dict[str, int]], limit: int, each: int) -> Iterator[str]:
    allowed = sum(count["allowed"] for count in counts.values())
    if allowed != limit:
        yield f"FAIL window {number}: {allowed:,} passed, {limit:,} must"
    for language, count in counts.items():
        if sum(count[outcome] for outcome in OUTCOMES) != each or count["failed"]:
            yield f"FAIL window {number}: {language} made {each:,} calls, and {count} came of them"
        if not count["allowed"]:
            yield f"FAIL window {number}: none of {language} passed: it did not call beside the others"
