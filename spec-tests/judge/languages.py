"""The table of languages, and how each one's runner is found or built."""

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from judge.misuse import Misuse


@dataclass(frozen=True)
class Runner:
    """The command line that a runner starts with, and the file of the library that it must then use; None where it brings its own."""

    command: tuple[str, ...]
    library: Path | None = None


RUST_PACKAGE = "labkit-ratelimit-spec-runner"
PYTHON_PACKAGE, PYTHON_LIBRARY, PYTHON_EXTENSION = "labkit-ratelimit-python", "liblabkit_ratelimit_python.so", "_native.abi3.so"
RUBY_PACKAGE, RUBY_EXTENSION = "labkit-ratelimit-ruby", "labkit_ratelimit_native.so"


def _rust(root: Path) -> Runner:
    binary = _built(root, RUST_PACKAGE, RUST_PACKAGE, "LABKIT_SPEC_RUNNER_RUST")
    return Runner((str(binary),), binary)


def _ruby(root: Path) -> Runner:
    library = None if os.environ.get("LABKIT_SPEC_RUBY") else _ruby_extension(root)
    return Runner((*ruby_with_the_gem(root), str(root / "spec-tests" / "ruby" / "runner.rb")), library)


def _go(root: Path) -> Runner:
    """ci/go-library stages the core where the module links it; Go decides whether the runner is fresh."""
    if shutil.which("go") is None:
        raise Misuse("there is no go to build the runner with: install it (ci/setup says which), or name what is built in LABKIT_SPEC_RUNNER_GO")
    binary = target_folder(root).resolve() / "go" / "spec-runner"
    fresh = binary.with_suffix(f".{os.getpid()}.tmp")
    for build in (["ci/go-library"], ["go", "build", "-C", "spec-tests/go", "-o", str(fresh), "."]):
        if subprocess.run(build, cwd=root, stdin=subprocess.DEVNULL, check=False).returncode != 0:
            raise Misuse(f"the Go runner was not built: mend what `{shlex.join(build)}` says in {root}")
    fresh.replace(binary)
    return Runner((str(binary),), binary)


def ruby_with_the_gem(root: Path) -> list[str]:
    """In: the repository's root. Out: the command line of a Ruby that finds the gem: this one, freshly built, or that of LABKIT_SPEC_RUBY."""
    if named := shlex.split(os.environ.get("LABKIT_SPEC_RUBY", "")):
        if shutil.which(named[0]) is None:
            raise Misuse(f"LABKIT_SPEC_RUBY names {named[0]}, which is not there or cannot be run")
        return named
    if shutil.which("ruby") is None:
        raise Misuse("there is no ruby: install it (Debian: apt-get install ruby ruby-dev), or name one that has the gem in LABKIT_SPEC_RUBY")
    built = _built(root, RUBY_PACKAGE, f"lib{RUBY_EXTENSION}", "LABKIT_SPEC_RUBY")
    extension = _ruby_extension(root)
    extension.parent.mkdir(parents=True, exist_ok=True)
    fresh = extension.with_suffix(f".{os.getpid()}.tmp")
    shutil.copy2(built, fresh)
    fresh.replace(extension)
    # First, so that no older extension beside the Ruby files is found.
    return ["ruby", "-I", str(extension.parent.parent), "-I", str(root / "ruby" / "lib")]


def _ruby_extension(root: Path) -> Path:
    return target_folder(root).resolve() / "ruby" / "labkit_ratelimit" / RUBY_EXTENSION


def _python(root: Path) -> Runner:
    runner = str(root / "spec-tests" / "python" / "runner.py")
    if named := shlex.split(os.environ.get("LABKIT_SPEC_PYTHON", "")):
        if shutil.which(named[0]) is None:
            raise Misuse(f"LABKIT_SPEC_PYTHON names {named[0]}, which is not there or cannot be run")
        return Runner((*named, runner))
    if importlib.util.find_spec("redis") is None:
        raise Misuse(f"{sys.executable} has no redis-py: run ci/setup, or name a Python that has it and the package in LABKIT_SPEC_PYTHON")
    package = python_package(root)
    return Runner(("env", f"PYTHONPATH={package}", sys.executable, runner), package / "labkit_ratelimit" / PYTHON_EXTENSION)


def python_package(root: Path) -> Path:
    """In: the repository's root. Out: a folder for PYTHONPATH, with the Python package as it is now and its native half freshly built."""
    built = _built(root, PYTHON_PACKAGE, PYTHON_LIBRARY, "LABKIT_SPEC_PYTHON")
    folder = target_folder(root).resolve() / "python"
    package = folder / "labkit_ratelimit"
    package.mkdir(parents=True, exist_ok=True)
    sources = root / "python" / "src" / "labkit_ratelimit"
    for stale in set(package.glob("*.py")) - {package / source.name for source in sources.glob("*.py")}:
        stale.unlink()
    for source, name in [*((source, source.name) for source in sources.glob("*.py")), (built, PYTHON_EXTENSION)]:
        fresh = package / f"{name}.{os.getpid()}.tmp"
        shutil.copy2(source, fresh)
        fresh.replace(package / name)
    return folder


def _built(root: Path, package: str, product: str, variable: str) -> Path:
    """Cargo decides whether the product is fresh, so a stale one never runs."""
    if shutil.which("cargo") is None:
        raise Misuse(f"there is no cargo to build {package} with: install Rust, or name what is built in {variable}")
    binary = target_folder(root) / profile() / product
    build = ["cargo", "build", "--quiet", "-p", package, *(["--release"] if profile() == "release" else [])]
    if subprocess.run(build, cwd=root, stdin=subprocess.DEVNULL, check=False).returncode != 0 or not binary.exists():
        raise Misuse(f"{package} was not built: mend what `{shlex.join(build)}` says in {root}")
    return binary


def profile() -> str:
    """Out: how Cargo builds what runners use: `debug`, or what LABKIT_SPEC_PROFILE says. Go's library is always a release."""
    named = os.environ.get("LABKIT_SPEC_PROFILE") or "debug"
    if named not in ("debug", "release"):
        raise Misuse(f"LABKIT_SPEC_PROFILE is debug or release, not {named}")
    return named


LANGUAGES: dict[str, Callable[[Path], Runner]] = {"rust": _rust, "ruby": _ruby, "go": _go, "python": _python}
"""Language → from the repository's root, build what is stale and give its runner."""


def runner_of(language: str, root: Path) -> Runner:
    """In: a language and the repository's root. Out: its runner."""
    if language not in LANGUAGES:
        raise Misuse(f"no runner for {language!r}: the languages are {', '.join(LANGUAGES)} (spec-tests/judge/languages.py)")
    variable = f"LABKIT_SPEC_RUNNER_{language.upper()}"
    if named := shlex.split(os.environ.get(variable, "")):
        if shutil.which(named[0]) is None:
            raise Misuse(f"{variable} names {named[0]}, which is not there or cannot be run")
        return Runner(tuple(named))
    return LANGUAGES[language](root)


def stand_ins(language: str) -> list[str]:
    """In: a language. Out: the variables by which another runner, library or half of it plays than the one built here; none by default."""
    own = {"ruby": ("LABKIT_SPEC_RUBY",), "python": ("LABKIT_SPEC_PYTHON",)}
    named = [f"LABKIT_SPEC_RUNNER_{language.upper()}", *own.get(language, ())]
    halves = {"rust": ("LABKIT_SPEC_CONNECTION", "host"), "python": ("LABKIT_SPEC_CALLS", "sync")}
    found = [variable for variable in named if shlex.split(os.environ.get(variable, ""))]
    if language in halves:
        variable, usual = halves[language]
        found += [variable] if os.environ.get(variable, usual) != usual else []
    return found


def target_folder(root: Path) -> Path:
    """In: the repository's root. Out: Cargo's target folder."""
    return root / os.environ.get("CARGO_TARGET_DIR", "target")


def version_of(root: Path) -> str | None:
    """In: the repository's root. Out: the workspace's version, which every language's library carries; None without a workspace."""
    manifest = root / "Cargo.toml"
    if not manifest.exists():
        return None
    workspace = tomllib.loads(manifest.read_text(encoding="utf-8")).get("workspace", {})
    version: str | None = workspace.get("package", {}).get("version")
    return version
