"""What the answers of a language are made from: with other sources, results of an earlier run say nothing."""

import hashlib
from pathlib import Path

BINDINGS = {"rust": "core/native", "ruby": "bindings/ruby", "go": "bindings/c", "python": "bindings/python"}
PACKAGES = {
    "ruby": ("ruby/lib", "ruby/labkit-ratelimit.gemspec"),
    "go": ("go", "ci/go-library"),
    "python": ("python/src", "python/pyproject.toml", "ci/requirements.txt"),
}
CORE = ("Cargo.lock", "Cargo.toml", "core/documents", "core/engine", "core/limiter", "core/store")
JUDGE = ("spec-tests/judge", "spec-tests/age.lua", "spec-tests/schema.json", "spec-tests/transcript-schema.json")
ENDINGS = {".rs", ".lua", ".toml", ".lock", ".rb", ".go", ".mod", ".sum", ".py", ".pyi", ".h"}
# Caches, tests, and what ci/go-library writes from the rest.
LEFT_OUT = ("__pycache__", "tests", "staged_", "linux_", "darwin_")


def of(root: Path, language: str) -> str:
    """In: the repository's root, a language. Out: a digest of all that its library, its runner and the judge are made from."""
    places = [*CORE, BINDINGS.get(language, ""), *PACKAGES.get(language, ()), *JUDGE, f"spec-tests/{language}"]
    digest = hashlib.sha256()
    for file in sorted(file for place in places if place for file in _files(root / place)):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(root)}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]


def _files(place: Path) -> list[Path]:
    if place.is_file():
        return [place]
    found = (file for file in place.rglob("*") if file.suffix in ENDINGS and file.is_file())
    return [file for file in found if not any(part.startswith(LEFT_OUT) for part in file.relative_to(place).parts)]
