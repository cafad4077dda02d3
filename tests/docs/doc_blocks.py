"""Read the code blocks of a documentation page and run each kind of block.

A block whose first line is a comment with a file name (``; kitchen.safe``) is written to the page's folder under that
name. `tests/docs/README.md` describes the other conventions.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, NamedTuple

from in_process import safecheck
from plansafe.align.config import read_config
from plansafe.app.project.home_profile import read_home
from plansafe.app.project.project_file import FILE, project_in
from plansafe.domains import domain_path
from plansafe.grammar.source import Source
from plansafe.specs import spec_path
from plansafe.specs.detector import compile_detector
from plansafe.verifier.api import Checker

ROOT = Path(__file__).resolve().parents[2]
HOUSEHOLD = Path(domain_path("household"))
TRIMMED = "[...]"
NOT_RUN = ("git clone", "python3.11 -m venv", ".venv/bin/pip install")  # they need a network
KINDS = frozenset(("console", "sh", "python", "text", "lisp", "toml", "output"))
_FENCE = re.compile(r"^```(\S*)\s*$")
_WRITES = frozenset(("--output", "-o", "--run", "--transcript", "--write-baseline"))
_FILE = re.compile(r";\s*((?:[\w-]+/)*[\w-]+\.(?:safe|pddl|plan))\s*$")
_TABLE = re.compile(r"# ([\w-]+-rules\.toml)\n")
_EXIT = re.compile(r"\s+# exit (\d)\Z")


class Block(NamedTuple):
    """A fenced block: its kind (the word after the backticks), its text, and the number of its first line."""

    kind: str
    text: str
    line: int


def read_blocks(page: Path) -> Iterator[Block]:
    """Yield the blocks of a page, in order. Raises ``ValueError`` for a fence that is not closed."""
    kind, start = "", 0
    lines: list[str] = []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fence = _FENCE.match(line)
        if start and line == "```":
            yield Block(kind, "\n".join(lines) + "\n", start)
            start = 0
        elif start:
            lines.append(line)
        elif fence:
            kind, start, lines = fence[1], number, []
    if start:
        raise ValueError(f"{page}:{start}: the block is not closed")


class Page:
    """Runs the blocks of one page in a folder of its own. The Python blocks share their variables."""

    def __init__(self, page: Path, folder: Path) -> None:
        self.page = page
        self.folder = folder
        self.names: dict[str, Any] = {}
        self.printed: str | None = None

    def run(self, block: Block) -> None:
        """Run a block. Raises ``AssertionError`` if the block does not do what the page says."""
        where = f"{self.page.name}:{block.line}"
        match block.kind:
            case "console":
                self._console(block.text, where)
            case "sh":
                self._shell(block.text, where)
            case "python":
                self._python(block.text, where)
            case "lisp":
                self._lisp(block.text, where)
            case "toml":
                self._toml(block.text, where)
            case "text":
                assert self.printed is not None, f"{where}: a text block shows what the Python before it prints"
                self._compare(block.text.splitlines(), self.printed.splitlines(), where)
            case "output":
                pass  # a drawing or a template is not run
            case _:
                raise AssertionError(f"{where}: a block is one of {sorted(KINDS)}, not {block.kind!r}")

    # -- commands -----------------------------------------------------------------------------------------------------

    def command(self, line: str) -> CompletedProcess[str]:
        """Run one `safecheck` command line, without a shell.

        It runs in the page's folder, or in the root of the repository if it names the examples.
        """
        line, _, input_file = line.partition(" < ")
        words = shlex.split(line)
        assert words[0] == "safecheck", line
        runs_in_root = any(word.split("/")[0] == "examples" for word in words)
        if runs_in_root:
            words = [self._placed(before, word) for before, word in zip(["", *words], words, strict=False)]
        stdin = (self.folder / input_file).read_text(encoding="utf-8") if input_file else ""
        completed = safecheck(*words[1:], cwd=ROOT if runs_in_root else self.folder, stdin=stdin)
        completed.stdout = completed.stdout.replace(f"{self.folder}/", "")
        return completed

    def _placed(self, before: str, word: str) -> str:
        """Return a word of a command that runs in the root; a file of the page becomes a path in the page's folder."""
        if (self.folder / word).is_file() or (before in _WRITES and "/" not in word and word != "-"):
            return str(self.folder / word)
        recorded = word.removeprefix("replay/")
        return f"replay/{self.folder / recorded}" if recorded != word and (self.folder / recorded).is_file() else word

    def _console(self, text: str, where: str) -> None:
        parts = re.split(r"^\$ ", text, flags=re.MULTILINE)
        assert not parts[0].strip(), f"{where}: a console block begins with `$ `"
        for part in parts[1:]:
            line, _, expected_output = part.partition("\n")
            exit_comment = _EXIT.search(line)
            completed = self.command(_EXIT.sub("", line))
            expected_code = int(exit_comment[1]) if exit_comment else 0
            assert completed.returncode == expected_code, f"{where}: {line}\n{completed.stdout}{completed.stderr}"
            self._compare(expected_output.splitlines(), completed.stdout.splitlines(), f"{where}: {line}")

    def _compare(self, expected: list[str], actual: list[str], where: str) -> None:
        """Assert that the expected lines are the actual ones, in order; a trim mark matches any lines."""
        runs: list[list[str]] = [[]]
        for line in expected:
            if line.strip() == TRIMMED:
                runs.append([])
            else:
                runs[-1].append(line)
        position = 0
        for number, run in enumerate(runs):
            run, at_start = _stripped(run), number == 0
            if not run:
                continue
            places = [i for i in range(position, len(actual) - len(run) + 1) if actual[i : i + len(run)] == run]
            assert places, "\n".join([f"{where}: not in the actual text:", *run, "--- actual:", *actual])
            assert not at_start or not _stripped(actual[: places[0]]), f"{where}: lines before the first are missing"
            position = places[0] + len(run)
        if expected and expected[-1].strip() != TRIMMED:
            assert not _stripped(actual[position:]), f"{where}: lines after the last are missing; write {TRIMMED}"

    def _shell(self, text: str, where: str) -> None:
        targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
        for line in text.splitlines():
            line = line.split("#")[0].strip()
            if not line or line.startswith(NOT_RUN):
                continue
            if line.startswith("make "):
                assert line.split()[1] in targets, f"{where}: no target {line}"
                continue
            completed = self.command(line)
            assert completed.returncode in (0, 1), f"{where}: {line}\n{completed.stdout}{completed.stderr}"

    # -- Python and specifications ------------------------------------------------------------------------------------

    def _python(self, text: str, where: str) -> None:
        out = io.StringIO()
        place = ROOT if '"examples/' in text else self.folder
        with contextlib.redirect_stdout(out), contextlib.chdir(place):
            exec(compile(text, where, "exec"), self.names)  # text of our own pages
        self.printed = out.getvalue()

    def _lisp(self, text: str, where: str) -> None:
        name = _FILE.match(text.partition("\n")[0])
        if name:
            (self.folder / name[1]).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name[1]).write_text(text, encoding="utf-8")
        if "(define (safety" not in text and "(define (mapping" not in text and name:
            return  # a domain, a problem or a plan: later commands and specifications use it
        if "(define " not in text:
            text = f"(define (safety fragment)\n{text})"
        texts = [text]
        mapping = re.search(r"\(define \(mapping [^()]*\)\s*\(:specification ([\w-]+)\)", text)
        if mapping:
            texts.append((self.folder / f"{mapping[1]}.safe").read_text(encoding="utf-8"))
        self._check(texts, where)

    def _toml(self, text: str, where: str) -> None:
        """Write and read a project file, a profile, a training configuration or a detector's table."""
        if text.startswith("# home.toml\n"):
            (self.folder / "home.toml").write_text(text, encoding="utf-8")
            assert read_home(Source("home.toml", text)).diagnostics == (), where
            return
        if text.startswith("# align.toml\n"):
            (self.folder / "align.toml").write_text(text, encoding="utf-8")
            read_config(str(self.folder / "align.toml"))
            return
        table = _TABLE.match(text)
        if table:
            (self.folder / table[1]).write_text(text, encoding="utf-8")
            assert compile_detector(Source(table[1], text)).diagnostics == (), where
            return
        assert text.startswith(f"# {FILE}\n"), f"{where}: a toml block begins with `# {FILE}`"
        (self.folder / FILE).write_text(text, encoding="utf-8")
        assert project_in(str(self.folder)) is not None, where

    def _check(self, texts: list[str], where: str) -> None:
        """Assert that texts compile into rules without warnings; a single text may use names that the domain lacks."""
        domain, problem = (
            Source(name, (path if path.exists() else shipped).read_text(encoding="utf-8"))
            for name, shipped in (("domain.pddl", HOUSEHOLD), ("problem.pddl", ROOT / "examples/dinner/problem.pddl"))
            for path in [self.folder / name]
        )
        checker = Checker(domain, problem, [Source(f"{where}.safe", t) for t in texts], resolve=self._specification)
        warnings = [d for d in checker.diagnostics if d.severity.value != "note"]
        unexpected = [d for d in warnings if len(texts) > 1 or d.code not in ("SC120", "SC702")]
        assert checker.ok and not unexpected, f"{where}: {[d.message for d in unexpected]}"
        assert checker.rules, f"{where}: the block has no rule"

    def _specification(self, name: str, _extending: Source) -> Source | None:
        path = self.folder / f"{name}.safe"
        path = path if path.exists() else Path(spec_path(name))
        return Source(path.name, path.read_text(encoding="utf-8"))


def _stripped(lines: list[str]) -> list[str]:
    """Return the lines without empty lines at either end."""
    text = "\n".join(lines).strip("\n")
    return text.split("\n") if text.strip() else []
