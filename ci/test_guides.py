"""Proves that the check of guides fails where it must: on each fault of a page, of the pages' shape, and of a picture.

The pages here need no package of this tree, so that nothing is built but a few lines of Go and Rust.
"""

import contextlib
import io
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock
from urllib.parse import urlsplit

import check_guides
import guide_workshop
from guide_workshop import Scratch, Unready, Workshop

HERE = Path(__file__).resolve().parent.parent
PROGRAMS = {
    "sh": "echo {said}\nexit {status}\n",
    "python": "import sys\n\nprint('{said}')\nsys.exit({status})\n",
    "ruby": "puts '{said}'\nexit {status}\n",
    "go": 'fmt.Println("{said}")\nos.Exit({status})\n',
    "rust": 'println!("{said}");\nstd::process::exit({status});\n',
}
"""Language → a program that says something, and ends with a status."""
TOPICS = ("Install", "First refusal", "Rules", "Documents", "Redis", "Middleware", "Failure", "Metrics", "Testing")
BEGIN = {"go": "go mod init example.com/page 2>/dev/null", "rust": "cargo init --quiet --name page --vcs none"}
DRAW = (
    "import pathlib, sys\nfolder = pathlib.Path(sys.argv[1])\nfolder.mkdir(parents=True, exist_ok=True)\n(folder / 'new.svg').write_text('drawn')\n"
)


class Bare(Workshop):
    """Nothing is built: the pages ask for nothing."""

    def ready(self, language: str) -> None:
        """Ready, whatever it is."""


def fenced(language: str, text: str) -> str:
    """Out: a block."""
    return f"```{language}\n{text}```\n"


class PagesTest(unittest.TestCase):
    """A repository of pages only."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="labkit-guides-test-")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.docs = self.root / "docs"
        shutil.copy2(HERE / "Cargo.lock", self.root)
        for patch in (mock.patch.object(check_guides, "ROOT", self.root), mock.patch.dict("os.environ", CARGO_TARGET_DIR=str(self.root / "target"))):
            patch.start()
            self.addCleanup(patch.stop)
        self.workshop = Bare(self.root)

    def write(self, name: str, text: str) -> Path:
        path = self.docs / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def write_all(self) -> None:
        """Pages that are in order, without a block."""
        for language in ("go", "ruby"):
            self.write(f"guides/{language}", "\n\n".join(["# A guide", *(f"## {topic}" for topic in TOPICS), ""]))
        self.write("algorithms", "# Algorithms\n")
        for name, parts in check_guides.SHAPES.items():
            self.write(name, "\n\n".join(["# A page", "## One", *parts, "## Another", *parts, ""]))
        (self.docs / "pictures").mkdir(exist_ok=True)
        (self.docs / "pictures" / "draw.py").write_text(DRAW, encoding="utf-8")
        (self.docs / "pictures" / "new.svg").write_text("drawn", encoding="utf-8")

    def mistakes(self, text: str, name: str = "guides/sh") -> list[str]:
        """Out: what is wrong with a page of this text."""
        return check_guides.check(self.write(name, text), self.workshop)[1]

    def assert_one(self, part: str, mistakes: list[str]) -> None:
        self.assertEqual([1, True], [len(mistakes), part in "".join(mistakes)], mistakes)


class Programs(PagesTest):
    def page(self, language: str, *, said: str = "yes", status: int = 0) -> list[str]:
        """Out: what is wrong with a guide whose program should say yes, and end well."""
        begin = f"# A guide\n\n## Install\n\n{fenced('sh', BEGIN.get(language, ':') + chr(10))}\n## Rules\n\n"
        program = PROGRAMS[language].format(said=said, status=status)
        return self.mistakes(begin + fenced(language, program) + fenced("text", "yes\n"), f"guides/{language}")

    def test_each_language_is_run_and_its_output_read(self) -> None:
        self.assertEqual(set(PROGRAMS), check_guides.CODE)
        for language in PROGRAMS:
            with self.subTest(language):
                self.assertEqual([], self.page(language))
                self.assert_one("prints something else\n--- the page\n+++ what it prints\n@@ -1 +1 @@\n-yes\n+no", self.page(language, said="no"))
                self.assert_one(f"the {language} ends with ", self.page(language, status=3))

    def test_one_that_does_not_end_is_a_mistake(self) -> None:
        with mock.patch.object(check_guides, "PATIENCE", 1):
            self.assert_one("does not end within 1 s", self.mistakes(fenced("sh", "sleep 60\n")))

    def test_blocks_of_a_section_are_one_program(self) -> None:
        page = fenced("sh", "said=yes\n") + fenced("sh", "echo $said\n") + fenced("text", "yes\n")
        self.assertEqual([], self.mistakes(page))
        self.assert_one("unbound variable", self.mistakes(page.replace("```\n```sh", "```\n## Another\n```sh", 1)))

    def test_each_program_finds_an_empty_redis(self) -> None:
        page = "## One\n" + fenced("sh", 'redis-cli -u "$REDIS_URL" incr calls\n') + fenced("text", "1\n")
        self.assertEqual([], self.mistakes(page + page))

    def test_what_stands_nowhere_but_on_the_page_is_a_mistake(self) -> None:
        page = fenced("sh", "echo one\n") + fenced("text", "one\n")
        self.assert_one("-two", self.mistakes(page + fenced("text", "two\n")))
        self.assert_one("+two", self.mistakes(page.replace("echo one\n", "echo one\necho two\n")))

    def test_other_pages_do_first_what_the_guide_says(self) -> None:
        program = fenced("python", "print(open('installed').read())\n") + fenced("text", "yes\n\n")
        self.write("guides/python", "## Install\n\n" + fenced("sh", "echo yes >installed\n"))
        self.assertEqual([], self.mistakes(program, "algorithms"))
        self.write("guides/python", "## Install\n\n" + fenced("sh", "exit 4\n"))
        self.assertIn("docs/guides/python.md:3: the sh ends with 4", self.mistakes(program, "algorithms"))


class Blocks(PagesTest):
    def test_nothing_can_be_left_out(self) -> None:
        for text, said in {
            fenced("", "ls\n"): "nothing runs a block of ''",
            fenced("ruby no_run", "puts 1\n"): "nothing runs a block of 'ruby no_run'",
            "```sh\nexit 1\n": "the block has no end",
            fenced("text", "yes\n"): "a text block stands behind a program",
            fenced("sh", "echo yes\n") + "## Another\n" + fenced("text", "yes\n"): "a text block stands behind a program",
            fenced("yaml", "a: 1\n"): "the first line names no file",
            fenced("yaml", "# rules.yaml\na: 1\n"): "no block behind it uses rules.yaml",
            fenced("python", "# a_test.py\nassert False\n"): "no block behind it uses a_test.py",
        }.items():
            with self.subTest(said):
                self.assert_one(said, self.mistakes(text))

    def test_a_block_elsewhere_than_at_the_margin_is_a_mistake(self) -> None:
        for text in (
            "    ls",
            "\tls",
            "  \tls",
            "~~~",
            "  ~~~sh",
            " ```sh",
            "   ```sh",
            "- ```sh",
            "1. ~~~sh",
            "> ```sh",
            ">```sh",
            "> - ```sh",
            ">     ls",
            "-     ls",
            "- \tls",
            "<pre>ls</pre>",
            "a <PRE class='x'>",
        ):
            with self.subTest(text):
                self.assert_one(":3: nobody runs this block: write it as a fence at the margin", self.mistakes(f"text\n\n{text}\n"))
        self.assertEqual([], self.mistakes("- a list\n  goes on\n\n> it is said\n\n1. one\n\n| a | b |\n|---|---|\n"))

    def test_an_end_that_is_none_elsewhere_is_a_mistake(self) -> None:
        self.assert_one(":3: a block ends with ``` at the margin", self.mistakes("```sh\necho\n```sh\n"))
        self.assert_one(":3: a block ends with ``` at the margin", self.mistakes("```sh\n: '\n  ```\n'\n```\n"))

    def test_a_file_that_is_only_talked_of_is_a_mistake(self) -> None:
        for file, text, user in (
            ("app.py", "assert False\n", "echo yes # the app, app.py\n"),
            ("app.py", "assert False\n", "echo the app\n"),
            ("app.py", "assert False\n", "ls app.pyc my-app.py other/app.py || true\n"),
            ("limit.yaml", "a: 1\n", "echo rate limit\n"),
            ("limit.yaml", "a: 1\n", "echo yes\n# limit.yaml\n"),
        ):
            with self.subTest(user):
                page = fenced("yaml" if file.endswith("yaml") else "python", f"# {file}\n{text}") + fenced("sh", user)
                self.assert_one(f"no block behind it uses {file}", self.mistakes(page))
        page = fenced("python", "# app.py\nassert False\n") + fenced("python", "import sys\n# import app\n")
        self.assert_one("no block behind it uses app.py", self.mistakes(page))

    def test_a_module_is_used_by_its_name(self) -> None:
        page = fenced("python", "# shop/app.py\nprint('yes')\n")
        for language, user in (("python", "import shop.app\n"), ("python", "from shop.app import __name__\n"), ("sh", "python3 -m shop.app\n")):
            with self.subTest(user):
                self.assertEqual([], self.mistakes(page + fenced(language, user) + fenced("text", "yes\n")))
        self.assertTrue(check_guides.uses(check_guides.Block("sh", "go test ./signin\n", 1, ""), "signin/a.go"))
        self.assertFalse(check_guides.uses(check_guides.Block("sh", "echo ./signing # ./signin\n", 1, ""), "signin/a.go"))
        self.assertTrue(check_guides.uses(check_guides.Block("sh", "cargo test --test sign_in\n", 1, ""), "tests/sign_in.rs"))
        self.assertFalse(check_guides.uses(check_guides.Block("sh", "echo sign_in\n", 1, ""), "tests/sign_in.rs"))

    def test_a_file_is_there_for_those_behind_it(self) -> None:
        self.assertEqual([], self.mistakes(fenced("yaml", "# rules.yaml\na: 1\n") + fenced("sh", "grep a rules.yaml\n")))


class Whole(PagesTest):
    def run_main(self) -> tuple[int, str]:
        """Out: the exit status, and what is printed."""
        said = io.StringIO()
        with (
            mock.patch.object(check_guides, "Workshop", lambda _root: self.workshop),
            mock.patch.object(sys, "argv", ["check_guides.py"]),
            contextlib.redirect_stdout(said),
        ):
            return check_guides.main(), said.getvalue()

    def assert_red(self, *texts: str) -> None:
        status, said = self.run_main()
        self.assertEqual(1, status, said)
        for text in texts:
            self.assertIn(text, said)
        self.assertTrue(said.endswith(f"5 pages, {len(texts)} mistakes\n"), said)

    def setUp(self) -> None:
        super().setUp()
        self.write_all()

    def test_what_is_in_order_passes(self) -> None:
        status, said = self.run_main()
        self.assertEqual((0, "5 pages, 0 mistakes"), (status, said.splitlines()[-1]), said)

    def test_a_mistake_on_a_page_is_red(self) -> None:
        for name in ("guides/go", "algorithms", "decisions", "troubleshooting"):
            with self.subTest(name):
                path = self.docs / f"{name}.md"
                good = path.read_text(encoding="utf-8")
                path.write_text(good + fenced("sh", "false\n"), encoding="utf-8")
                self.assert_red(f"docs/{name}.md:{len(good.splitlines()) + 1}: the sh ends with 1")
                path.write_text(good, encoding="utf-8")

    def test_guides_of_other_sections_are_red(self) -> None:
        self.write("guides/ruby", "# A guide\n\n## Rules\n\n## Install\n")
        self.assert_red("docs/guides/ruby.md has the sections ['Rules', 'Install']")

    def test_a_section_that_no_guide_has_is_red(self) -> None:
        for language in ("go", "ruby"):
            self.write(f"guides/{language}", "\n\n".join(["# A guide", *(f"## {topic}" for topic in TOPICS if topic != "Failure"), ""]))
        self.assert_red("docs/guides/go.md has the sections ['Install'", "docs/guides/ruby.md has the sections ['Install'")

    def test_sections_of_another_shape_are_red(self) -> None:
        for name, parts in check_guides.SHAPES.items():
            with self.subTest(name):
                path = self.docs / f"{name}.md"
                good = path.read_text(encoding="utf-8")
                path.write_text(good.replace(parts[1], "", 1), encoding="utf-8")
                self.assert_red(f"docs/{name}.md: 'One' has the parts")
                path.write_text(good, encoding="utf-8")

    def test_pictures_of_other_decisions_are_red(self) -> None:
        picture = self.docs / "pictures" / "new.svg"
        picture.write_text("by hand", encoding="utf-8")
        self.assert_red("docs/pictures/new.svg is not what is decided")
        picture.rename(picture.with_name("old.svg"))
        self.assert_red("docs/pictures/new.svg is not what is decided", "docs/pictures/old.svg is not what is decided")
        (self.docs / "pictures" / "draw.py").write_text("raise SystemExit(1)\n", encoding="utf-8")
        self.assert_red("docs/pictures: ")

    def test_a_package_that_is_not_built_is_red(self) -> None:
        for language in ("go", "ruby"):
            with self.subTest(language), mock.patch.object(Bare, "ready", Workshop.ready):
                self.workshop._build |= dict.fromkeys((*PROGRAMS, "tools"), _broken)
                self.assertIn("cannot be tried", "".join(self.mistakes(fenced("sh", ":\n"), f"guides/{language}")))


def _broken() -> None:
    raise OSError("as a compiler that fails")


class TheScratch(PagesTest):
    def test_a_page_finds_no_package_of_its_starter(self) -> None:
        with mock.patch.dict("os.environ", RUBYLIB="/lib", PYTHONPATH="/lib"), Scratch(self.workshop, "page") as scratch:
            # `cargo init` would change the workspace of a repository around it.
            self.assertFalse(scratch.folder.is_relative_to(self.root))
            self.assertEqual([], [name for name in ("RUBYLIB", "PYTHONPATH") if name in scratch.environment])

    def test_a_server_of_somebody_else_is_left_alone(self) -> None:
        with Scratch(self.workshop, "other") as other:
            taken = urlsplit(other.environment["REDIS_URL"]).port
            command = ["redis-cli", "-p", str(taken)]
            subprocess.run([*command, "set", "theirs", "kept"], check=True, capture_output=True)
            with (
                mock.patch.object(guide_workshop, "free_port", side_effect=[taken, guide_workshop.free_port()]),
                Scratch(self.workshop, "page") as scratch,
            ):
                self.assertNotEqual(other.environment["REDIS_URL"], scratch.environment["REDIS_URL"])
                scratch.forget()
                scratch._port = taken or 0
                self.assertRaises(Unready, scratch.forget)
            said = subprocess.run([*command, "get", "theirs"], check=True, capture_output=True, text=True)
            self.assertEqual("kept\n", said.stdout)
            with mock.patch.object(guide_workshop, "free_port", return_value=taken):
                self.assert_one(f"redis-server did not start, on {guide_workshop.ATTEMPTS} ports", self.mistakes(fenced("sh", ":\n")))


if __name__ == "__main__":
    unittest.main()
