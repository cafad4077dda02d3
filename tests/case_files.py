"""Read case files: one Markdown file with several small tasks and the expectations of each.

    # household                   a first-level heading begins a group; its files belong to every case of the group

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
(``{100*(}`` means a hundred parentheses). Text before the first case of a group is a comment.
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
        """Return the text of a file."""
        return self.files[file].decode("utf-8")

    def source(self, file: str, name: str | None = None) -> Source:
        """Return a file as a source of the verifier, under its own name or another name."""
        return Source.from_bytes(name or file, self.files[file])

    def write(self, folder: Path) -> Path:
        """Create a folder, write the files into it, and return it."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in self.files.items():
            (folder / name).write_bytes(content)
        return folder


_FENCE = re.compile(r"(`{3,})([\w.-]+)((?: [\w-]+)*)")
_REPEATED = re.compile(r"\{(\d+)\*(.)\}")


def read_cases(path: Path) -> list[Case]:
    """Return all cases of a file, in order. Raises CaseFileError if the file breaks the format."""
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
            files[fence[2]] = _stored_bytes("".join(content), fence[3].split())
        elif line.strip():
            expected.append(line)
    finish()
    return cases


def _stored_bytes(text: str, words: list[str]) -> bytes:
    """Return the bytes of a block's text, changed as the words after the file name say."""
    if unknown := set(words) - {"no-newline", "bom", "latin-1", "repeat"}:
        raise CaseFileError(f"unknown words after the name of a file: {sorted(unknown)}")
    if "repeat" in words:
        text = _REPEATED.sub(lambda repetition: int(repetition[1]) * repetition[2], text)
    if "no-newline" in words:
        text = text.removesuffix("\n")
    return text.encode("latin-1" if "latin-1" in words else "utf-8-sig" if "bom" in words else "utf-8")


def replace_block(path: Path, case: str, file: str, text: str) -> None:
    """Rewrite the block of a file of a case, for tests that update their expected text."""
    before, heading, case_and_after = path.read_text(encoding="utf-8").partition(f"\n## {case}\n")
    case_text, next_heading, after = case_and_after.partition("\n## ")
    opening = re.search(rf"^(`{{3,}}){re.escape(file)}\n", case_text, re.MULTILINE)
    if not heading or opening is None:
        raise CaseFileError(f"{path}: {case!r} has no file {file!r}")
    closing = case_text.index(f"{opening[1]}\n", opening.end())
    case_text = case_text[: opening.end()] + text + case_text[closing:]
    path.write_text(before + heading + case_text + next_heading + after, encoding="utf-8")


def conformance_cases() -> dict[str, Case]:
    """Return the tasks of ``conformance/*.md`` by name. The expectation of each is VALID, INVALID or REJECT."""
    cases = [case for path in sorted((TESTS / "conformance").glob("*.md")) for case in read_cases(path)]
    case_by_name = {case.name: case for case in sorted(cases, key=lambda case: case.name)}
    if len(case_by_name) != len(cases):
        raise CaseFileError("two conformance cases have the same name")
    return case_by_name
