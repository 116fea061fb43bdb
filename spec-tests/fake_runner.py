#!/usr/bin/env python3
"""A runner without a library, for the tests of the judge: it reports what the scenarios expect, with one fault if asked for one.

In: a runner's arguments (PROTOCOL.md); LABKIT_FAKE_FAULT names a fault, `<fault>@<store>` one that is there on that store alone.
"""

import argparse
import copy
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

sys.dont_write_bytecode = True

from judge.scenario import op_of, stores_of  # noqa: E402 (no bytecode beside the sources)

INFO = {"limit": 9, "period_s": 60, "count": 1, "remaining": 8, "reset_after": 60, "retry_after": None, "banned": False}
RESULT = {
    "action": "allow",
    "matched": True,
    "exceeded": False,
    "skipped": False,
    "warned": False,
    "error": False,
    "degraded": False,
    "rule": "per_user",
    "info": INFO,
    "evaluations": [],
}
EVALUATION = {"rule": "per_user", "result": "allow", "exceeded": False, "info": INFO}
LOG_FIELDS = ("message", "error_type", "name", "rule", "count_distinct", "identifier_keys", "metric", "class_name", "error_message")


def actual(step: dict[str, Any]) -> Any:
    """In: a step. Out: an `actual` of the right shape in which everything it expects holds."""
    op, expect = op_of(step), step.get("expect", {})
    if op in ("check", "peek"):
        result = over(RESULT, expect)
        return {**result, "evaluations": [over(EVALUATION, entry) for entry in expect.get("evaluations", [])]}
    if op == "logs":
        return [{**dict.fromkeys(LOG_FIELDS), **entry} for entry in expect]
    if op in ("headers", "metrics"):
        return {name: value for name, value in expect.items() if value is not None}
    empty = {"clear": {"deleted": 0}, "redis": {"reply": None}, "remove": {"removed": False}, "publish": {}}
    return expect or empty.get(op)


def over(base: dict[str, Any], named: dict[str, Any]) -> dict[str, Any]:
    """In: a whole value and what is named of it. Out: the whole with the named put in."""
    made = copy.deepcopy(base)
    for key, value in named.items():
        made[key] = over(made[key], value) if isinstance(value, dict) and isinstance(made[key], dict) else value
    return made


def lines_of(data: dict[str, Any]) -> list[dict[str, Any]]:
    """In: a scenario. Out: its lines."""
    error = data.get("expect_build_error")
    findings = {"findings": [{"code": "", "path": "", "message": "", **error}]} if error else None
    steps = [{"scenario": data["name"], "step": n, "op": op_of(step), "actual": actual(step)} for n, step in enumerate(data.get("steps", []))]
    return [{"scenario": data["name"], "step": -1, "op": "build", "actual": findings}, *steps]


def spoil(fault: str, header: dict[str, Any], lines: list[dict[str, Any]], done: dict[str, Any]) -> list[Any]:
    """In: a fault and all lines. Out: the lines with it; a line that is text is printed as it is."""
    results = [line for line in lines if line["op"] in ("check", "peek")]
    last = lines[-1]
    match fault:
        case "wrong_value":
            results[-1]["actual"]["action"] = {"allow": "block", "block": "allow"}[results[-1]["actual"]["action"]]
        case "missing_field":
            del results[-1]["actual"]["degraded"]
        case "missing_step":
            return [header, *lines[:-1], done]
        case "extra_step":
            return [header, *lines, {**last, "step": last["step"] + 1}, done]
        case "unknown_op":
            last["op"] = "guess"
        case "other_op":
            last.update(op="advance", actual=None)
        case "extra_scenario":
            return [header, *lines, {**lines[0], "scenario": "nobody_wrote_this"}, done]
        case "missing_scenario":
            return [header, *[line for line in lines if line["scenario"] != last["scenario"]], done]
        case "twice":
            return [header, *lines, *[line for line in lines if line["scenario"] == last["scenario"]], done]
        case "wrong_done":
            done["done"] += 1
        case "no_done":
            return [header, *lines]
        case "no_header":
            return [*lines, done]
        case "wrong_version":
            header["runner"]["version"] = "0.0.0-stale"
        case "wrong_store":
            header["runner"]["store"] = "cluster"
        case "not_json":
            return [header, "hello", *lines, done]
        case "duplicate_key":
            return [header, *lines, '{"done": 1, "done": 2}']
        case "build_error":
            return [header, {**lines[0], "actual": {"findings": [{"code": "limit_below_one", "path": "rules[0].limit", "message": "x"}]}}, done]
    return [header, *lines, done]


def decisions(file: Path, fault: str, language: str) -> list[dict[str, Any]]:
    """In: a log. Out: a line for each of its requests, and the last one."""
    requests = [request for _, group in json.loads(file.read_text())["seconds"] for request in group]
    lines: list[dict[str, Any]] = [{"action": "allow", "error": fault == "error", "rule": None, "exceeded": []} for _ in requests]
    if fault == "wrong_decision" and language == "go":
        lines[-1] = {**lines[-1], "action": "block", "rule": "per_ip", "exceeded": ["per_ip"]}
    done = {"done": len(requests), "seconds": 0.5}
    return {"missing_step": [*lines[1:], done], "no_done": lines}.get(fault, [*lines, done])


def share(file: Path, fault: str, language: str) -> None:
    """Prints, for each line of standard input, what came of the calls: each language has the same share of what passes."""
    asked = json.loads(file.read_text())
    limit, each = asked["rules"][0]["limit"], asked["callers"] * asked["calls"]
    fair = limit * each // (2 * limit)
    allowed = {"one_too_many": fair + 1, "idle": 0}.get(fault, fair) if language == "go" else fair
    print("oops" if fault == "mute" else json.dumps({"ready": True}), flush=True)
    for _ in sys.stdin:
        print(json.dumps({"allowed": allowed, "blocked": each - allowed, "failed": int(fault == "failing")}), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--language", default="rust")
    parser.add_argument("--log", type=Path)
    parser.add_argument("--share", type=Path)
    parser.add_argument("--store", required=True)
    parser.add_argument("--redis")
    parser.add_argument("--cluster")
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args()
    fault, _, only = os.environ.get("LABKIT_FAKE_FAULT", "").partition("@")
    fault = fault if only in ("", options.store) else ""
    scenarios = [data for file in options.files for data in json.loads(file.read_text()) if options.store in stores_of(data)]
    lines = [line for data in scenarios for line in lines_of(data)]
    header = {"runner": {"language": options.language, "version": os.environ.get("LABKIT_FAKE_VERSION", "1.2.3"), "store": options.store}}
    if options.share:
        print(json.dumps(header), flush=True)
        share(options.share, fault, options.language)
        return 0
    if options.log:
        header["runner"]["version"] = "0.0.0-stale" if fault == "wrong_version" else header["runner"]["version"]
        printed = [header, *decisions(options.log, fault, options.language)]
    else:
        printed = spoil(fault, header, lines, {"done": len(scenarios)})
    for line in printed[: len(printed) // 2] if fault in ("early_exit", "hang") else printed:
        print(line if isinstance(line, str) else json.dumps(line), flush=True)
    if fault == "hang":
        time.sleep(600)
    return 3 if fault in ("early_exit", "late_exit") else 0


if __name__ == "__main__":
    sys.exit(main())
