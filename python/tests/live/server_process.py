"""A server in a process group of its own. What it says is kept."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

FoundT = TypeVar("FoundT")


def eventually(what: str, found: Callable[[], FoundT | None], within: float) -> FoundT:
    """Wait until there is something; not to come to pass in time, in seconds, is a failure."""
    end = time.monotonic() + within
    while (value := found()) is None:
        assert time.monotonic() < end, f"not within {within} s: {what}"
        time.sleep(0.02)
    return value


class ServerProcess:
    """`python -m` some server, until it is stopped."""

    def __init__(self, *command: str, **environment: str) -> None:
        # What is closed here is open there.
        with tempfile.NamedTemporaryFile(delete=False) as log:
            self._log = Path(log.name)
            path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
            self._process = subprocess.Popen(
                [sys.executable, "-m", *command],
                env={**os.environ, "PYTHONPATH": path, **environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def log(self) -> str:
        """What it said so far."""
        return self._log.read_text()

    def says(self, pattern: str, times: int = 1) -> list[str]:
        """Wait until the log says so, and give what the pattern caught each time."""

        def said() -> list[str] | None:
            assert self._process.poll() is None, f"the server ended; it said:\n{self.log}"
            found = re.findall(pattern, self.log)
            return found if len(found) >= times else None

        try:
            return eventually(f"the server says {pattern!r}", said, within=30)
        except AssertionError as error:
            raise AssertionError(f"{error}; it said:\n{self.log}") from None

    def stop(self) -> None:
        """End it in good order, or else at once."""
        self._process.terminate()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._log.unlink()
