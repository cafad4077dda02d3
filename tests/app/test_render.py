"""Test rendered reports: golden files, excerpts, and untrusted text on a terminal."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest
from format_checks import json_lines
from hypothesis import given
from hypothesis import strategies as st

from plansafe.app.project.inputs import Input
from plansafe.app.render import FORMATS, renderer
from plansafe.app.render.excerpt import excerpt
from plansafe.app.session.model import Result, Settings
from plansafe.app.system.terminal_text import WIDE, Style, visible, width
from plansafe.grammar.diagnostics import Diagnostic, Label, Span
from plansafe.grammar.source import Source
from plansafe.verifier.reporting.report import make_unchecked_report

Golden = Callable[[str, str], None]
PLAIN = Style(False)


def rendered(form: str, *results: Result, color: bool = False) -> str:
    view = renderer(form, Settings(), Style(color))
    return "".join(view.plan(result) for result in results) + view.end()


@pytest.mark.parametrize("form", FORMATS)
def test_golden(form: str, golden: Golden, unsafe: Result, invalid: Result, unread: Result, passing: Result) -> None:
    golden(f"{form}.txt", rendered(form, unsafe, invalid, unread, passing))


def test_golden_color(golden: Golden, unsafe: Result) -> None:
    golden("full-color.txt", rendered("full", unsafe, color=True))


def test_all_formats_have_a_renderer() -> None:
    for form in FORMATS:
        assert renderer(form, Settings(), Style(False))
    with pytest.raises(ValueError, match="no such format"):
        renderer("xml", Settings(), Style(False))


def excerpt_of(text: str, *labels: tuple[int, int, str, bool]) -> str:
    source = Source("x", text)
    source_labels = [Label("x", Span(a, b), text_of_label, primary) for a, b, text_of_label, primary in labels]
    return "\n".join(excerpt(source_labels, {"x": source}, 1, PLAIN))


def test_tabs_are_expanded() -> None:
    assert excerpt_of("\t(go a\tb)\n", (1, 5, "here", True)).splitlines()[2:] == [
        "1 |     (go a   b)",
        "  |     ^^^^ here",
    ]


def test_wide_characters_shift_the_carets() -> None:
    assert excerpt_of("(取 杯子)", (3, 5, "here", True)).splitlines()[2:] == [
        "1 | (取 杯子)",
        "  |     ^^^^ here",
    ]


def test_several_labels_on_one_line() -> None:
    text = excerpt_of("(go a b)", (1, 3, "action", False), (4, 5, "from", True), (6, 7, "to", False))
    assert text.splitlines()[2:] == [
        "1 | (go a b)",
        "  |  -- ^ - to",
        "  |  |  from",
        "  |  action",
    ]


def test_span_over_several_lines_names_its_last_line() -> None:
    assert excerpt_of("(go\n a\n b)", (0, 9, "open", True)).splitlines()[2:] == [
        "1 | (go",
        "  | ^^^ open (up to line 3)",
    ]


def test_step_in_json_is_shown_by_its_content() -> None:
    """The excerpt starts at the step and shows a line with content, not a bracket."""
    source = Source("plan.json", '[\n  {\n    "action": "OPEN",\n    "object": "jar_1"\n  }\n]\n')
    label = Label("plan.json", Span(source.text.index("{"), source.text.index("}") + 1), "here")
    lines = excerpt([label], {"plan.json": source}, 1, PLAIN)
    assert lines == [
        " --> plan.json:2:3",
        "  |",
        '3 |     "action": "OPEN",',
        "  |     ^^^^^^^^^^^^^^^^^ here (up to line 5)",
    ]
    brackets = Label("plan.json", Span(source.text.index("}"), len(source.text)), "here")
    assert "5 |   }" in excerpt([brackets], {"plan.json": source}, 1, PLAIN)


def test_a_name_of_a_million_letters_is_cut() -> None:
    source = Source("plan.txt", "x" * 1_000_000)
    label = Label("plan.txt", Span(0, len(source.text)))
    unknown = Diagnostic("SC401", f"unknown action `{source.text}`", (label,), help=source.text)
    result = Result("plan.txt", make_unchecked_report("plan.txt", unknown), (), {"plan.txt": source})
    for form in ("full", "concise"):
        text = rendered(form, result)
        assert len(text) < 5_000
        assert "up to line" not in text


def test_gaps_between_lines() -> None:
    text = excerpt_of("a\nb\nc\nd\ne\nf\n", (0, 1, "", True), (4, 5, "", False), (10, 11, "", False))
    assert text.splitlines()[2:] == ["1 | a", "  | ^", "2 | b", "3 | c", "  | -", "...", "6 | f", "  | -"]


def test_places_in_an_unknown_source_are_left_out() -> None:
    assert excerpt([Label("nowhere", Span(0, 1))], {}, 1, PLAIN) == []


@given(st.integers(0, 600), st.integers(0, 600), st.text(st.sampled_from("ab\t取\u0301 "), max_size=700))
def test_long_lines_are_cut_around_the_mark(start: int, size: int, text: str) -> None:
    start = min(start, len(text))
    lines = excerpt_of(text, (start, min(start + size, len(text)), "here", True)).splitlines()
    assert len(lines) == 4
    assert all(width(line) <= WIDE + 20 for line in lines)
    assert "^" in lines[3]


def test_a_long_line_shows_the_marked_part() -> None:
    text = excerpt_of("x" * 500 + "(bad)" + "y" * 500, (500, 505, "here", True))
    line, marks = text.splitlines()[2:]
    assert line[marks.index("^") :].startswith("(bad)")


NASTY = "\x1b[31m\x07\x9b2J\u202e\u2028\udc80\r\b"


@given(st.text(st.one_of(st.characters(), st.sampled_from(NASTY)), max_size=60))
def test_visible_text_has_no_controls(text: str) -> None:
    escaped = visible(text)
    assert len(escaped) == len(text)
    assert not any(c in escaped for c in map(chr, [*range(32), *range(0x7F, 0xA0), 0x202E, 0x2028, 0x2029]))
    escaped.encode()


@pytest.mark.parametrize("form", ["full", "concise"])
def test_untrusted_text_cannot_control_the_terminal(form: str) -> None:
    source = Source(f"plan{NASTY}.pddl", f"(go {NASTY})\n")
    diagnostic = Diagnostic("SC401", f"unknown {NASTY}", (Label(source.name, Span(1, 8), NASTY),), (NASTY,), NASTY)
    inputs = (Input("plan", source.name, "given", source), Input("domain", NASTY, NASTY, source))
    text = rendered(
        form, Result(source.name, make_unchecked_report(source.name, diagnostic), inputs, {source.name: source})
    )
    assert not any(ord(c) < 32 and c != "\n" for c in text)
    assert not any(c in text for c in "\x9b\u202e\u2028\udc80")


def test_json_fits_its_schema(unsafe: Result, invalid: Result, unread: Result, passing: Result) -> None:
    bug = Result("p", make_unchecked_report("p", Diagnostic("SC900", "internal error")), (), {}, "Traceback ..")
    documents = json_lines(rendered("json", unsafe, invalid, unread, passing, bug), "report-1")
    assert [document["exit_code"] for document in documents] == [1, 1, 2, 0, 4]


def test_json_is_valid_unicode_for_any_bytes() -> None:
    name = b"caf\xe9-\xf0\x9f\x8d\xb3".decode("utf-8", "surrogateescape")
    text = rendered("json", Result(name, make_unchecked_report(name, Diagnostic("SC601", f"no {name}")), (), {}))
    assert text.isascii()
    assert text.count("\n") == 1
    json.loads(text)["plan"].encode()
    assert json.loads(text)["plan"] == "caf?-🍳"


def test_json_of_a_passing_plan_is_cheap(passing: Result) -> None:
    view = renderer("json", Settings(), Style(False))
    report = json.loads(view.plan(passing))
    rendering = min(_seconds(lambda: view.plan(passing), 200) for _ in range(5))
    writing = min(_seconds(lambda: json.dumps(report), 200) for _ in range(5))
    assert rendering < 40 * writing


def _seconds(call: Callable[[], object], times: int) -> float:
    start = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - start) / times


def test_sarif_has_what_code_scanning_needs(unsafe: Result, invalid: Result, unread: Result) -> None:
    log = json.loads(rendered("sarif", unsafe, invalid, unread))
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"] == "safecheck"
    assert len(run["results"]) == 5
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note")
        assert result["message"]["text"]
        for place in (*result["locations"], *result.get("relatedLocations", ())):
            physical = place["physicalLocation"]
            assert physical["artifactLocation"]["uri"]
            region = physical["region"]
            assert region["startLine"] >= 1
            assert region.get("endLine", region["startLine"]) >= region["startLine"]
            assert region.get("startColumn", 1) >= 1
    for rule in rules:
        assert rule["shortDescription"]["text"].startswith(rule["id"])
        assert rule["help"]["markdown"]
