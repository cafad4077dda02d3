"""Reads case files: several small tasks, with what is expected of each, in one Markdown file.

    # household                   files below a first-level heading belong to every case below it

    ```problem.pddl
    (define (problem p) (:domain household) ..)
    ```

    ## breaks-hot-oil             a second-level heading begins a case
    finds at 2: ?o=lard           lines of text are the expectation; each test module defines its own

    ```plan
    (heat lard)
    ```

The word after the backticks names the file. A block that contains three backticks is fenced with four. Words after the
name change the stored bytes: ``no-newline`` (at the end), ``bom`` (at the start), ``latin-1`` (not UTF-8), ``repeat``
(``{100*(}`` stands for a hundred parentheses). Text that stands before the first case of a group is for the reader.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from plansafe.grammar.source import Source

TESTS = Path(__file__).resolve().parent


class CaseFileError(ValueError):
    """A case file that breaks the format."""


class Case(NamedTuple):
    """A case: its group (the first-level heading), its name, the lines of its expectation, and its files."""

    group: str
    name: str
    lines: tuple[str, ...]
    files: dict[str, bytes]

    def text(self, file: str) -> str:
        """The text of a file."""
        return self.files[file].decode("utf-8")

    def source(self, file: str, name: str | None = None) -> Source:
        """A file as the verifier reads it, under its own name or another one."""
        return Source.from_bytes(name or file, self.files[file])

    def write(self, folder: Path) -> Path:
        """Write the files into a folder, which is made; return the folder."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in self.files.items():
            (folder / name).write_bytes(content)
        return folder


_FENCE = re.compile(r"(`{3,})([\w.-]+)((?: [\w-]+)*)")
_REPEATED = re.compile(r"\{(\d+)\*(.)\}")


def read_cases(path: Path) -> list[Case]:
    """All cases of a file, in order. Raises CaseFileError if the file breaks the format."""
    cases: list[Case] = []
    group, shared = "", dict[str, bytes]()
    name: str | None = None
    expected: list[str] = []
    files = shared

    def finish() -> None:
        if name is not None:
            if any([case.group == group and case.name == name for case in cases]):
                raise CaseFileError(f"{path}: two cases are called {name!r}")
            cases.append(Case(group, name, tuple(expected), {**shared, **files}))

    lines = iter(path.read_text(encoding="utf-8").split("\n"))
    for line in lines:
        if line.startswith("# "):
            finish()
            group, name, shared = line[2:].strip(), None, {}
            files, expected = shared, []
        elif line.startswith("## "):
            finish()
            name, files, expected = line[3:].strip(), {}, []
        elif line.startswith("```"):
            fence = _FENCE.fullmatch(line)
            if fence is None:
                raise CaseFileError(f"{path}: {line!r} is not the beginning of a block: backticks, then a file name")
            if fence[2] in files:
                raise CaseFileError(f"{path}: {name or group} has two files called {fence[2]!r}")
            content: list[str] = []
            for inner in lines:
                if inner == fence[1]:
                    break
                content.append(f"{inner}\n")
            else:
                raise CaseFileError(f"{path}: the block {line!r} of {name or group} is not closed")
            files[fence[2]] = _stored("".join(content), fence[3].split())
        elif line.strip():
            expected.append(line)
    finish()
    return cases


def _stored(text: str, words: list[str]) -> bytes:
    """The bytes of a block's text."""
    if unknown := set(words) - {"no-newline", "bom", "latin-1", "repeat"}:
        raise CaseFileError(f"unknown words after the name of a file: {sorted(unknown)}")
    if "repeat" in words:
        text = _REPEATED.sub(lambda found: int(found[1]) * found[2], text)
    if "no-newline" in words:
        text = text.removesuffix("\n")
    return text.encode("latin-1" if "latin-1" in words else "utf-8-sig" if "bom" in words else "utf-8")


def replace_block(path: Path, case: str, file: str, text: str) -> None:
    """Rewrite the block of a file of a case, for tests that update what they expect."""
    before, heading, rest = path.read_text(encoding="utf-8").partition(f"\n## {case}\n")
    own, more, after = rest.partition("\n## ")
    opening = re.search(rf"^(`{{3,}}){re.escape(file)}\n", own, re.MULTILINE)
    if not heading or opening is None:
        raise CaseFileError(f"{path}: {case!r} has no file {file!r}")
    end = own.index(f"{opening[1]}\n", opening.end())
    path.write_text(before + heading + own[: opening.end()] + text + own[end:] + more + after, encoding="utf-8")


def conformance_cases() -> dict[str, Case]:
    """The tasks of ``conformance/*.md`` by name. The one line of each is VALID, INVALID or REJECT."""
    cases = [case for path in sorted((TESTS / "conformance").glob("*.md")) for case in read_cases(path)]
    found = {case.name: case for case in sorted(cases, key=lambda case: case.name)}
    if len(found) != len(cases):
        raise CaseFileError("two conformance cases have the same name")
    return found
