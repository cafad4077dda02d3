"""Formats of build machines: what GitHub's runner makes of hostile names, and whether the schemas say anything."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from format_checks import Command, github_lines, gitlab_items, junit_suites, runner_reads
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import ValidationError

from plansafe.app.render import renderer
from plansafe.app.render.concise import LEVELS, Issue
from plansafe.app.render.github import annotation
from plansafe.app.session.model import Result, Settings
from plansafe.app.system.terminal_text import visible
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.verifier.reporting.report import make_unchecked_report

TEXTS = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        [
            "::error::x",
            "a,b=c",
            "%0A::add-path::/tmp",
            "%25",
            "x\r\n::stop-commands::y",
            "##[group]z",
            " ::",
            "a::b",
            "%3A",
        ]
    ),
)


def shown(form: str, *results: Result) -> str:
    view = renderer(form, Settings())
    return "".join([*[view.plan(result) for result in results], view.end()])


@pytest.mark.slow
@given(path=TEXTS, check=TEXTS, text=TEXTS, level=st.sampled_from(LEVELS), end=st.integers(1, 9))
def test_the_runner_reads_back_what_was_said(path: str, check: str, text: str, level: str, end: int) -> None:
    """One line, one command, its properties as they were; the runner trims blanks around them."""
    issue = Issue("SC201", visible(check), level, visible(text), path or None, 3, 2, 3, end, "f")
    line = annotation(issue)
    assert line.isprintable()
    read = runner_reads(line)
    assert read is not None
    assert read.data == visible(text)
    assert read.properties["title"] == f"SC201 {visible(check)}".rstrip()
    assert read.properties.get("file", "") == visible(path)
    assert ("col" in read.properties) == bool(path and end > 2)


@pytest.mark.parametrize("name", ["::error::x", " ::add-path::/x", "##[command]ls", "a\n::debug::b", "%0A::debug::c"])
def test_a_plan_with_a_hostile_name_is_no_command(name: str) -> None:
    bad = Diagnostic("SC010", f"cannot read {name}", help="::error::y", severity=Severity.ERROR)
    lines = github_lines(shown("github", Result(name, make_unchecked_report(name, bad), (), {})))
    assert [isinstance(line, Command) for line in lines] == [True, False]
    assert str(lines[1]).startswith("safecheck: ")


def test_a_batch_without_plans_is_a_document() -> None:
    assert (junit_suites(shown("junit")), gitlab_items(shown("gitlab")), shown("github")) == ([], [], "")


BREAKS: list[Callable[[str], str]] = [
    lambda text: text.replace(' tests="', ' test="', 1),
    lambda text: text.replace("<testcase", "<case", 1).replace("</testcase>", "</case>", 1),
    lambda text: text.replace("<testcase ", '<testcase file="x" ', 1),
    lambda text: text.replace("<testcase ", "words <testcase ", 1),
    lambda text: text.replace("<testsuites ", '<testsuites time="soon" ', 1),
    lambda text: text.replace("<failure ", '<failure at="1" ', 1),
]


@pytest.mark.parametrize("number", range(len(BREAKS)))
def test_the_schema_of_junit_says_something(unsafe: Result, number: int) -> None:
    text = shown("junit", unsafe)
    assert len(junit_suites(text)) == 1
    broken = BREAKS[number](text)
    assert broken != text
    with pytest.raises((AssertionError, SyntaxError)):  # an XML that is not well-formed is a SyntaxError
        junit_suites(broken)


@pytest.mark.parametrize("key", ["description", "fingerprint", "severity", "location"])
def test_the_schema_of_gitlab_says_something(unsafe: Result, key: str) -> None:
    items = json.loads(shown("gitlab", unsafe))
    assert [item["severity"] for item in items] == ["blocker", "minor"]
    for wrong in ({k: v for k, v in items[0].items() if k != key}, {**items[0], key: 1}):
        with pytest.raises(ValidationError):
            gitlab_items(json.dumps([wrong]))
