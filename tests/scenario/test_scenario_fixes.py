"""The corrector on the cases of ``corrections.md``; the block ``expected.txt`` of a case has its corrections."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from case_files import read_cases, replace_block
from plansafe.app.render.scenario import difference
from plansafe.app.session.scenario_files import FoundScenario, ScenarioChoice, ScenarioFiles
from plansafe.grammar.source import Source
from plansafe.llm.scenarios.validation.corrections.view import nearest
from plansafe.llm.scenarios.validation.drafts import Draft, Edit, TextEdit, apply
from plansafe.llm.scenarios.validation.fix import fix
from plansafe.llm.scenarios.validation.model import PROFILES, Fixed, Limits, Scenario, Verdict

HERE = Path(__file__).parent
FILE = HERE / "corrections.md"
CASES = {case.name: case for case in read_cases(FILE)}
QUICK = PROFILES["executable"]


def correct_case(name: str) -> Fixed:
    with TemporaryDirectory() as folder:
        (scenario_files,) = ScenarioFiles(ScenarioChoice(base=str(HERE / "base.pddl"))).find(
            [str(CASES[name].write(Path(folder)))]
        )
    assert isinstance(scenario_files, FoundScenario)
    scenario = scenario_files.scenario._replace(problem=shorten_name(scenario_files.scenario.problem))
    if scenario.domain is not None:
        scenario = scenario._replace(domain=shorten_name(scenario.domain))
    return fix(scenario, QUICK, Limits(time_s=20))


def shorten_name(source: Source) -> Source:
    return Source(Path(source.name).name, source.text)


def format_corrections(fixed: Fixed) -> str:
    lines = []
    for correction in fixed.corrections:
        source = fixed.originals.get(correction.source)
        line, column = source.position(correction.span.start) if source is not None else (1, 1)
        lines.append(f"{correction.source}:{line}:{column} [{correction.rule}] {correction.reason}")
    lines += [f"left: {diagnostic.message}" for diagnostic in fixed.left]
    lines += [f"{correction.name}: {correction.verdict.value}" for correction in fixed.report.criteria]
    return "\n".join(lines) + "\n\n" + difference(fixed)


@pytest.mark.parametrize("name", CASES)
def test_a_scenario_gets_the_expected_corrections(name: str) -> None:
    fixed = correct_case(name)
    if os.environ.get("UPDATE_GOLDEN"):
        replace_block(FILE, name, "expected.txt", format_corrections(fixed))
    else:
        assert format_corrections(fixed) == CASES[name].text("expected.txt")
    second = fix(fixed.scenario, QUICK, Limits(time_s=20))
    assert second.corrections == ()
    assert second.scenario == fixed.scenario


def test_mistakes_without_correction_are_reported_with_a_reason() -> None:
    left = correct_case("hopeless").left
    assert left
    assert all([d.code == "SC774" and d.message.startswith("not corrected (SC") for d in left])
    assert any(["not clear" in d.message for d in left])


def test_corrections_that_do_not_terminate_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plansafe.llm.scenarios.validation.fix.MAX_ROUNDS", 1)
    texts = Scenario(
        "s", Source("p", "(define (problem p) (:domain d) (:goal (and)))"), Source("d", "(define (domain e)")
    )
    fixed = fix(texts, QUICK)
    assert fixed.corrections == ()
    assert fixed.scenario == texts
    assert any(["did not terminate" in d.message for d in fixed.left])


def test_places_refer_to_the_original_text() -> None:
    drafts = {"t": Draft(Source("t", "(a b c)"))}
    first = apply(
        drafts, [Edit("r", "", (TextEdit("t", drafts["t"].span(drafts["t"].top or [], 0)._replace(end=1), "(("),))]
    )
    assert drafts["t"].text == "((a b c)"
    at = drafts["t"].text.index("c")
    span = drafts["t"].places.source.text.index("c")
    assert at == span
    from plansafe.grammar.diagnostics import Span

    second = apply(drafts, [Edit("r", "", (TextEdit("t", Span(at, at + 1), "d"),))])
    assert (first[0].span, second[0].span) == (Span(0, 1), Span(5, 6))
    assert drafts["t"].text == "((a b d)"


def test_an_edit_is_applied_completely_or_not_at_all() -> None:
    from plansafe.grammar.diagnostics import Span

    drafts = {"t": Draft(Source("t", "abcdef"))}
    applicable = Edit("r", "", (TextEdit("t", Span(0, 2), "x"), TextEdit("t", Span(4, 5), "y")))
    overlapping = Edit("r", "", (TextEdit("t", Span(2, 3), "z"), TextEdit("t", Span(1, 2), "w")))
    assert len(apply(drafts, [applicable, overlapping])) == 1
    assert drafts["t"].text == "xcdyf"


@pytest.mark.parametrize(
    ("name", "candidates", "expected"),
    [
        ("on_top", ["ontop", "under"], "ontop"),
        ("is-open", ["open", "opens"], "open"),
        ("holdng", ["holding", "folding"], "holding"),
        ("cup_1", ["cup_2", "cup_3"], None),
        ("cpu_1", ["cup_1", "cup_2"], "cup_1"),
        ("inside", ["outside", "beside"], None),
        ("hot", ["hat"], None),
        ("cooked", ["soaked", "locked"], None),
        ("x" * 100, ["x" * 99], None),
    ],
)
def test_the_nearest_name_is_chosen_only_if_it_is_clear(name: str, candidates: list[str], expected: str | None) -> None:
    assert nearest(name, candidates) == expected


def test_corrections_report_what_they_replace() -> None:
    fixed = correct_case("names")
    assert {(c.rule, c.before, c.after) for c in fixed.corrections} >= {
        ("near-name", "is_cooked", "cooked"),
        ("near-name", "sandwhich_1", "sandwich_1"),
    }
    assert fixed.report.criterion("declared").verdict is Verdict.YES  # type: ignore[union-attr]
