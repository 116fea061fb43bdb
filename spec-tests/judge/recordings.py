"""Recordings of labkit-ruby, replayed against the gem on a Redis of their own. The replayer is Ruby: spec-tests/replay."""

import argparse
import subprocess
from collections.abc import Sequence
from pathlib import Path

from judge.languages import ruby_with_the_gem
from judge.misuse import Misuse
from judge.room import Room
from judge.servers import serving

RECORDINGS = Path("recordings") / "labkit-ruby-5.6.1.json"


def run(room: Room, arguments: Sequence[str]) -> int:
    """In: a file of recordings, or none for those of the repository. Out: the exit status; the replayer prints a line a case."""
    parser = argparse.ArgumentParser(prog="spec-tests/run recordings")
    parser.add_argument("file", nargs="?", type=Path, default=room.home / RECORDINGS)
    file = parser.parse_args(arguments).file.resolve()
    if not file.is_file():
        raise Misuse(f"there is no file {file}")
    command = ruby_with_the_gem(room.root)
    with serving("redis") as (_, address):
        port = address.rpartition(":")[2]
        replayer = [*command, str(room.home / "replay" / "replay.rb"), port, str(file)]
        return subprocess.run(replayer, stdin=subprocess.DEVNULL, check=False).returncode
