"""Proves that the judge fails where it must: on each fault of a runner, of a scenario file, of MANIFEST, and on a canary that passes.

Every test runs the real command, from a copy of this room in a folder of its own, with `fake_runner.py` in the place of a language.
"""

import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from judge.languages import LANGUAGES
from judge.transcript import Expectation, header_problems

HOME = Path(__file__).resolve().parent
COPIED = ("run", "judge", "generator", "schema.json", "transcript-schema.json", "canaries", "fake_runner.py")
RULE = {"name": "per_user", "action": "limit", "characteristics": ["user"], "limit": 2, "period_s": 60}
CHECK = {"check": {"user": "user:1"}, "expect": {"action": "allow", "rule": "per_user", "info": {"count": 1, "remaining": 1}}}


def scenario(name: str, **fields: Any) -> dict[str, Any]:
    """Out: a scenario that is in order, with some fields replaced."""
    return {"name": name, "limiter": "notes_create", "rules": [RULE], "steps": [CHECK, {"advance": 60}, CHECK], **fields}


# At the end of judge/languages.py: what is "built" in the copy of this room is a fake.
FAKES = """
def _fake(language: str) -> Callable[[Path], Runner]:
    return lambda root: Runner((sys.executable, str(root / "spec-tests" / "fake_runner.py"), "--language", language))


LANGUAGES.update({language: _fake(language) for language in LANGUAGES})
"""


class RoomTest(unittest.TestCase):
    """A copy of the room with two scenarios, and ways to run its command."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="labkit-spec-test-")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.home = self.root / "spec-tests"
        self.home.mkdir()
        for name in COPIED:
            source = HOME / name
            if source.is_dir():
                shutil.copytree(source, self.home / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(source, self.home / name)
        with (self.home / "judge" / "languages.py").open("a") as table:
            table.write(FAKES)
        (self.root / "Cargo.toml").write_text('[workspace]\n[workspace.package]\nversion = "1.2.3"\n')
        (self.home / "scenarios").mkdir()
        self.write("one.json", scenario("first"), scenario("second", why="the same again"))
        self.assertEqual(0, self.run_command("--write-manifest").returncode)

    def write(self, file: str, *scenarios: Any) -> Path:
        path = self.home / "scenarios" / file
        path.write_text(json.dumps(list(scenarios)))
        return path

    def run_command(self, *arguments: str, fault: str = "", **environment: str) -> "subprocess.CompletedProcess[str]":
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("LABKIT_") and name != "CARGO_TARGET_DIR"}
        env = {**inherited, "LABKIT_FAKE_FAULT": fault, **environment}
        command = [sys.executable, str(self.home / "run"), *arguments]
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)

    def judge(self, *arguments: str, fault: str = "", **environment: str) -> "subprocess.CompletedProcess[str]":
        return self.run_command("rust", "--store", "memory", *arguments, fault=fault, **environment)

    def assert_fails(self, ran: "subprocess.CompletedProcess[str]", *texts: str, status: int = 1) -> None:
        self.assertEqual(status, ran.returncode, ran.stdout + ran.stderr)
        self.assertNotIn("Traceback", ran.stderr)
        for text in texts:
            self.assertIn(text, ran.stdout + ran.stderr)


class Runners(RoomTest):
    def test_passes_where_all_is_as_expected(self) -> None:
        ran = self.judge()
        self.assertEqual(0, ran.returncode, ran.stdout + ran.stderr)
        self.assertEqual("2 passed, 0 failed", ran.stdout.splitlines()[-1])

    def test_each_fault_fails(self) -> None:
        faults = {
            "wrong_value": 'step 2 (check) action: expected "allow", actual "block"',
            "missing_field": "'degraded' is missing",
            "missing_step": "step 2 (check) is missing",
            "extra_step": "extra step 3",
            "unknown_op": "must be one of",
            "other_op": "step 2 is advance, must be check",
            "extra_scenario": "nobody_wrote_this was run",
            "missing_scenario": "was not run",
            "twice": "was run twice",
            "wrong_done": "done says 3 scenarios, must be 2",
            "no_done": "the runner ended early",
            "no_header": "the first line is not",
            "wrong_version": "that library is not this build",
            "wrong_store": "store 'cluster', must be 'memory'",
            "not_json": "is not JSON",
            "duplicate_key": "stands twice",
            "build_error": "build: ",
            "early_exit": "the runner exited with 3",
            "late_exit": "the runner exited with 3",
        }
        for fault, text in faults.items():
            with self.subTest(fault):
                ran = self.judge(fault=fault)
                self.assert_fails(ran, text)
                self.assertRegex(ran.stdout.splitlines()[-1], r"^\d+ passed, [1-9]\d* failed$")

    def test_runner_that_hangs_is_stopped(self) -> None:
        self.assert_fails(self.judge(fault="hang", LABKIT_SPEC_TIMEOUT_S="2"), "did not end within 2 s")

    def test_runner_that_is_not_there(self) -> None:
        self.assert_fails(self.judge(LABKIT_SPEC_RUNNER_RUST="/nowhere/runner"), "/nowhere/runner", status=2)

    def test_build_that_should_fail_and_does_not(self) -> None:
        build = scenario("zero", expect_build_error={"code": "limit_below_one"})
        del build["steps"]
        self.write("one.json", build)
        self.run_command("--write-manifest")
        self.assertEqual(0, self.judge().returncode)
        self.write("one.json", {**build, "expect_build_error": {"code": "period_below_one"}})
        self.assert_fails(self.judge(fault="build_error"), 'expected {"code": "period_below_one"}')

    def test_jsonl_passes_the_lines_through_and_still_judges(self) -> None:
        ran = self.judge("--format", "jsonl", fault="wrong_value")
        self.assert_fails(ran, "1 passed, 1 failed")
        lines = [json.loads(line) for line in ran.stdout.splitlines()]
        self.assertEqual({"done": 2}, lines[-1])
        self.assertEqual(10, len(lines))


class Files(RoomTest):
    def refuse(self, text: str, *scenarios: Any) -> None:
        self.write("two.json", *scenarios)
        self.assert_fails(self.judge(), text, status=2)

    def test_unknown_fields(self) -> None:
        misspelled = {"check": {}, "expect": {"acton": "allow"}}
        for bad in (
            scenario("bad", stor=["memory"]),
            scenario("bad", steps=[{**CHECK, "costs": 1}]),
            scenario("bad", steps=[misspelled]),
            scenario("bad", steps=[{"check": {}, "expect": {"info": {"counts": 1}}}]),
            scenario("bad", steps=[{"check": {}, "expect": {"evaluations": [{"rules": "a"}]}}]),
            scenario("bad", rules=[{**RULE, "perod_s": 60}]),
            scenario("bad", rules=[{**RULE, "overrides": [{"match": {}, "limits": 1}]}]),
            scenario("bad", options={"on_eror": "block"}),
            scenario("bad", steps=[{"headers": {}, "check": {}}]),
            scenario("bad", steps=[{"headers": {}, "peek": {}, "expect": {}}]),
        ):
            with self.subTest(json.dumps(bad)):
                self.refuse("unknown field", bad)

    def test_rules_are_not_looked_at_where_their_error_is_expected(self) -> None:
        bad = scenario("odd", rules=[{"nam": 1, "match": {"user": {}}}], expect_build_error={"code": "unknown_field"})
        del bad["steps"]
        self.write("two.json", bad)
        self.run_command("--write-manifest")
        self.assertEqual(0, self.judge().returncode)

    def test_documents(self) -> None:
        spec = {
            "description": "Notes.",
            "available_properties": ["user"],
            "default_rules": [{"name": "b", "action": "limit", "limit": 2, "periodS": 60}],
        }
        contract = {"notes_create": spec}
        files = [{}, {"rate_limits": {"notes_create": {"rules": [RULE]}}}, {"notes_create": [{**RULE, "action": "ACTION_LOG"}]}]
        good = {"available_limiters": {"available_limiters": contract}, "rate_limits": files, "options": {"evaluation": "all"}}
        del (whole := scenario("third", **good))["rules"]
        self.write("two.json", whole, scenario("fourth", **good))
        self.assertEqual(0, self.judge(str(self.home / "scenarios" / "two.json")).returncode)
        matching = {**RULE, "match": {"user": {"$bytes": "ff"}}}
        for text, changed in (
            ("unknown field", {"rate_limits": [{"notes_create": [{**RULE, "perod_s": 60}]}]}),
            ("unknown field", {"rate_limits": [{"notes_create": [{**RULE, "overrides": [{"period_S": 60}]}]}]}),
            ("unknown field", {"available_limiters": {"notes_create": {**spec, "defaults": []}}}),
            ("'description' is missing", {"available_limiters": {"notes_create": {}}}),
            ("'action' is missing", {"rate_limits": [{"notes_create": [{"name": "a"}]}]}),
            ("must be integer", {"rate_limits": [{"notes_create": [{**RULE, "limit": {"context": "n"}}]}]}),
            ("must be array", {"rate_limits": {"notes_create": [RULE]}}),
            ("plain JSON text", {"rate_limits": [{"notes_create": [matching]}]}),
            ("plain JSON text", {"available_limiters": {"notes_create": {**spec, "default_rules": [matching]}}}),
            ("no such limiter; it has notes_read", {"available_limiters": {"notes_read": spec}}),
            ("no such limiter; it has notes_read", {"available_limiters": {"available_limiters": {"notes_read": spec}}}),
            ('"endpoint"', {"available_limiters": {"notes_create": {**spec, "availableProperties": ["endpoint"]}}}),
        ):
            with self.subTest(text, changed=changed):
                self.refuse(text, scenario("bad", **{**good, **changed}))

    def test_files_alone_are_no_limiter(self) -> None:
        alone = scenario("bad", rate_limits=[{"notes_create": [RULE]}])
        del alone["rules"]
        self.refuse("fits none of", alone)

    def test_documents_are_not_looked_at_where_their_error_is_expected(self) -> None:
        bad = scenario("odd", available_limiters=[1], rate_limits=[{"odd": None}, 5], expect_build_error={"code": "wrong_type"})
        del bad["steps"]
        del bad["rules"]
        file = self.write("two.json", bad)
        self.assertEqual(0, self.judge(str(file)).returncode)
        self.refuse("must be array", {**bad, "rate_limits": {}})
        self.refuse("must be object", {**bad, "options": []})

    def test_names_that_differ_between_languages(self) -> None:
        build = scenario("bad", rules=[{**RULE, "match": {"path": {"re": "a"}}}], expect_build_error={"code": "matcher_bad_regex"})
        del build["steps"]
        self.refuse("`regex`", build)
        for bad in (
            scenario("bad", rules=[{**RULE, "match": {"path": [{"re": "a"}]}}]),
            scenario("bad", rules=[{**RULE, "characteristics": ["endpoint"]}]),
            scenario("bad", rules=[{**RULE, "match": {"endpoint": "a"}}]),
            scenario("bad", steps=[{**CHECK, "check": {"endpoint": "/"}}]),
        ):
            with self.subTest(json.dumps(bad)):
                self.refuse("two.json: bad", bad)

    def test_duplicate_names(self) -> None:
        self.refuse("rename one", scenario("first"))
        self.refuse("rename one", scenario("third"), scenario("third"))
        self.refuse("rename one", scenario("canary_window_count"))
        one_file = self.write("two.json", scenario("first"))
        self.assert_fails(self.judge(str(one_file)), "the name stands in one.json too", status=2)

    def test_duplicate_keys_and_what_json_lacks(self) -> None:
        path = self.home / "scenarios" / "two.json"
        for text in ('[{"name": "a", "name": "b"}]', "[NaN]", "[1e999]", "[18446744073709551616]", "{}", "[]", "["):
            with self.subTest(text):
                path.write_text(text)
                self.assert_fails(self.judge(), "two.json", status=2)

    def test_scenarios_that_could_assert_nothing(self) -> None:
        self.refuse("asserts nothing", scenario("bad", steps=[{"check": {}}]))
        self.refuse("asserts nothing", scenario("bad", steps=[{"check": {}, "expect": {}}]))
        self.refuse("nothing is left to run on", scenario("bad", steps=[CHECK, {"advance": -1}, {"store": "down"}]))
        self.refuse("take it off the list", scenario("bad", steps=[CHECK, {"store": "down"}], stores=["memory", "redis"]))
        self.refuse("no result yet", scenario("bad", steps=[{"headers": {}, "expect": {"RateLimit-Name": None}}, CHECK]))
        series = 'gitlab_labkit_rate_limiter_peeks_total{rate_limiter="notes_create",error="false"}'
        self.refuse("in this order", scenario("bad", steps=[{"metrics": True, "expect": {series: None}}]))

    def test_manifest_that_differs(self) -> None:
        self.write("two.json", scenario("third"))
        self.assert_fails(self.judge(), "MANIFEST differs", "not in MANIFEST: two.json third memory,redis,cluster", "3 passed, 1 failed")
        self.assertEqual(0, self.judge(str(self.home / "scenarios" / "two.json")).returncode)
        self.run_command("--write-manifest")
        self.assertEqual(0, self.judge().returncode)
        (self.home / "scenarios" / "two.json").unlink()
        self.assert_fails(self.judge(), "only in MANIFEST: two.json third")
        (self.home / "MANIFEST").unlink()
        self.assert_fails(self.judge(), "there is no MANIFEST")


class OtherCommands(RoomTest):
    def test_canary_that_passes_fails(self) -> None:
        self.assert_fails(self.run_command("canaries", "rust", "--store", "memory"), "the judge or the runner is blind", "0 passed, 2 failed")

    def test_canary_that_fails_passes(self) -> None:
        ran = self.run_command("canaries", "rust", "--store", "memory", fault="wrong_value")
        self.assert_fails(ran, "canary_ban_retry_after: fails as it must", "1 passed, 1 failed")  # the fault is in the last scenario alone

    def test_canary_does_not_pass_by_a_broken_run(self) -> None:
        self.assert_fails(self.run_command("canaries", "rust", "--store", "memory", fault="early_exit"), "0 passed, 3 failed")

    def test_matrix(self) -> None:
        self.write("one.json", scenario("first"), scenario("second", stores=["memory"]))
        self.run_command("--write-manifest")
        self.assert_fails(self.run_command("matrix", "rust"), "| `first` | ? ? ? |", "| `second` | ? – – |")
        self.judge()
        self.assert_fails(self.run_command("matrix", "rust"), "| rust | 2 of 2 | 0 of 1 | 0 of 1 |", "| `first` | ok ? ? |")
        self.write("one.json", scenario("first", why="changed since"), scenario("second", stores=["memory"]))
        self.assert_fails(self.run_command("matrix", "rust"), "| `first` | ? ? ? |", "| `second` | ok – – |")
        self.write("one.json", scenario("second", stores=["memory"]))
        ran = self.run_command("matrix", "rust")
        self.assertEqual(0, ran.returncode, ran.stdout)
        (self.root / "Cargo.lock").write_text("other sources")
        self.assert_fails(self.run_command("matrix", "rust"), "| `second` | ? – – |")
        self.judge(fault="wrong_value")
        self.assert_fails(self.run_command("matrix", "rust"), "| `second` | FAIL – – |")

    def test_all_writes_the_matrix_and_loses_no_cell(self) -> None:
        self.write("one.json", scenario("first", stores=["memory"]), scenario("second", stores=["memory"]))
        self.run_command("--write-manifest")
        written = self.home / "MATRIX.md"
        self.assert_fails(self.run_command("all", "--check"), "MATRIX.md is not what this run gives")
        self.assertFalse(written.exists())
        self.assertEqual(0, self.run_command("all").returncode)
        self.assertEqual(2, written.read_text().count("| `"))
        again = self.run_command("all", "--check")
        self.assertEqual(0, again.returncode, again.stdout + again.stderr)
        self.assertIn("every cell is ok already", again.stdout)
        self.assert_fails(
            self.run_command("all", "--again", fault="wrong_value"),
            "rust memory second: failed",
            "MATRIX.md had a cell that is gone: second rust memory",
        )
        self.assertEqual(0, self.run_command("all", "--again").returncode)
        for fault, text in {"no_done": "the runner ended early", "wrong_version": "that library is not this build"}.items():
            broken = f"{fault}@memory"
            for arguments in (("all", "--again"), ("all",), ("all",)):  # the next one must not be green for what the last one kept
                ran = self.run_command(*arguments, fault=broken)
                self.assert_fails(ran, "rust memory second: was not run", status=1)
                for language in LANGUAGES:
                    self.assertRegex(ran.stderr, f"FAIL {language} +memory +\\(runner\\): .*{text}")
            self.assertEqual(0, self.run_command("all").returncode)
        before = written.read_text()
        self.write("one.json", scenario("first", stores=["memory"]))
        self.run_command("--write-manifest")
        self.assert_fails(self.run_command("all"), "MATRIX.md had a cell that is gone: second")
        self.assertEqual(before, written.read_text())
        self.assertEqual(0, self.run_command("all", "--fewer").returncode)
        self.assertEqual(1, written.read_text().count("| `"))

    def test_what_is_not_this_build_keeps_nothing(self) -> None:
        fake = f"{sys.executable} {self.home / 'fake_runner.py'}"
        for language, variable, value in (
            *((language, f"LABKIT_SPEC_RUNNER_{language.upper()}", f"{fake} --language {language}") for language in LANGUAGES),
            ("ruby", "LABKIT_SPEC_RUBY", "ruby"),
            ("python", "LABKIT_SPEC_PYTHON", "python3"),
            ("python", "LABKIT_SPEC_CALLS", "async"),
            ("rust", "LABKIT_SPEC_CONNECTION", "native"),
        ):
            with self.subTest(variable):
                ran = self.run_command(language, "--store", "memory", **{variable: value})
                self.assertEqual(0, ran.returncode, ran.stdout + ran.stderr)
                self.assertIn(f"{language}: nothing is kept, as {variable}", ran.stdout)
                self.assert_fails(self.run_command("matrix", language), "| `first` | ? ? ? |")
                other = next(other for other in LANGUAGES if other != language)
                self.assertNotIn("nothing is kept", self.run_command(other, "--store", "memory", **{variable: value}).stdout)
                shutil.rmtree(self.root / "target")
        for variable, value in (("LABKIT_SPEC_CALLS", "sync"), ("LABKIT_SPEC_CONNECTION", "host"), ("LABKIT_SPEC_PYTHON", "")):
            for language in LANGUAGES:
                self.assertNotIn("nothing is kept", self.run_command(language, "--store", "memory", **{variable: value}).stdout)

    def test_all_with_what_is_not_this_build(self) -> None:
        self.write("one.json", scenario("first", stores=["memory"]), scenario("second", stores=["memory"]))
        self.run_command("--write-manifest")
        named = {"LABKIT_SPEC_RUNNER_GO": f"{sys.executable} {self.home / 'fake_runner.py'} --language go"}
        ran = self.run_command("all", **named)
        self.assertEqual(0, ran.returncode, ran.stdout + ran.stderr)
        self.assertIn("MATRIX.md stays as it is", ran.stdout)
        self.assertFalse((self.home / "MATRIX.md").exists())
        self.assert_fails(self.run_command("matrix"), "| go | 0 of 2 |", "| python | 2 of 2 |")
        self.assertEqual(0, self.run_command("all").returncode)
        self.assert_fails(self.run_command("all", "--check", **named), "env --unset=LABKIT_SPEC_RUNNER_GO spec-tests/run all --check", status=2)
        # It plays although the cells of this build are ok.
        self.assert_fails(self.run_command("all", fault="wrong_value", **named), "FAIL go memory  second: step 2")
        self.assertEqual(0, self.run_command("all", "--check").returncode)

    def test_a_runner_must_use_the_library_that_was_built(self) -> None:
        built, old = self.root / "built.so", self.root / "old.so"
        built.write_text("new")
        old.write_text("old")
        header = {"language": "rust", "version": "1.2.3", "store": "memory"}
        expected = Expectation("rust", "memory", "1.2.3", (), built)
        self.assertIn("is not this build", "".join(header_problems({**header, "library": str(old)}, expected)))
        self.assertIn("is not this build", "".join(header_problems({**header, "library": "/nowhere.so"}, expected)))
        self.assertIn("is not this build", "".join(header_problems(header, expected)))
        old.write_text("new")
        self.assertEqual([], list(header_problems({**header, "library": str(old)}, expected)))

    def test_misuse(self) -> None:
        for arguments in (
            (),
            ("cobol",),
            ("rust", "--store", "disk"),
            ("rust", "/nowhere.json"),
            ("matrix", "cobol"),
            ("random", "rust", "--store", "memory"),
        ):
            with self.subTest(arguments):
                self.assert_fails(self.run_command(*arguments), status=2)

    def log(self, *arguments: str, fault: str = "") -> "subprocess.CompletedProcess[str]":
        (self.root / "rules.yaml").write_text("rate_limits: {}\n")
        lines = [f'198.18.0.1 - - [17/May/2015:10:05:0{second} +0000] "GET /a?b HTTP/1.1" 200 5 "-" "curl"\n' for second in (2, 1, 1)]
        (self.root / "log").write_text("".join(lines))
        return self.run_command("log", str(self.root / "log"), "--limiter", "x", "--rules", str(self.root / "rules.yaml"), *arguments, fault=fault)

    def test_log_side_by_side(self) -> None:
        ran = self.log()
        self.assertEqual(0, ran.returncode, ran.stdout + ran.stderr)
        self.assertIn("3 requests on memory by", ran.stdout)
        languages = json.loads(self.log("--format", "json").stdout)["languages"]
        self.assertEqual(list(LANGUAGES), list(languages))
        self.assertEqual({0}, {language["differ"] for language in languages.values()})
        self.assert_fails(self.log(fault="wrong_decision"), "request 3, in order of time: rust {", "1 decisions differ")
        self.assert_fails(self.log(fault="error"), "failed")
        for fault, text in {
            "wrong_version": "that library is not this build",
            "no_done": "broke the protocol",
            "missing_step": "2 decisions",
        }.items():
            self.assert_fails(self.log(fault=fault), text, status=2)
        self.assert_fails(self.run_command("log", "/nowhere", "--limiter", "x", "--rules", "y"), "/nowhere cannot be read", status=2)
        (self.root / "log").write_text("hello\n")
        self.assert_fails(self.run_command("log", str(self.root / "log"), "--limiter", "x", "--rules", "y"), "line 1 is none of", status=2)

    def test_log_that_cannot_be_played(self) -> None:
        good = b'198.18.0.1 - - [17/May/2015:10:05:01 +0000] "GET /a HTTP/1.1" 200 5 "-" "curl"\n'
        packed = gzip.compress(good)
        damaged = packed[:12] + bytes([packed[12] ^ 0xFF, *packed[13:]])
        for log, text in (
            (good + good.replace(b"17/May", b"99/Foo"), "line 2 has no time such as"),
            (good.replace(b"+0000", b"+9900"), "line 1 has no time such as"),
            (damaged, "log cannot be read"),
            (packed[:10] + b"\xff" * 20, "log cannot be read"),
            (packed[:-9], "log cannot be read"),
        ):
            with self.subTest(log):
                (self.root / "log").write_bytes(log)
                (self.root / "rules.yaml").write_text("rate_limits: {}\n")
                ran = self.run_command("log", str(self.root / "log"), "--limiter", "x", "--rules", str(self.root / "rules.yaml"))
                self.assert_fails(ran, text, status=2)
        (self.root / "log").write_bytes(good)
        (self.root / "latin").write_bytes(b"# \xe9t\xe9\n")
        for option in ("--rules", "--available"):
            ran = self.run_command("log", str(self.root / "log"), "--limiter", "x", option, str(self.root / "latin"))
            self.assert_fails(ran, "latin is not UTF-8, from byte 2 on", status=2)

    def test_together(self) -> None:
        ran = self.run_command("together", "--calls", "64")
        self.assertEqual(0, ran.returncode, ran.stdout + ran.stderr)
        for fault, text in {
            "one_too_many": f"{8 * len(LANGUAGES) + 1} passed, {8 * len(LANGUAGES)} must",
            "failing": "came of them",
            "idle": "did not call beside the others",
        }.items():
            self.assert_fails(self.run_command("together", "--calls", "64", fault=fault), text)
        self.assert_fails(self.run_command("together", "--calls", "64", fault="mute"), "broke the protocol", status=2)

    def test_no_redis_is_a_failure_that_says_what_to_install(self) -> None:
        ran = self.run_command("rust", "--store", "redis", LABKIT_SPEC_REDIS_SERVER="no-such-server")
        self.assert_fails(ran, "apt-get install redis-server", status=2)


if __name__ == "__main__":
    unittest.main()
