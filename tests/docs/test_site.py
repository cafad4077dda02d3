"""The documentation site: index, links, and reference pages, which are made without mkdocs."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from bench.site import api, check, commands, diagnostics, fields, make, rules
from bench.site.index import KINDS, index_problems, read_index
from bench.site.markdown import find_links, heading_anchors, mark_prose, to_mkdocs
from doc_blocks import ROOT

from plansafe.app.interfaces.cli.command_table import COMMANDS, is_replaced
from plansafe.grammar.codes import SC

DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return make.site_pages()


def test_every_page_has_one_row_in_the_index() -> None:
    entries = read_index(DOCS)
    assert not index_problems(DOCS, entries), "\n".join(index_problems(DOCS, entries))
    assert {entry.kind for entry in entries} == set(KINDS)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("| [b.md](b.md) | says |", "docs/a.md has no place: add `| [Title](a.md) |"),
        ("| [A](a.md) | says |\n| [B](b.md) | says |\n| [C](c.md) | . |", "names c.md, which is not there"),
        ("| [A](a.md) | says |\n| [B](b.md) | says |\n| [D](b.md) | says |", "has 2 rows for b.md"),
        ("| [A](a.md) | says |\n### H\n| [B](b.md) | says |\n\n## More\n| [B](b.md) | . |", "none of Tutorials"),
        ("| [A](a.md) | says |\n| [A](b.md) | says |", "two pages of Reference are called 'A'"),
        (
            "### G\n| [A](a.md) | says |\n### H\n| [B](b.md) | says |\n### G\n| [C](c.md) | . |",
            "the rows of the group 'G' of Reference are in 2 places",
        ),
    ],
)
def test_a_mistake_in_the_index_is_reported(rows: str, message: str, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.md").write_text(f"# {name.upper()}\n", encoding="utf-8")
    (tmp_path / "README.md").write_text(f"# docs\n\n## Reference\n\n{rows}\n", encoding="utf-8")
    assert [line for line in index_problems(tmp_path, read_index(tmp_path)) if message in line]


@pytest.mark.slow
def test_the_targets_of_links_between_pages_exist(pages: dict[str, str]) -> None:
    assert not list(make.dead_links(pages))
    assert list(make.dead_links({"a.md": "# A\n\n[b](b.md) [c](#c) [a](#a)\n"})) == [
        "a.md: b.md: no such page",
        "a.md: #c: the page has no such heading",
    ]


def test_the_targets_of_links_in_the_sources_exist() -> None:
    for path in DOCS.glob("*.md"):
        for link in find_links(path.read_text(encoding="utf-8")):
            file, _, anchor = link.partition("#")
            target = path if not file else (path.parent / file)
            if anchor and ":" not in file and target.suffix == ".md":
                assert anchor in heading_anchors(target.read_text(encoding="utf-8")), f"{path.name}: {link}"


def test_the_navigation_lists_every_page_once(pages: dict[str, str]) -> None:
    def walk(part: object) -> list[str]:
        if isinstance(part, str):
            return [part]
        return [page for inner in (part.values() if isinstance(part, dict) else part) for page in walk(inner)]

    assert sorted(walk(make.build_navigation(read_index(DOCS), pages))) == sorted(pages)


@pytest.mark.slow
def test_the_reference_has_every_command_and_flag(pages: dict[str, str]) -> None:
    names = set()
    for words, command in commands.iterate_commands():
        names.add(" ".join(words))
        text = pages[f"reference/commands/{words[0]}.md"]
        heading = re.search(rf"^##? safecheck {' '.join(words)}$", text, re.MULTILINE)
        section = text[heading.start() + 2 :].partition("\n## ")[0]
        for parameter in command.params:
            if parameter.param_type_name == "option" and not parameter.hidden:
                missing = [flag for flag in parameter.opts if not re.search(rf"{re.escape(flag)}\b", section)]
                assert not missing, (words, missing)
    assert {command.name for command in COMMANDS if not is_replaced(command)} == names


def test_the_reference_has_every_field(pages: dict[str, str]) -> None:
    def keys(schema: object) -> set[str]:
        if isinstance(schema, list):
            return {key for part in schema for key in keys(part)}
        if not isinstance(schema, dict):
            return set()
        properties = set(schema["properties"]) if isinstance(schema.get("properties"), dict) else set()
        return properties | {key for part in schema.values() for key in keys(part)}

    for name, schema in fields.read_schemas().items():
        text = pages[f"reference/json/{name}.md"] + pages["reference/json/shared.md"]
        assert not [key for key in keys(schema) if not re.search(rf"`(?:[\w.\[\]]+\.)?{re.escape(key)}`", text)], name
    assert len(fields.read_schemas()) == len(list((ROOT / "app/plansafe/app/schema").glob("*.json")))
    headings = {page: set(re.findall(r"^## (\w+)$", text, re.MULTILINE)) for page, text in pages.items()}
    for name, schema in fields.read_schemas().items():
        for definition in schema.get("$defs", {}):
            places = [
                page
                for page in (f"reference/json/{name}.md", "reference/json/shared.md")
                if definition in headings[page]
            ]
            assert len(places) == 1, (name, definition)


def test_the_reference_has_every_code(pages: dict[str, str]) -> None:
    codes = {value for name, value in inspect.getmembers(SC) if name.isupper()}
    heading = re.compile(r"^## (SC\d{3}):", re.MULTILINE)
    page_of_code = {code: page for page, text in pages.items() for code in heading.findall(text)}
    assert codes == set(page_of_code)
    assert all(page_of_code[code] == f"reference/diagnostics/{code[:3]}xx.md" for code in codes)
    assert set(diagnostics.code_topics()) == {code[:3] for code in codes}


def test_the_reference_has_every_rule_with_its_examples(pages: dict[str, str]) -> None:
    documented_rules = list(rules.library_rules())
    for documented in documented_rules:
        page = pages[f"reference/rules/{documented.specification}.md"]
        section = page.partition(f"\n## {documented.rule.name}\n")[2].partition("\n## ")[0]
        assert documented.text in section, documented.rule.name
        assert "a plan that breaks it" in section and "a plan that keeps it" in section, documented.rule.name
        assert documented.cases, documented.rule.name
        for case in documented.cases:
            assert case.text("plan").splitlines()[-1] in section
    assert len(documented_rules) >= len([*rules.CASES.glob("home/*.md"), *rules.CASES.glob("rules/*.md")])


def test_the_reference_describes_every_name_that_a_page_imports(pages: dict[str, str]) -> None:
    names = api.documented_names([ROOT / "README.md", *DOCS.glob("*.md")])
    assert {"audit", "Checker", "Monitor", "repair"} <= {name.name for name in names}
    for name in names:
        assert f"\n### {name.name}\n" in pages[f"reference/python/{name.module.split('.')[1]}.md"], name


def test_no_table_has_an_empty_column(pages: dict[str, str]) -> None:
    for page, text in pages.items():
        prose = "".join([f"{line if is_prose else ''}\n" for is_prose, line in mark_prose(text)])
        for table in re.findall(r"^\|[^\n]*\n\|[-| :]+\|\n((?:\|[^\n]*\n)+)", prose, re.MULTILINE):
            rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in table.splitlines()]
            empty = [column for column in range(len(rows[0])) if not any(row[column].strip() for row in rows)]
            assert not empty, f"{page}: column {empty} of the table with the row {table.splitlines()[0]}"


def test_the_front_page_shows_a_diagnostic_a_page_and_the_two_commands(pages: dict[str, str]) -> None:
    text = pages["index.md"]
    assert "\n$ safecheck examples/" in text and "\n$ safecheck repair examples/" in text
    assert "error[SC" in text and "](page-plan.png)" in text


def test_a_list_gets_a_preceding_empty_line_and_code_blocks_do_not_change() -> None:
    text = "Two:\n- [a](a.md)\n- b\n```sh\nx:\n- [a](a.md)\n```\n"
    assert to_mkdocs("![a](docs/a.png)\n", lambda link: link.removeprefix("docs/")) == "![a](a.png)\n"
    assert to_mkdocs(text, lambda _link: None) == "Two:\n\n- a\n- b\n\n```sh\nx:\n- [a](a.md)\n```\n"


def test_external_resources_and_missing_link_targets_of_a_site_are_reported(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<script src="https://x.org/a.js"></script><link href="//x.org/a.css" rel="stylesheet">'
        '<img src="http://x.org/a.png"><a href="b.html">b</a><a href="#here">h</a><a href="https://x.org">out</a>'
        "<style>p { background: url('https://x.org/b.png') }</style><p id=there>",
        encoding="utf-8",
    )
    (tmp_path / "a.css").write_text('@import "https://x.org/c.css";', encoding="utf-8")
    messages = "\n".join(check.find_problems(tmp_path))
    for url in (
        "https://x.org/a.js",
        "//x.org/a.css",
        "http://x.org/a.png",
        "https://x.org/b.png",
        "https://x.org/c.css",
    ):
        assert f"loads {url}" in messages
    assert "b.html: no such file" in messages and "#here: no such place" in messages
    assert "loads https://x.org\n" not in messages + "\n"


@pytest.mark.whole
def test_the_built_site_loads_nothing_from_a_network(tmp_path: Path) -> None:
    mkdocs = shutil.which("mkdocs") or str(ROOT / ".venv-docs/bin/mkdocs")
    if not Path(mkdocs).exists():
        pytest.skip("mkdocs is not installed: `make docs` makes its environment")
    make.write_sources(tmp_path / "docs")
    command = [mkdocs, "build", "--strict", "-q", "-f", str(tmp_path / "docs/mkdocs.yml"), "-d", str(tmp_path / "site")]
    completed = subprocess.run(command, env={**os.environ}, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert not list(check.find_problems(tmp_path / "site"))
