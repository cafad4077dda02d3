"""Test how a repair is applied to the text of a plan: comments and layout are kept."""

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
    numbers = {step for step, _ in new}
    edits += [Edit(EditKind.DELETE, n, 0, text, "") for n, text in enumerate(old, 1) if n not in numbers]
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


def repaired(text: str, new: list[tuple[int, str]], moved: tuple[int, ...] = ()) -> str:
    old = ["(" + " ".join(step.tokens) + ")" for step in read_plan(Source("p", text)).steps]
    return patched(Source("p", text), repair_of(old, new, frozenset(moved)))


def original(*numbers: int) -> list[tuple[int, str]]:
    return [(number, STEPS[number - 1]) for number in numbers]


def test_repair_without_edits_keeps_the_text() -> None:
    assert repaired(PLAN, original(1, 2, 3, 4)) == PLAN


def test_insertion_has_the_indentation_of_the_next_step() -> None:
    assert repaired(PLAN, [*original(1), (0, "(wash cup)"), *original(2, 3, 4)]) == PLAN.replace(
        "  (take cup)", "  (wash cup)\n  (take cup)"
    )


def test_insertion_at_the_beginning_follows_the_heading() -> None:
    assert repaired(PLAN, [(0, "(wake)"), *original(1, 2, 3, 4)]) == PLAN.replace("(Go", "(wake)\n(Go")


def test_insertion_at_the_end_follows_the_last_step() -> None:
    assert repaired(PLAN, [*original(1, 2, 3, 4), (0, "(rest)")]) == PLAN.replace("; the end", "(rest)\n; the end")


def test_deletion_removes_only_the_comment_of_the_step() -> None:
    assert repaired(PLAN, original(1, 2, 4)) == PLAN.replace("(fill\n   cup)  ; slowly\n", "")
    assert repaired(PLAN, original(1, 3, 4)) == PLAN.replace("  (take cup)\n", "")


def test_a_substituted_step_keeps_its_place_and_comment() -> None:
    new = [(1, "(go hall pantry)"), *original(2, 3, 4)]
    assert repaired(PLAN, new) == PLAN.replace("(Go hall kitchen)", "(go hall pantry)")


def test_moved_step_keeps_its_text() -> None:
    assert (
        repaired(PLAN, original(2, 3, 4, 1), (1,))
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
    assert repaired("(a) (b) (c)\n", [(1, "(a)"), (0, "(x)"), (2, "(b)")]) == "(a) (x) (b)\n"
    assert repaired("(a) (b) (c)\n", [(2, "(b)"), (3, "(c)"), (1, "(a)")], (1,)) == "(b) (c)\n(a)\n"


def test_plan_in_a_definition_stays_a_definition() -> None:
    text = "(define (plan p) (:domain d) ; mine\n  (:steps\n    (a) ; one\n    (b)))\n"
    assert repaired(text, [(1, "(a)"), (2, "(b)"), (0, "(c)")]) == text.replace("(b)", "(b)\n    (c)")
    assert repaired(text, [(0, "(c)"), (2, "(b)")]) == text.replace("(a) ; one", "(c)")
    assert repaired("(define (plan p) (:steps))", [(0, "(a)")]) == "(define (plan p) (:steps\n    (a)))"


def test_insertion_into_an_empty_plan_follows_its_comments() -> None:
    assert repaired("; nothing yet", [(0, "(a)"), (0, "(b)")]) == "; nothing yet\n(a)\n(b)\n"
    assert repaired("", [(0, "(a)")]) == "(a)\n"


def test_a_plan_without_a_last_line_end() -> None:
    assert repaired("(a)\n(b)", [(1, "(a)"), (2, "(b)"), (0, "(c)")]) == "(a)\n(b)\n(c)"
    assert repaired("(a) ; why", [(1, "(a)"), (0, "(c)")]) == "(a) ; why\n(c)"


def test_line_ends_of_the_plan_are_kept() -> None:
    assert repaired("(a)\r\n(b)\r\n", [(1, "(a)"), (0, "(c)"), (2, "(b)")]) == "(a)\r\n(c)\r\n(b)\r\n"


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
    fates = [draw(st.sampled_from(["keep", "keep", "delete", "replace", "move"])) for _ in range(size)]
    new = [(n, f"(s{n - 1} a)" if fates[n - 1] == "keep" else "(r b)") for n in range(1, size + 1)]
    new = [(n, step) for n, step in new if fates[n - 1] in ("keep", "replace")]
    moved = tuple(n for n in range(1, size + 1) if fates[n - 1] == "move")
    for n in moved:
        new.insert(draw(st.integers(0, len(new))), (n, f"(s{n - 1} a)"))
    for number in range(draw(st.integers(0, 3))):
        new.insert(draw(st.integers(0, len(new))), (0, f"(i{number} c)"))
    return text, new, moved


@given(plans_and_repairs())
def test_comments_survive_random_repairs(case: tuple[str, list[tuple[int, str]], tuple[int, ...]]) -> None:
    text, new, moved = case
    output = repaired(text, new, moved)
    parsed = read_plan(Source("p", output))
    assert not parsed.diagnostics
    assert [" ".join(step.tokens) for step in parsed.steps] == [step.strip("()") for _, step in new]
    assert output.count("; own") == text.count("; own")
    assert ("define" in output) == ("define" in text)
