"""What is kept between runs: nothing is lost between two of them, and other sources make it worth nothing."""

import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from judge import results, sources
from judge.languages import LANGUAGES
from judge.scenario import STORES, Scenario
from judge.verdict import RUNNER, Verdict

ONE = Scenario("one", Path("one.json"), {"name": "one"}, STORES)


class FolderTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="labkit-spec-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)


class Kept(FolderTest):
    def keep(self, store: str) -> None:
        results.keep(self.folder, "rust", [ONE], [Verdict("one", "rust", store)], "build")

    def test_two_runs_at_once_lose_nothing(self) -> None:
        read = results._read

        def slow(folder: Path, language: str) -> dict[str, Any]:
            found = read(folder, language)
            time.sleep(0.1)  # long enough for the other run to read the same, if nothing keeps it from that
            return found

        with mock.patch.object(results, "_read", slow):
            runs = [threading.Thread(target=self.keep, args=(store,)) for store in STORES]
            for run in runs:
                run.start()
            for run in runs:
                run.join()
        self.assertEqual({"one": dict.fromkeys(STORES, "ok")}, results.cells(self.folder, "rust", [ONE], "build"))

    def test_an_unsound_run_keeps_nothing_and_is_forgotten_with_what_was_before(self) -> None:
        for store in STORES:
            self.keep(store)
        other = Scenario("other", Path("one.json"), {"name": "other"}, STORES)
        broken = Verdict(RUNNER, "rust", "redis", breaches=("ended early",))
        verdicts = [Verdict("one", "rust", "memory"), Verdict("one", "rust", "redis"), Verdict("other", "rust", "redis"), broken]
        results.keep(self.folder, "rust", [ONE, other], verdicts, "build")
        self.assertEqual({"one": {"memory": "ok", "cluster": "ok"}, "other": {}}, results.cells(self.folder, "rust", [ONE, other], "build"))


class Sources(FolderTest):
    def digests(self) -> dict[str, str]:
        return {language: sources.of(self.folder, language) for language in LANGUAGES}

    def test_each_file_that_answers_hang_on_changes_the_digest(self) -> None:
        for file, languages in {
            "Cargo.lock": set(LANGUAGES),
            "core/engine/src/lib.rs": set(LANGUAGES),
            "core/store/src/redis/chain.lua": set(LANGUAGES),
            "spec-tests/age.lua": set(LANGUAGES),
            "spec-tests/judge/compare.py": set(LANGUAGES),
            "spec-tests/schema.json": set(LANGUAGES),
            "spec-tests/transcript-schema.json": set(LANGUAGES),
            "core/native/src/lib.rs": {"rust"},
            "spec-tests/rust/src/main.rs": {"rust"},
            "ruby/labkit-ratelimit.gemspec": {"ruby"},
            "ruby/lib/labkit_ratelimit.rb": {"ruby"},
            "bindings/c/include/labkit_ratelimit.h": {"go"},
            "ci/go-library": {"go"},
            "go/goredis/go.sum": {"go"},
            "spec-tests/go/go.sum": {"go"},
            "ci/requirements.txt": {"python"},
            "python/pyproject.toml": {"python"},
        }.items():
            with self.subTest(file):
                before = self.digests()
                (self.folder / file).parent.mkdir(parents=True, exist_ok=True)
                (self.folder / file).write_text("one")
                written = self.digests()
                (self.folder / file).write_text("two")
                changed = self.digests()
                for first, second in ((before, written), (written, changed)):
                    self.assertEqual(languages, {language for language in LANGUAGES if first[language] != second[language]})

    def test_each_place_is_there(self) -> None:
        root = Path(__file__).resolve().parent.parent
        named = [*sources.CORE, *sources.JUDGE, *sources.BINDINGS.values(), *(place for places in sources.PACKAGES.values() for place in places)]
        self.assertEqual([], [place for place in named if not (root / place).exists()])


if __name__ == "__main__":
    unittest.main()
