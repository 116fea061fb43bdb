"""What is kept between runs: nothing is lost between two of them, and other sources make it worth nothing."""

import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from judge import results
from judge.scenario import STORES, Scenario
from judge.verdict import Verdict

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


if __name__ == "__main__":
    unittest.main()
