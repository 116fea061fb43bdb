"""Python and Rust answer alike, step by step, whatever Hypothesis thinks of in the words of spec-tests."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[2]
PROPERTIES = ["ip", "user", "path"]

texts = st.text(max_size=12) | st.sampled_from(["", "_unknown_", "a:user:b", "{x}", "x" * 201, "10.1.2.3", "/api/v4"])
bytestrings = st.binary(max_size=6).map(lambda data: {"$bytes": data.hex()})
integers = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 5)
floats = st.floats(allow_nan=False, allow_infinity=False)
plain = st.none() | st.booleans() | integers | floats | texts | bytestrings
odd = st.sampled_from([{"$float": "nan"}, {"$float": "inf"}, [1], {"a": 1}])
scalars = plain.filter(lambda value: not isinstance(value, dict))
matchers = (
    scalars
    | st.fixed_dictionaries({"ne": scalars})
    | st.fixed_dictionaries({"one_of": st.lists(scalars, max_size=3)})
    | st.fixed_dictionaries({"none_of": st.lists(scalars, min_size=1, max_size=3)})
    | st.fixed_dictionaries({"prefix": texts})
    | st.fixed_dictionaries({"regex": st.sampled_from([".", "^/api", "a|b", r"^\d+$", ""])})
    | st.fixed_dictionaries({"cidr": st.just("10.0.0.0/8")})
)


@st.composite
def rules(draw: st.DrawFn, at: int) -> dict[str, Any]:
    """One rule, whose name is told by its place."""
    rule: dict[str, Any] = {
        "name": f"rule_{at}",
        "action": draw(st.sampled_from(["limit", "limit", "warn", "log", "skip"])),
        "match": draw(st.dictionaries(st.sampled_from(PROPERTIES), matchers, max_size=2)),
        "characteristics": draw(st.lists(st.sampled_from(PROPERTIES), unique=True, max_size=2)),
        "limit": draw(st.integers(1, 5) | st.just({"context": "limit", "default": 3})),
        "period_s": draw(st.integers(1, 100)),
    }
    if rule["action"] == "skip":
        return rule
    kind = draw(st.sampled_from(["window", "ban", "gcra", "distinct"]))
    if kind == "ban":
        rule["ban_for_s"] = draw(st.integers(1, 100))
    elif kind == "gcra":
        rule |= {"algorithm": "gcra", "burst": draw(st.integers(1, 5))}
    elif kind == "distinct":
        rule |= {"count_distinct": "user", "characteristics": ["ip"]}
    rule["final"] = draw(st.booleans())
    return rule


identifiers = st.dictionaries(st.sampled_from([*PROPERTIES, "other"]), plain | plain | plain | odd, max_size=4)
costs = st.sampled_from([0, 0.5, 1, 2, 0.333333, 1e-7, -1, {"$float": "nan"}])
contexts = st.fixed_dictionaries({"limit": st.integers(-1, 4) | st.sampled_from([1.5, None, "7", {"$float": "inf"}])})
steps = st.one_of(
    st.fixed_dictionaries({"check": identifiers}, optional={"cost": costs, "context": contexts}),
    st.fixed_dictionaries({"check": identifiers}),
    st.fixed_dictionaries({"peek": identifiers}, optional={"context": contexts}),
    st.fixed_dictionaries({"clear": identifiers}),
    st.fixed_dictionaries({"advance": st.sampled_from([-1, 0.000001, 0.5, 1, 30, 101])}),
    st.just({"logs": True}),
    st.just({"metrics": True}),
)


@st.composite
def scenarios(draw: st.DrawFn) -> dict[str, Any]:
    """A scenario without expectations."""
    chain = [draw(rules(at)) for at in range(draw(st.integers(1, 4)))]
    options = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "evaluation": st.sampled_from(["first_block", "all"]),
                "on_error": st.sampled_from(["allow", "block", "local"]),
            },
        )
    )
    played = draw(st.lists(steps, min_size=1, max_size=12))
    return {"name": "drawn", "limiter": "drawn", "rules": chain, "options": options, "steps": played}


@pytest.fixture(scope="module")
def runners() -> dict[str, list[str]]:
    """Command lines, what is stale built anew."""
    sys.path.insert(0, str(ROOT / "spec-tests"))
    from judge.languages import runner_of  # type: ignore[import-not-found]

    sys.path.remove(str(ROOT / "spec-tests"))
    return {language: list(runner_of(language, ROOT).command) for language in ("rust", "python")}


def played(command: list[str], file: str) -> list[Any]:
    run = subprocess.run([*command, "--store", "memory", file], check=True, capture_output=True, text=True, timeout=60)
    lines = [json.loads(line) for line in run.stdout.splitlines()][1:]
    for line in lines:
        # What the host itself raises has the host's name and words.
        for said in line["actual"] if line.get("op") == "logs" else ():
            del said["class_name"], said["error_message"]
    return lines


# Nothing is made smaller: that takes minutes. The first scenario that differs is shown.
@settings(
    max_examples=60,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(drawn=st.lists(scenarios(), min_size=1, max_size=8))
def test_python_and_rust_answer_alike(runners: dict[str, list[str]], drawn: list[dict[str, Any]]) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(drawn, file)
        file.flush()
        assert played(runners["python"], file.name) == played(runners["rust"], file.name)
