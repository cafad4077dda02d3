"""A repair applied to the text of a plan: the steps are those of the repair, the rest is the author's."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from plansafe.app.session.plan_patch import patched
from plansafe.grammar.plan_text import read_plan
from plansafe.grammar.source import Source
from plansafe.verifier.repair.model import Edit, EditKind, Repair
from plansafe.verifier.reporting.report import Headline, Report, Worlds

SAFE = Report("plan", Headline.SAFE, Worlds.ALL, Worlds.ALL, Worlds.ALL, 0)


def repair_of(old: list[str], new: list[tuple[int, str]], moved: frozenset[int] = frozenset()) -> Repair:
    """A repair with the steps ``new``: the original step each comes from (0: none), and its text."""
    edits = []
    for position, (step, text) in enumerate(new, 1):
        if not step:
            edits.append(Edit(EditKind.INSERT, 0, position, "", text))
        elif step in moved:
            edits.append(Edit(EditKind.MOVE, step, position, text, text))
        elif text != old[step - 1]:
            edits.append(Edit(EditKind.SUBSTITUTE, step, position, old[step - 1], text))
    kept = {step for step, _ in new}
    edits += [Edit(EditKind.DELETE, n, 0, text, "") for n, text in enumerate(old, 1) if n not in kept]
    return Repair(tuple(t for _, t in new), tuple(s for s, _ in new), tuple(edits), len(edits), SAFE)


PLAN = """; the morning; domain: d.pddl
(Go hall kitchen)   ; to the kitchen

; tea
  (take cup)
(fill
   cup)  ; slowly
(go kitchen hall)
; the end
"""
STEPS = ["(go hall kitchen)", "(take cup)", "(fill cup)", "(go kitchen hall)"]


def fixed(text: str, new: list[tuple[int, str]], moved: tuple[int, ...] = ()) -> str:
    old = ["(" + " ".join(step.tokens) + ")" for step in read_plan(Source("p", text)).steps]
    return patched(Source("p", text), repair_of(old, new, frozenset(moved)))


def kept(*numbers: int) -> list[tuple[int, str]]:
    return [(number, STEPS[number - 1]) for number in numbers]


def test_nothing_changes_where_nothing_is_edited() -> None:
    assert fixed(PLAN, kept(1, 2, 3, 4)) == PLAN


def test_an_insertion_takes_the_indentation_of_the_step_behind_it() -> None:
    assert fixed(PLAN, [*kept(1), (0, "(wash cup)"), *kept(2, 3, 4)]) == PLAN.replace(
        "  (take cup)", "  (wash cup)\n  (take cup)"
    )


def test_an_insertion_at_the_beginning_leaves_the_heading_alone() -> None:
    assert fixed(PLAN, [(0, "(wake)"), *kept(1, 2, 3, 4)]) == PLAN.replace("(Go", "(wake)\n(Go")


def test_an_insertion_at_the_end_stands_behind_the_last_step() -> None:
    assert fixed(PLAN, [*kept(1, 2, 3, 4), (0, "(rest)")]) == PLAN.replace("; the end", "(rest)\n; the end")


def test_a_deleted_step_takes_its_own_comment_with_it_and_no_other() -> None:
    assert fixed(PLAN, kept(1, 2, 4)) == PLAN.replace("(fill\n   cup)  ; slowly\n", "")
    assert fixed(PLAN, kept(1, 3, 4)) == PLAN.replace("  (take cup)\n", "")


def test_a_substituted_step_keeps_its_place_and_comment() -> None:
    new = [(1, "(go hall pantry)"), *kept(2, 3, 4)]
    assert fixed(PLAN, new) == PLAN.replace("(Go hall kitchen)", "(go hall pantry)")


def test_a_moved_step_is_moved_as_it_is_written() -> None:
    assert (
        fixed(PLAN, kept(2, 3, 4, 1), (1,))
        == """; the morning; domain: d.pddl

; tea
  (take cup)
(fill
   cup)  ; slowly
(go kitchen hall)
(Go hall kitchen)   ; to the kitchen
; the end
"""
    )


def test_steps_that_share_a_line() -> None:
    assert fixed("(a) (b) (c)\n", [(1, "(a)"), (0, "(x)"), (2, "(b)")]) == "(a) (x) (b)\n"
    assert fixed("(a) (b) (c)\n", [(2, "(b)"), (3, "(c)"), (1, "(a)")], (1,)) == "(b) (c)\n(a)\n"


def test_a_plan_in_a_definition_stays_one() -> None:
    text = "(define (plan p) (:domain d) ; mine\n  (:steps\n    (a) ; one\n    (b)))\n"
    assert fixed(text, [(1, "(a)"), (2, "(b)"), (0, "(c)")]) == text.replace("(b)", "(b)\n    (c)")
    assert fixed(text, [(0, "(c)"), (2, "(b)")]) == text.replace("(a) ; one", "(c)")
    assert fixed("(define (plan p) (:steps))", [(0, "(a)")]) == "(define (plan p) (:steps\n    (a)))"


def test_an_empty_plan_is_filled_below_its_comments() -> None:
    assert fixed("; nothing yet", [(0, "(a)"), (0, "(b)")]) == "; nothing yet\n(a)\n(b)\n"
    assert fixed("", [(0, "(a)")]) == "(a)\n"


def test_a_plan_without_a_last_line_end() -> None:
    assert fixed("(a)\n(b)", [(1, "(a)"), (2, "(b)"), (0, "(c)")]) == "(a)\n(b)\n(c)"
    assert fixed("(a) ; why", [(1, "(a)"), (0, "(c)")]) == "(a) ; why\n(c)"


def test_line_ends_stay_those_of_the_plan() -> None:
    assert fixed("(a)\r\n(b)\r\n", [(1, "(a)"), (0, "(c)"), (2, "(b)")]) == "(a)\r\n(c)\r\n(b)\r\n"


PIECES = st.sampled_from(["\n", " ", "\n  ", " ; c\n", "\n; own\n", "\n\n; own\n\n ", "\r\n", ""])


@st.composite
def plans_and_repairs(draw: st.DrawFn) -> tuple[str, list[tuple[int, str]], tuple[int, ...]]:
    size = draw(st.integers(0, 5))
    text = draw(st.sampled_from(["", "; own\n", " "]))
    wrapped = draw(st.booleans())
    if wrapped:
        text += "(define (plan p)\n (:steps" + draw(st.sampled_from([" ", "\n  "]))
    for number in range(size):
        text += draw(st.sampled_from([f"(s{number} a)", f"( S{number}\n a )"])) + draw(PIECES)
    if wrapped:
        text += "))\n"
    fate = [draw(st.sampled_from(["keep", "keep", "delete", "replace", "move"])) for _ in range(size)]
    new = [(n, f"(s{n - 1} a)" if fate[n - 1] == "keep" else "(r b)") for n in range(1, size + 1)]
    new = [(n, step) for n, step in new if fate[n - 1] in ("keep", "replace")]
    moved = tuple(n for n in range(1, size + 1) if fate[n - 1] == "move")
    for n in moved:
        new.insert(draw(st.integers(0, len(new))), (n, f"(s{n - 1} a)"))
    for number in range(draw(st.integers(0, 3))):
        new.insert(draw(st.integers(0, len(new))), (0, f"(i{number} c)"))
    return text, new, moved


@given(plans_and_repairs())
def test_every_layout_survives_every_repair(case: tuple[str, list[tuple[int, str]], tuple[int, ...]]) -> None:
    text, new, moved = case
    out = fixed(text, new, moved)
    read = read_plan(Source("p", out))
    assert not read.diagnostics
    assert [" ".join(step.tokens) for step in read.steps] == [step.strip("()") for _, step in new]
    assert out.count("; own") == text.count("; own")
    assert ("define" in out) == ("define" in text)
