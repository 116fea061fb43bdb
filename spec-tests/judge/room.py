"""Where things are in this room, and the scenarios that stand there."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from judge import strict_json
from judge.languages import target_folder
from judge.misuse import Misuse
from judge.scenario import Scenario, load
from judge.schema import Schema


@dataclass(frozen=True)
class Room:
    """In: the folder of this room, which stands at the root of its repository."""

    home: Path

    @property
    def root(self) -> Path:
        return self.home.parent

    @property
    def manifest(self) -> Path:
        return self.home / "MANIFEST"

    @property
    def results(self) -> Path:
        return target_folder(self.root) / "spec-tests"

    def schema(self) -> Schema:
        return Schema(strict_json.parse((self.home / "schema.json").read_text(encoding="utf-8")))

    def line_schema(self) -> Schema:
        return Schema(strict_json.parse((self.home / "transcript-schema.json").read_text(encoding="utf-8")))

    def scenarios(self, named: Sequence[Path] = ()) -> list[Scenario]:
        """In: files, or none for every scenario. Out: their scenarios; Misuse if anything is wrong with them."""
        every = self._files("scenarios")
        files = [path.resolve() for path in named] or every
        others = {*every, *self._files("canaries")} - set(files)
        if len(set(files)) != len(files):
            raise Misuse("one file is named twice")
        if not files:
            raise Misuse(f"there are no scenarios in {self.home / 'scenarios'}: write one, or name a file")
        return load(files, self.schema(), sorted(others))

    def canaries(self) -> list[Scenario]:
        """Out: the scenarios whose expectations are wrong on purpose."""
        return load(self._files("canaries"), self.schema(), self._files("scenarios"))

    def _files(self, folder: str) -> list[Path]:
        return sorted((self.home / folder).resolve().glob("*.json"))
