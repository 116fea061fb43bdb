"""Runs conformance scenarios with the Python package and prints what came back: see spec-tests/PROTOCOL.md."""

import json
import os
import sys
from pathlib import Path

import labkit_ratelimit
from backend import Backend
from calls import CALLS
from labkit_ratelimit import _native
from log import Log
from scenario import Scenario
from share import Share


def options(words: list[str]) -> tuple[str, list[str], list[str], dict[str, str]]:
    """In: the command line. Out: the store, its addresses, the files, and what is played in the place of scenarios."""
    words, given = list(words), {}
    while words and words[0].startswith("--"):
        option = words.pop(0)
        given[option] = words.pop(0) if words else ""
    store = given.pop("--store", "")
    instead: dict[str, str] = {option: given.pop(option) for option in ("--log", "--share") if option in given}
    addresses = [address for address in given.pop(f"--{store}", "").split(",") if address]
    if given or store not in ("memory", "redis", "cluster") or (store == "memory") == bool(addresses):
        sys.exit("give --store memory, --store redis --redis HOST:PORT or --store cluster --cluster HOST:PORT,...")
    return store, addresses, words, instead


def main() -> None:
    """Plays every scenario of the files that runs on the store."""
    store, addresses, files, instead = options(sys.argv[1:])
    # `async`: the limiters' asynchronous half, on an asynchronous client.
    calls = CALLS[os.environ.get("LABKIT_SPEC_CALLS", "sync")]()
    backend = Backend(addresses, clustered=store == "cluster", client=calls.client) if addresses else None
    print(json.dumps({"runner": {"language": "python", "version": labkit_ratelimit.__version__, "store": store, "library": _native.__file__}}))
    if instead:
        played = Log(instead["--log"], calls, backend) if "--log" in instead else Share(instead["--share"], addresses[0])
        for line in played.play():
            print(json.dumps(line), flush=True)
        return
    done = 0
    for file in files:
        for data in json.loads(Path(file).read_text(encoding="utf-8")):
            scenario = Scenario(data, calls, backend)
            if scenario.runs_on(store):
                try:
                    for step, op, actual in scenario.run():
                        line = {"scenario": scenario.name, "step": step, "op": op, "actual": actual}
                        print(json.dumps(line, ensure_ascii=False, allow_nan=False))
                except Exception as error:
                    raise RuntimeError(f"{file}: {scenario.name}: {error}") from error
                done += 1
    calls.end()
    print(json.dumps({"done": done}))


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    main()
