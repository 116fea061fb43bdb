"""Runs every code block of the pages that people learn from.

Contract: `check_guides.py [PAGE…]`, all pages by default. Prints a line for each page, and each thing that is wrong; exit 0 if nothing is.
How a page is written so that it can be run stands in CONTRIBUTING.md, under "A guide". Builds in CARGO_TARGET_DIR.
"""

import difflib
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from guide_workshop import Scratch, Unready, Workshop

ROOT = Path(__file__).resolve().parent.parent
CODE = {"sh", "rust", "ruby", "go", "python"}
DATA = {"yaml"}
OUTPUT = "text"
FENCE = re.compile(r"^```(.*)$")
ELSEWHERE = re.compile(r"```|~~~|<pre\b|^(?: {4}| {0,3}\t)|^[\s>*+\-\d.)]*[>*+\-.)](?: {5}| *\t)", re.IGNORECASE)
"""What makes a block on a page, other than a fence at the margin: in a list, in a quotation, in HTML, by indentation."""
HEADING = re.compile(r"^(#{1,6}) (.*)$")
FILE = re.compile(r"^(?:#|//) ([\w-]+(?:/[\w-]+)*\.[a-z]+)$")
COMMENT = re.compile(r"(?:^|(?<=\s))#.*", re.MULTILINE)
SLASHES = re.compile(r"(?:^|(?<=\s))//.*", re.MULTILINE)
TOPICS = ["Install", "First refusal", "Rules", "Documents", "Redis", "Middleware", "Failure", "Metrics", "Testing"]
"""The sections of a guide, in this order."""
SHAPES = {
    "decisions": ["**Status.**", "**Context.**", "**Decision.**", "**Consequences.**", "**Alternatives.**"],
    "troubleshooting": ["**You see**", "**Why.**", "**Check.**", "**Mend.**"],
}
"""Page → what each of its sections holds, in this order."""
PATIENCE = 900
"""Seconds that a program may take, its compiler and a first build of what it depends on included."""


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    language: str
    text: str
    line: int
    section: str

    @property
    def file(self) -> str | None:
        """The file that it is, where its first line is a comment that names one."""
        first = FILE.match(self.text.split("\n", 1)[0])
        return first[1] if first else None


@dataclass
class Program:
    """What the blocks of one language between two headings make together."""

    language: str
    section: str
    line: int
    last: int
    text: str = ""
    expected: str | None = None


@dataclass
class Page:
    """A page, read."""

    path: Path
    blocks: list[Block] = field(default_factory=list)
    headings: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """As people know it."""
        return self.path.relative_to(ROOT).as_posix()

    @property
    def languages(self) -> set[str]:
        """Those of its programs; of files too."""
        return {block.language for block in self.blocks} & CODE - {"sh"}


def guides() -> list[Path]:
    """Out: the guides, one for each language."""
    return sorted((ROOT / "docs" / "guides").glob("*.md"))


def pages() -> list[Path]:
    """Out: the guides, then the other pages."""
    return [*guides(), *(ROOT / "docs" / f"{name}.md" for name in ("algorithms", *SHAPES))]


def read(path: Path) -> Page:
    """In: a page. Out: its blocks and second-level headings, and what no page may hold."""
    page = Page(path)
    section, number, block = "top", 0, None
    for at, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        fence, heading = FENCE.match(line), HEADING.match(line)
        if block is not None:
            if line.strip().startswith("```") and line.rstrip() != "```":
                page.wrong.append(f"{page.name}:{at}: a block ends with ``` at the margin, and with nothing behind it")
            if fence:
                page.blocks.append(block)
                block = None
            else:
                block = Block(block.language, f"{block.text}{line}\n", block.line, block.section)
        elif fence:
            block = Block(fence[1], "", at, section)
        elif heading:
            number += 1
            section = f"{number:02}-" + re.sub(r"[^a-z0-9]+", "-", heading[2].lower()).strip("-")
            if heading[1] == "##":
                page.headings.append(heading[2])
        elif ELSEWHERE.search(line):
            page.wrong.append(f"{page.name}:{at}: nobody runs this block: write it as a fence at the margin")
    if block is not None:
        page.wrong.append(f"{page.name}:{block.line}: the block has no end")
    return page


def uses(block: Block, file: str) -> bool:
    """Whether a block names a file outside of comments: as it is, by its package's folder (Go), or by its module (Python)."""
    if block.language not in CODE:
        return False
    text, path = (SLASHES if block.language in ("go", "rust") else COMMENT).sub("", block.text), Path(file)
    names = [rf"(?<![\w./-])(?:\./)?{re.escape(file)}(?![\w-]|\.\w)"]
    if path.suffix == ".go":
        names += [rf"(?<![\w./-])\./{re.escape(str(path.parent))}(?![\w./-])"] if path.parent.name else []
    elif path.suffix == ".py":
        module = re.escape(".".join(path.with_suffix("").parts))
        begin = r"^\s*(?:from|import)\s+" if block.language == "python" else r"\s-m\s+(?:unittest\s+|pytest\s+)?(?:-\S+\s+)*"
        names.append(rf"{begin}{module}(?![\w-])")
    elif path.suffix == ".rs" and path.parent.name == "tests":
        names.append(rf"\s--test\s+{path.stem}(?![\w-])")
    return any(re.search(name, text, re.MULTILINE) for name in names)


def programs(page: Page) -> list[Program]:
    """Out: the programs of a page, in the order of their last blocks. What cannot be run is noted as wrong."""
    found: dict[tuple[str, str], Program] = {}
    before: Program | None = None
    for at, block in enumerate(page.blocks):
        if block.language not in CODE | DATA | {OUTPUT}:
            page.wrong.append(f"{page.name}:{block.line}: nothing runs a block of {block.language!r}")
        elif block.language == OUTPUT:
            if before is None or before.section != block.section:
                page.wrong.append(f"{page.name}:{block.line}: a text block stands behind a program, which prints it")
            else:
                before.expected = (before.expected or "") + block.text
        elif block.file:
            if not any(uses(other, block.file) for other in page.blocks[at + 1 :]):
                page.wrong.append(f"{page.name}:{block.line}: no block behind it uses {block.file}")
        elif block.language in DATA:
            page.wrong.append(f"{page.name}:{block.line}: the first line names no file: `# NAME.{block.language}`")
        else:
            before = found.setdefault((block.section, block.language), Program(block.language, block.section, block.line, at))
            before.last, before.text = at, before.text + ("\n" if before.text else "") + block.text
    return sorted(found.values(), key=lambda program: program.last)


def run(program: Program, name: str, scratch: Scratch) -> Iterator[str]:
    """Runs a program of a page. Out: what is wrong."""
    place = f"{name}:{program.line}"
    command = scratch.command(program.language, program.section, program.text)
    scratch.forget()
    try:
        done = subprocess.run(
            command,
            cwd=scratch.folder,
            env=scratch.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        yield f"{place}: the {program.language} does not end within {PATIENCE} s"
        return
    if done.returncode != 0:
        yield f"{place}: the {program.language} ends with {done.returncode}\n{done.stdout}{done.stderr}".rstrip()
    elif program.expected is not None and done.stdout != program.expected:
        said = difflib.unified_diff(program.expected.splitlines(), done.stdout.splitlines(), "the page", "what it prints", lineterm="")
        yield "\n".join([f"{place}: the {program.language} prints something else", *said, done.stderr]).rstrip()


def install(languages: set[str], scratch: Scratch) -> Iterator[str]:
    """Does what the guides say under their first heading, for a page that is no guide. Out: what is wrong."""
    for language in sorted(languages):
        guide = read(ROOT / "docs" / "guides" / f"{language}.md")
        first = guide.blocks[0].section
        for program in programs(guide):
            if program.section == first and program.language == "sh":
                yield from run(program, guide.name, scratch)


def check(path: Path, workshop: Workshop) -> tuple[str, list[str]]:
    """Runs a page. Out: a line that says how it went, and what is wrong."""
    start = time.monotonic()
    page = read(path)
    chain = programs(page)
    wrong = page.wrong
    try:
        with Scratch(workshop, path.stem) as scratch:
            scratch.ready({path.stem} & CODE | page.languages)
            if path not in guides():
                wrong += install(page.languages, scratch)
            done = 0
            for program in chain:
                for block in page.blocks[done : program.last + 1]:
                    if block.file:
                        scratch.write(block.file, block.text)
                done = program.last + 1
                wrong += run(program, page.name, scratch)
    except Unready as error:
        wrong.append(f"{page.name}: {error}")
    verdict = "FAIL" if wrong else "ok  "
    return f"{verdict} {page.name}: {len(chain)} programs, {time.monotonic() - start:.0f} s", wrong


def of_one_shape() -> Iterator[str]:
    """The guides have the same sections in the same order, so that who knows one finds the place in another; so have other pages' sections."""
    for guide in map(read, guides()):
        if guide.headings != TOPICS:
            yield f"{guide.name} has the sections {guide.headings}, not {TOPICS}"
    for name, parts in SHAPES.items():
        text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
        for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
            found = re.findall(r"^\*\*[A-Z][a-z ]+\.?\*\*", section, flags=re.MULTILINE)
            if found != parts:
                yield f"docs/{name}.md: {section.splitlines()[0]!r} has the parts {found}, not {parts}"


def pictures(workshop: Workshop) -> Iterator[str]:
    """The pictures are what today's decisions look like."""
    drawn = workshop.folder / "pictures"
    try:
        program = [sys.executable, str(ROOT / "docs" / "pictures" / "draw.py"), str(drawn)]
        workshop.ready("tools")
        tools = {"LABKIT_RATELIMIT": str(workshop.commands / "labkit-ratelimit"), "LABKIT_SPEC_RUNNER_RUST": str(workshop.runner)}
        subprocess.run(program, env={**os.environ, **tools}, check=True)
    except (subprocess.CalledProcessError, Unready) as error:
        yield f"docs/pictures: {error}"
        return
    here = ROOT / "docs" / "pictures"
    for name in sorted({path.name for folder in (here, drawn) for path in folder.glob("*.svg")}):
        old, new = here / name, drawn / name
        if not (old.exists() and new.exists() and old.read_bytes() == new.read_bytes()):
            yield f"docs/pictures/{name} is not what is decided: run docs/pictures/draw.py docs/pictures, and look at it"


def main() -> int:
    """Out: the exit status."""
    chosen = [Path(name).resolve() for name in sys.argv[1:]]
    workshop = Workshop(ROOT)
    wrong = [] if chosen else [*of_one_shape(), *pictures(workshop)]
    print(*wrong, sep="\n", end="\n" if wrong else "", flush=True)
    todo = chosen or pages()
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for line, mistakes in pool.map(lambda path: check(path, workshop), todo):
            print(line, *mistakes, sep="\n", flush=True)
            wrong += mistakes
    print(f"{len(todo)} pages, {len(wrong)} mistakes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
