"""Holds the documents against the repository. Contract: prints each thing that is wrong, one a line; exit 0 if there is none. Reads only."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IGNORED = {".git", ".venv", "target"}
HEADINGS = ["Use", "Layout", "Develop", "Test"]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"^[\w.-]+(?:/[\w.-]+)*/?$")


def folders() -> list[Path]:
    """Out: the top-level folders, the rooms; hidden ones are none."""
    return sorted(path for path in ROOT.iterdir() if path.is_dir() and path.name not in IGNORED and not path.name.startswith("."))


def documents() -> list[Path]:
    """Out: every Markdown file of the repository."""
    return [*sorted(ROOT.glob("*.md")), *(page for folder in folders() for page in sorted(folder.rglob("*.md")))]


def dead_links(page: Path, text: str) -> Iterator[str]:
    """Links to files, and paths in code spans that start at a room or at the page's own folder, must lead to something."""
    for target in LINK.findall(text):
        file, _, anchor = target.partition("#")
        if ":" in target:
            continue
        there = (page.parent / file).resolve() if file else page
        if not there.exists():
            yield f"the link to {target} leads nowhere"
        elif anchor and there.suffix == ".md" and anchor not in anchors(there):
            yield f"the link to {target}: there is no such heading"
    rooms = {folder.name for folder in folders()} | {".ci"}
    for span in CODE.findall(re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)):
        for word in span.split():
            if PATH.match(word) and "/" in word and word.split("/")[0] in rooms and not (ROOT / word).exists() and not (page.parent / word).exists():
                yield f"there is no {word}"


def anchors(page: Path) -> set[str]:
    """Out: what a link into the page may name."""
    text = page.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return slugs | set(re.findall(r'<a id="([^"]+)">', text))


def stale_example() -> Iterator[str]:
    """The README's Rust is the example of the crate's documentation, which `cargo test` compiles and runs."""
    fence = re.search(r"^```rust\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    source = (ROOT / "core/limiter/src/lib.rs").read_text(encoding="utf-8")
    doc = re.search(r"^//! ```\n(.*?)^//! ```", source, flags=re.MULTILINE | re.DOTALL)
    if not fence or not doc:
        yield "README.md or core/limiter/src/lib.rs has no example"
        return
    lines = [line.removeprefix("//!").removeprefix(" ") for line in doc[1].splitlines()]
    if fence[1].splitlines() != [line for line in lines if not line.startswith("# ")]:
        yield "README.md's example is not that of core/limiter/src/lib.rs: copy it, without the line that starts with #"


def unnamed() -> Iterator[str]:
    """README.md names every room, CONTRIBUTING.md every check, and a room's own README has its four headings."""
    readme, contributing = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md"))
    for folder in folders():
        if f"`{folder.name}/`" not in readme:
            yield f"README.md does not name the room `{folder.name}/`"
        own = folder / "README.md"
        if own.exists():
            found = re.findall(r"^## (.*)$", own.read_text(encoding="utf-8"), flags=re.MULTILINE)
            if found != HEADINGS:
                yield f"{folder.name}/README.md has the headings {found}, not {HEADINGS}"
        elif folder.name not in ("docs", "examples"):
            yield f"the room {folder.name}/ has no README.md"
    for check in sorted((ROOT / "ci/rooms").iterdir()):
        if f"`{check.name}`" not in contributing:
            yield f"CONTRIBUTING.md does not name the check `{check.name}`"


def main() -> int:
    """Out: the exit status."""
    wrong = [f"{page.relative_to(ROOT)}: {what}" for page in documents() for what in dead_links(page, page.read_text(encoding="utf-8"))]
    wrong += [*stale_example(), *unnamed()]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"{len(documents())} documents, {len(wrong)} mistakes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
