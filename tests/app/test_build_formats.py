"""Test formats for build machines: hostile names in GitHub's runner, and the strictness of the schemas."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from format_checks import Command, github_lines, gitlab_issues, junit_suites, parse_runner_command
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import ValidationError

from plansafe.app.render import renderer
from plansafe.app.render.github import annotation
from plansafe.app.render.issues import LEVELS, Issue
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


def render(form: str, *results: Result) -> str:
    view = renderer(form, Settings())
    return "".join([*[view.plan(result) for result in results], view.end()])


@pytest.mark.slow
@given(path=TEXTS, check=TEXTS, text=TEXTS, level=st.sampled_from(LEVELS), end=st.integers(1, 9))
def test_runner_reads_the_annotation_back(path: str, check: str, text: str, level: str, end: int) -> None:
    """A line is one command with its properties, except that the runner trims blanks around them."""
    issue = Issue("SC201", visible(check), level, visible(text), path or None, 3, 2, 3, end, "f")
    line = annotation(issue)
    assert line.isprintable()
    command = parse_runner_command(line)
    assert command is not None
    assert command.data == visible(text)
    assert command.properties["title"] == f"SC201 {visible(check)}".rstrip()
    assert command.properties.get("file", "") == visible(path)
    assert ("col" in command.properties) == bool(path and end > 2)


@pytest.mark.parametrize("name", ["::error::x", " ::add-path::/x", "##[command]ls", "a\n::debug::b", "%0A::debug::c"])
def test_hostile_plan_name_is_not_a_command(name: str) -> None:
    bad = Diagnostic("SC010", f"cannot read {name}", help="::error::y", severity=Severity.ERROR)
    lines = github_lines(render("github", Result(name, make_unchecked_report(name, bad), (), {})))
    assert [isinstance(line, Command) for line in lines] == [True, False]
    assert str(lines[1]).startswith("safecheck: ")


def test_empty_batch_is_a_valid_document() -> None:
    assert (junit_suites(render("junit")), gitlab_issues(render("gitlab")), render("github")) == ([], [], "")


DEFECTS: list[Callable[[str], str]] = [
    lambda text: text.replace(' tests="', ' test="', 1),
    lambda text: text.replace("<testcase", "<case", 1).replace("</testcase>", "</case>", 1),
    lambda text: text.replace("<testcase ", '<testcase file="x" ', 1),
    lambda text: text.replace("<testcase ", "words <testcase ", 1),
    lambda text: text.replace("<testsuites ", '<testsuites time="soon" ', 1),
    lambda text: text.replace("<failure ", '<failure at="1" ', 1),
]


@pytest.mark.parametrize("number", range(len(DEFECTS)))
def test_junit_schema_refuses_defects(unsafe: Result, number: int) -> None:
    text = render("junit", unsafe)
    assert len(junit_suites(text)) == 1
    broken = DEFECTS[number](text)
    assert broken != text
    with pytest.raises((AssertionError, SyntaxError)):  # an XML that is not well-formed is a SyntaxError
        junit_suites(broken)


@pytest.mark.parametrize("key", ["description", "fingerprint", "severity", "location"])
def test_gitlab_schema_refuses_defects(unsafe: Result, key: str) -> None:
    issues = json.loads(render("gitlab", unsafe))
    assert [issue["severity"] for issue in issues] == ["blocker", "minor"]
    for invalid in ({k: v for k, v in issues[0].items() if k != key}, {**issues[0], key: 1}):
        with pytest.raises(ValidationError):
            gitlab_issues(json.dumps([invalid]))
