"""What the pages' programs find: this tree's packages where their languages look for packages, a folder, and a Redis."""

import importlib.metadata
import os
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

RUST_HOME = "https://gitlab.com/gitlab-org/labkit-ratelimit"
"""Where a Cargo.toml says that the crate is."""
GO_MODULE = "gitlab.com/gitlab-org/labkit-ratelimit"
GO_IMPORTS = {
    **{path.rpartition("/")[2]: path for path in ("context", "errors", "fmt", "log", "net/http", "net/http/httptest", "os", "time")},
    "ratelimit": f"{GO_MODULE}/go",
    **{name: f"{GO_MODULE}/go/{name}" for name in ("goredis", "httplimit", "promlimit")},
    "prometheus": "github.com/prometheus/client_golang/prometheus",
    "redis": "github.com/redis/go-redis/v9",
}
"""What an editor adds: the name that a program uses → the path."""
STARTING = 10
"""Seconds that a Redis has to start."""
ATTEMPTS = 5
"""Ports that are tried: between the choice of one and its use, somebody else may take it."""


class Unready(Exception):
    """A language cannot be tried: what is missing, and why."""


class Workshop:
    """Packages of this tree, each built once, in a folder of its own in Cargo's target folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.target = root / os.environ.get("CARGO_TARGET_DIR", "target")
        self.folder = self.target / "guides"
        self.folder.mkdir(parents=True, exist_ok=True)
        self._build: dict[str, Callable[[], None]] = {
            "tools": self._tools,
            "rust": self._rust,
            "ruby": self._ruby,
            "go": self._go,
            "python": self._python,
        }
        self._built: dict[str, str | None] = {}
        self._one_at_a_time = threading.Lock()

    def ready(self, language: str) -> None:
        """Builds a language's package, or the `tools`, once. Fails with `Unready`, each time."""
        with self._one_at_a_time:
            if language not in self._built:
                try:
                    self._build[language]()
                    self._built[language] = None
                except (OSError, subprocess.CalledProcessError, Unready) as error:
                    self._built[language] = f"{language} cannot be tried: {error}"
            if (error_text := self._built[language]) is not None:
                raise Unready(error_text)

    @property
    def commands(self) -> Path:
        """A folder with the command, and nothing else."""
        return self.folder.resolve() / "bin"

    @property
    def runner(self) -> Path:
        """The runner of spec-tests in Rust."""
        return self.target.resolve() / "debug" / "labkit-ratelimit-spec-runner"

    def _tools(self) -> None:
        # One by one, as spec-tests build the runner: together, Cargo would choose other features of what both depend on.
        for package in ("labkit-ratelimit-spec-runner", "labkit-ratelimit-cli"):
            self._run("cargo", "build", "--quiet", "--locked", "--package", package)
        self.commands.mkdir(exist_ok=True)
        shutil.copy2(self.target / "debug" / "labkit-ratelimit", self.commands)

    def _run(self, *command: str | Path, cwd: Path | None = None, **more: str) -> str:
        done = subprocess.run(
            command, cwd=cwd or self.root, env={**os.environ, **more}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True
        )
        return done.stdout

    def _fresh(self, name: str) -> Path:
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def _rust(self) -> None:
        """The crates as a repository that Cargo clones, and a CARGO_HOME that knows no other one of that name.

        The same files are the same commit, so that Cargo builds nothing twice.
        """
        repository, tree = self.folder / "crates.git", self._fresh("crates")
        for part in ("Cargo.toml", "Cargo.lock", "LICENSE"):
            shutil.copy2(self.root / part, tree)
        for room in ("core", "proto"):
            shutil.copytree(self.root / room, tree / room, ignore=shutil.ignore_patterns("target"))
        if not repository.exists():
            self._run("git", "init", "--quiet", "--bare", repository)
        git = ("git", f"--git-dir={repository}", f"--work-tree={tree}")
        self._run(*git, "add", "--all", "--force", cwd=tree)
        who = {f"GIT_{role}_{what}": "guides@localhost" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        when = {f"GIT_{role}_DATE": "2026-01-01T00:00:00Z" for role in ("AUTHOR", "COMMITTER")}
        written = self._run(*git, "write-tree", cwd=tree).strip()
        commit = self._run(*git, "commit-tree", "-m", "The crates", written, cwd=tree, **who, **when).strip()
        self._run(*git, "update-ref", "HEAD", commit)
        home, own = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo"), self.folder / "cargo-home"
        own.mkdir(exist_ok=True)
        (home / "registry").mkdir(parents=True, exist_ok=True)
        for entry in home.iterdir():
            if entry.name in ("registry", "config.toml") and not (own / entry.name).exists():
                (own / entry.name).symlink_to(entry)

    def _ruby(self) -> None:
        """A gem with the library in it. It names no platform: this RubyGems looks by name for no other gem in a folder."""
        self._run("cargo", "build", "--quiet", "--locked", "--package", "labkit-ratelimit-ruby")
        tree = self._fresh("gem")
        shutil.copytree(self.root / "ruby" / "lib", tree / "lib", ignore=shutil.ignore_patterns("*.so"))
        for part in ("sig", "README.md", "labkit-ratelimit.gemspec"):
            source = self.root / "ruby" / part
            (shutil.copytree if source.is_dir() else shutil.copy2)(source, tree / part)
        minor = self._run("ruby", "-e", "print RUBY_VERSION[/\\A\\d+\\.\\d+/]")
        native = tree / "lib" / "labkit_ratelimit" / minor / "labkit_ratelimit_native.so"
        native.parent.mkdir(exist_ok=True)
        shutil.copy2(self.target / "debug" / "liblabkit_ratelimit_native.so", native)
        script = (
            "spec = Gem::Specification.load('labkit-ratelimit.gemspec'); spec.extensions = []; "
            "spec.files = Dir['{lib,sig}/**/*'].select { |file| File.file?(file) }; Gem::Package.build(spec)"
        )
        self._run("ruby", "-rrubygems/package", "-e", script, cwd=tree)
        (self.folder / "gemrc").write_text("install: --local --conservative --no-document\n", encoding="utf-8")

    def _go(self) -> None:
        """A module proxy. What Go keeps of the module is dropped: it is another one each time, under one version."""
        self._run("ci/go-library")
        self._run("ci/go-release", self._fresh("proxy"), "v0.1.0")
        for kept in (self.folder / "modules" / "cache" / "download" / GO_MODULE, self.folder / "modules" / Path(GO_MODULE).parent):
            shutil.rmtree(kept, ignore_errors=True)

    def _python(self) -> None:
        """A wheel of the library that spec-tests build too. By maturin's environment Cargo would build it anew, and then once more for them."""
        self._run("cargo", "build", "--quiet", "--locked", "--package", "labkit-ratelimit-python")
        pack_wheel(self.root, self.target / "debug" / "liblabkit_ratelimit_python.so", self._fresh("wheels"))


def pack_wheel(root: Path, library: Path, into: Path) -> None:
    """In: the repository's root and the native half. Writes what pip installs; ci/rooms/wheel has the wheel that is released."""
    version = tomllib.loads((root / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
    project = tomllib.loads((root / "python" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    tag = f"cp310-abi3-{re.sub('[-.]', '_', sysconfig.get_platform())}"
    about = f"labkit_ratelimit-{version}.dist-info"
    metadata = f"Metadata-Version: 2.4\nName: {project['name']}\nVersion: {version}\nRequires-Python: {project['requires-python']}\n"
    metadata += "".join(f"Requires-Dist: {other}\n" for other in project["dependencies"])
    sources = sorted((root / "python" / "src" / "labkit_ratelimit").glob("*.py*"))
    with zipfile.ZipFile(into / f"labkit_ratelimit-{version}-{tag}.whl", "w") as wheel:
        for file, name in [*((source, source.name) for source in sources), (library, "_native.abi3.so")]:
            wheel.write(file, f"labkit_ratelimit/{name}")
        wheel.writestr(f"{about}/METADATA", metadata)
        wheel.writestr(f"{about}/WHEEL", f"Wheel-Version: 1.0\nGenerator: guides\nRoot-Is-Purelib: false\nTag: {tag}\n")
        wheel.writestr(f"{about}/RECORD", "".join(f"{name},,\n" for name in [*wheel.namelist(), f"{about}/RECORD"]))


def go_program(body: str) -> str:
    """In: what stands in main. Out: the program."""
    imports = "\n".join(f'\t{name} "{path}"' for name, path in GO_IMPORTS.items() if re.search(rf"\b{name}\.[A-Z]", body))
    return f"package main\n\nimport (\n{imports}\n)\n\nfunc main() {{\n{body}}}\n"


def rust_program(body: str) -> str:
    """In: what stands in main. Out: the program, as rustdoc would make it."""
    return f"fn main() -> Result<(), Box<dyn std::error::Error>> {{\n{body}Ok(())\n}}\n"


def free_port() -> int:
    """Out: a port of the loopback address that nobody has now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


class Scratch:
    """The folder of one page, with what its programs find there, and a Redis of its own."""

    def __init__(self, workshop: Workshop, name: str) -> None:
        # Not in the repository: `cargo init` would make a package there a member of the workspace.
        self.folder = Path(tempfile.mkdtemp(prefix=f"labkit-{name}-")).resolve()
        self._workshop, self._name = workshop, name
        dropped = ("RUBYLIB", "RUBYOPT", "PYTHONPATH", "GEM_", "PIP_", "VIRTUAL_ENV")
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
        self._port = 0
        self._redis: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            for _ in range(ATTEMPTS):
                self._port = free_port()
                command = ["redis-server", "--port", str(self._port), "--bind", "127.0.0.1", "--save", "", "--dir", str(self.folder)]
                self._redis = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
                if self._answers():
                    self.environment["REDIS_URL"] = f"redis://127.0.0.1:{self._port}"
                    return self
                self._stop()
            raise Unready(f"redis-server did not start, on {ATTEMPTS} ports")
        except BaseException:
            self._leave()
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._leave()

    def _leave(self) -> None:
        self._stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _stop(self) -> None:
        if self._redis is not None:
            self._redis.terminate()
            self._redis.wait()

    def _answers(self) -> bool:
        """Whether this very process serves the port, before it does not start or takes too long."""
        deadline = time.monotonic() + STARTING
        while self._redis is not None and self._redis.poll() is None and time.monotonic() < deadline:
            try:
                with socket.create_connection(("127.0.0.1", self._port), timeout=STARTING) as server:
                    return self._is_ours(server)
            except OSError:
                time.sleep(0.02)
        return False

    def _is_ours(self, server: socket.socket) -> bool:
        """Whether the server at the other end works in the page's folder."""
        server.sendall(b"CONFIG GET dir\r\n")
        with server.makefile("rb") as reply:
            # An array of two, each behind its length.
            return reply.readline() == b"*2\r\n" and [reply.readline().strip() for _ in range(4)][3] == os.fsencode(self.folder)

    def forget(self) -> None:
        """Empties the Redis, so that programs do not count together. It asks first whose it is: another's would lose everything."""
        try:
            with socket.create_connection(("127.0.0.1", self._port), timeout=STARTING) as server:
                if self._is_ours(server):
                    server.sendall(b"FLUSHALL\r\n")
                    if server.recv(64).startswith(b"+OK"):
                        return
        except OSError as error:
            raise Unready(f"redis-server does not answer on port {self._port}: {error}") from error
        raise Unready(f"another server answers on port {self._port}")

    def write(self, file: str, text: str) -> None:
        """Writes a file of the page."""
        path = self.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def command(self, language: str, section: str, text: str) -> list[str]:
        """Writes a program of the page. Out: the command that runs it in the folder."""
        match language:
            case "python" | "ruby":
                file = f"{section}.{'py' if language == 'python' else 'rb'}"
                self.write(file, text)
                return ["python3" if language == "python" else "ruby", file]
            case "go":
                self.write(f"{section}/main.go", text if "package main" in text else go_program(text))
                return ["go", "run", f"./{section}"]
            case "rust":
                # Pages share a target folder, in which a program's name must be its own.
                name = f"guide-{self._name}-{section}"
                self.write(f"src/bin/{name}.rs", text if "fn main" in text else rust_program(text))
                return ["cargo", "run", "--quiet", "--bin", name]
            case _:
                return ["bash", "-euo", "pipefail", "-c", text]

    def ready(self, languages: set[str]) -> None:
        """Puts this tree's packages where their languages look; fails with `Unready`."""
        for language in ["tools", *sorted(languages)]:
            self._workshop.ready(language)
        shop, set_up = self._workshop.folder.resolve(), self.environment
        set_up["PATH"] = f"{self._workshop.commands}:{set_up['PATH']}"
        if "rust" in languages:
            # Tested versions. A target folder beside the repository's, so that nobody waits for the other's lock.
            shutil.copy2(self._workshop.root / "Cargo.lock", self.folder)
            set_up |= {"CARGO_HOME": str(shop / "cargo-home"), "CARGO_NET_GIT_FETCH_WITH_CLI": "true", "CARGO_TARGET_DIR": str(shop / "rust")}
            set_up["CARGO_PROFILE_DEV_DEBUG"] = "false"
            set_up |= {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": f"url.file://{shop}/crates.git.insteadOf", "GIT_CONFIG_VALUE_0": RUST_HOME}
        if "ruby" in languages:
            for gem in (shop / "gem").glob("*.gem"):
                shutil.copy2(gem, self.folder)
            set_up |= {"GEM_HOME": str(self.folder / "gems"), "GEMRC": str(shop / "gemrc")}
        if "go" in languages:
            ours = self._go_env("GOMODCACHE"), self._go_env("GOPROXY")
            set_up |= {"GOPROXY": f"file://{shop}/proxy,file://{ours[0]}/cache/download,{ours[1]}", "GOMODCACHE": str(shop / "modules")}
            set_up |= {"GOFLAGS": "-mod=mod -modcacherw", "GONOSUMDB": "gitlab.com/*", "GODEBUG": "goindex=0"}
        if "python" in languages:
            self._python_environment(shop)

    def _go_env(self, name: str) -> str:
        return subprocess.run(["go", "env", name], capture_output=True, text=True, check=True).stdout.strip()

    def _python_environment(self, shop: Path) -> None:
        """A virtual environment in which the packages of ci/requirements.txt are there already, pip among them."""
        beside = sysconfig.get_path("purelib")
        if any(importlib.metadata.distributions(name="labkit-ratelimit", path=[beside])):
            raise Unready(f"pip would install nothing, since {sys.prefix} has labkit-ratelimit: pip uninstall it there")
        place, set_up = self.folder / "venv", self.environment
        subprocess.run(["python3", "-m", "venv", "--without-pip", place], env=set_up, check=True)
        [site] = place.glob("lib/python3*/site-packages")
        (site / "beside.pth").write_text(f"{beside}\n", encoding="utf-8")
        pip = place / "bin" / "pip"
        pip.write_text('#!/bin/sh\nexec python3 -m pip "$@"\n', encoding="utf-8")
        pip.chmod(0o755)
        set_up |= {"VIRTUAL_ENV": str(place), "PATH": f"{place}/bin:{set_up['PATH']}"}
        set_up |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(shop / "wheels"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
