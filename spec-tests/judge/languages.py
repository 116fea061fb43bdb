"""The table of languages, and how each one's runner is found or built."""

import os
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

from judge.misuse import Misuse

RUST_PACKAGE = "labkit-ratelimit-spec-runner"


def _rust(root: Path) -> list[str]:
    """Cargo decides whether the binary is fresh, so a stale one never runs. A release build is kept if it is the only one there."""
    if shutil.which("cargo") is None:
        raise Misuse("there is no cargo to build the runner with: install Rust, or name a built runner in LABKIT_SPEC_RUNNER_RUST")
    debug, release = (target_folder(root) / profile / RUST_PACKAGE for profile in ("debug", "release"))
    binary = release if release.exists() and not debug.exists() else debug
    build = ["cargo", "build", "--quiet", "-p", RUST_PACKAGE, *(["--release"] if binary == release else [])]
    if subprocess.run(build, cwd=root, stdin=subprocess.DEVNULL, check=False).returncode != 0 or not binary.exists():
        raise Misuse(f"the runner was not built: mend what `{shlex.join(build)}` says in {root}")
    return [str(binary)]


LANGUAGES: dict[str, Callable[[Path], list[str]]] = {"rust": _rust}
"""Language → from the repository's root, build what is stale and give the runner's command line."""


def runner_of(language: str, root: Path) -> list[str]:
    """In: a language and the repository's root. Out: the command line that its runner starts with."""
    if language not in LANGUAGES:
        raise Misuse(f"no runner for {language!r}: the languages are {', '.join(LANGUAGES)} (spec-tests/judge/languages.py)")
    variable = f"LABKIT_SPEC_RUNNER_{language.upper()}"
    if named := shlex.split(os.environ.get(variable, "")):
        if shutil.which(named[0]) is None:
            raise Misuse(f"{variable} names {named[0]}, which is not there or cannot be run")
        return named
    return LANGUAGES[language](root)


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
