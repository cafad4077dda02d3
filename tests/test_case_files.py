"""``case_files``: groups, blocks, stored bytes, mistakes in the format, and updates of blocks."""

from __future__ import annotations

from pathlib import Path

import pytest

from case_files import CaseFileError, conformance_cases, read_cases, replace_block

TEXT = """# first

For the reader.

```problem.pddl
(p)
```

## one
VALID
at 2: a heading inside a block is text

```plan
## (a)
```

## two

```problem.pddl
(q)
```

````note.txt
```
inside
```
````

# second

## one
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "cases.md"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_the_files_of_a_group_belong_to_its_cases(path: Path) -> None:
    case, case_with_own_problem, case_of_second_group = read_cases(path)
    assert (case.group, case.name, case.lines) == ("first", "one", ("VALID", "at 2: a heading inside a block is text"))
    assert case.files == {"problem.pddl": b"(p)\n", "plan": b"## (a)\n"}
    assert case_with_own_problem.files == {"problem.pddl": b"(q)\n", "note.txt": b"```\ninside\n```\n"}
    assert (case_of_second_group.group, case_of_second_group.name) == ("second", "one")
    assert (case_of_second_group.lines, case_of_second_group.files) == ((), {})


def test_writing_a_case_creates_its_files(path: Path, tmp_path: Path) -> None:
    case = read_cases(path)[0]
    folder = case.write(tmp_path / "a" / "b")
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == case.files


@pytest.mark.parametrize(
    ("words", "stored"),
    [
        ("", "é{3*(}\n".encode()),
        ("no-newline", "é{3*(}".encode()),
        ("latin-1", b"\xe9{3*(}\n"),
        ("bom", b"\xef\xbb\xbf" + "é{3*(}\n".encode()),
        ("repeat", "é(((\n".encode()),
        ("repeat no-newline latin-1", b"\xe9((("),
    ],
)
def test_words_after_a_file_name_change_the_stored_bytes(words: str, stored: bytes, tmp_path: Path) -> None:
    path = tmp_path / "c.md"
    path.write_text(f"## a\n```{' '.join(['plan', *words.split()])}\né{{3*(}}\n```\n", encoding="utf-8")
    assert read_cases(path)[0].files == {"plan": stored}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("## a\n```plan\n(b)\n", "is not closed"),
        ("## a\n```\n(b)\n```\n", "then a file name"),
        ("## a\n```plan\n```\n```plan\n```\n", "two files"),
        ("# g\n## a\n## b\n## a\n", "two cases"),
        ("## a\n```plan utf-16\n```\n", "utf-16"),
    ],
)
def test_a_mistake_in_the_format_is_rejected(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "c.md"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CaseFileError, match=message):
        read_cases(path)


def test_replacing_a_block_changes_only_that_block(path: Path) -> None:
    before = read_cases(path)
    replace_block(path, "two", "note.txt", "new\n")
    after = read_cases(path)
    assert after[1].files["note.txt"] == b"new\n"
    assert [before[0], before[2]] == [after[0], after[2]]
    with pytest.raises(CaseFileError, match="no file"):
        replace_block(path, "one", "note.txt", "new\n")


def test_conformance_cases_keep_unusual_bytes() -> None:
    cases = conformance_cases()
    assert cases["01_deep_parens_problem"].files["problem.pddl"].count(b"(") > 100_000
    assert b"\xe9" in cases["13_nonutf8_comment"].files["domain.pddl"]
    assert [cases[f"{number}"].files[file] for number, file in EMPTY] == [b"", b"", b""]
    assert cases["41_truncated_plan"].files["plan"].endswith(b"c1")
    assert cases["43_bom"].files["plan"].startswith(b"\xef\xbb\xbf(")


EMPTY = (("15_empty_domain", "domain.pddl"), ("16_empty_problem", "problem.pddl"), ("17_empty_plan", "plan"))
