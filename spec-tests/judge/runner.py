"""One run of a runner: started with its arguments, bounded in time, never left behind."""

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from judge.misuse import Misuse

DEFAULT_TIMEOUT_S = 900


@dataclass(frozen=True)
class Run:
    """What a runner left: its stdout, and `failure`, None after a clean exit. Its stderr went to ours."""

    stdout: str
    failure: str | None


def run(command: Sequence[str], store: str, where: Sequence[str], files: Sequence[Path]) -> Run:
    """In: a runner's command line, a store, the arguments that say where it is, scenario files. Out: what came of it."""
    try:
        limit = float(os.environ.get("LABKIT_SPEC_TIMEOUT_S", DEFAULT_TIMEOUT_S))
    except ValueError as error:
        raise Misuse("LABKIT_SPEC_TIMEOUT_S must be a number of seconds") from error
    arguments = [*command, "--store", store, *where, *map(str, files)]
    # A group of its own, so that what the runner starts ends with it.
    process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True)
    try:
        stdout, _ = process.communicate(timeout=limit)
        failure = None if process.returncode == 0 else f"the runner exited with {process.returncode}"
    except subprocess.TimeoutExpired:
        _end(process)
        stdout, _ = process.communicate()
        failure = f"the runner did not end within {limit:g} s (LABKIT_SPEC_TIMEOUT_S) and was stopped"
    finally:
        _end(process)
    return Run(stdout.decode("utf-8", errors="replace"), failure)


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
