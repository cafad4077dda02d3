"""Test rendered repairs and diagnoses: golden files, the schema, sentences about positions."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction

import pytest
from format_checks import json_lines

from plansafe.app.render.difference import cost_text, lines, sentence
from plansafe.app.render.repair import RepairRenderer
from plansafe.app.render.repair_json import RepairJsonRenderer
from plansafe.app.session.diagnosis import Because, Examined
from plansafe.app.session.model import Result, Settings
from plansafe.app.system.terminal_text import Style
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.verifier.diagnose.localise import Localisation
from plansafe.verifier.diagnose.minimal_cause import Cause
from plansafe.verifier.diagnose.model import ErrorClass, Witness
from plansafe.verifier.repair.model import Edit, EditKind, Repair, RepairResult, RepairStatus
from plansafe.verifier.reporting.report import Headline, Report, Worlds

Golden = Callable[[str, str], None]
SAFE = Report("plan.pddl", Headline.SAFE, Worlds.ALL, Worlds.ALL, Worlds.ALL, 11)
ORIGINAL = tuple(f"(step-{n} robot)" for n in range(1, 12))


def original(*numbers: int) -> list[tuple[int, str]]:
    return [(n, ORIGINAL[n - 1]) for n in numbers]


def make_repair(new: list[tuple[int, str]], *edits: Edit, cost: int | Fraction = 1) -> Repair:
    return Repair(tuple([s for _, s in new]), tuple([n for n, _ in new]), edits, cost, SAFE)


INSERTION = make_repair(
    [*original(*range(1, 6)), (0, "(turn-off robot stove)"), *original(*range(6, 12))],
    Edit(EditKind.INSERT, 0, 6, "", "(turn-off robot stove)", "keeps rule `stove-attended` at step 6", 4, 6),
)
DELETION = make_repair(
    original(*range(1, 4), *range(5, 12)),
    Edit(EditKind.DELETE, 4, 0, ORIGINAL[3], "", "threatens `(clean cup)`, for step 7"),
)
MIXED = make_repair(
    [
        (3, ORIGINAL[2]),
        *original(1, 2),
        *original(4, 5),
        (6, "(fill robot pan)"),
        *original(7),
        *original(9, 10, 11),
        (0, "(rest)"),
    ],
    Edit(EditKind.MOVE, 3, 1, ORIGINAL[2], ORIGINAL[2], "gives `(open fridge)` to step 1"),
    Edit(EditKind.SUBSTITUTE, 6, 6, ORIGINAL[5], "(fill robot pan)", "gives `(full pan)` to the goal"),
    Edit(EditKind.DELETE, 8, 0, ORIGINAL[7], "", "is not needed"),
    Edit(EditKind.INSERT, 0, 11, "", "(rest)"),
    cost=Fraction(9, 2),
)
WITNESSES = (
    Witness(ErrorClass.MISSING, (), "`(turn-off robot stove)`, which rule `stove-attended` needs", "stove-attended"),
    Witness(ErrorClass.ADDITIONAL, (4,), "step 4, `(step-4 robot)`, deletes `(clean cup)`, which step 7 needs"),
    Witness(ErrorClass.ADDITIONAL, (8,), "step 8, `(step-8 robot)`, supports nothing"),
    Witness(ErrorClass.PROCESS_HAZARD, (6,), "rule `stove-attended`, at step 6", "stove-attended"),
    Witness(ErrorClass.COMPOUND, (3, 6, 8), "1 move, 1 substitution", None, (("move", 1), ("substitute", 1))),
)
CAUSES = (
    Because(0, "step 5 is enough, and no smaller set is", Cause((5,), ("(in stove kitchen)",), True, "")),
    Because(1, "no cause is known: the rule is undecided"),
)
WHERE = Localisation(11, 6, None, 12, (5, 5), (0, 2, None, 0, 1, *[None] * 6), 3, 5, ("kairos",))
VAGUE = Localisation(11, None, 2, None, (-1, 1), None, 2, 0, ("kairos",), "kairos: out of time")
HOPELESS = Localisation(11, 0, None, 1, (-1, -1), (None,) * 11)
TIED = RepairResult(RepairStatus.FOUND, (INSERTION, DELETION, *[INSERTION] * 4), 1, True, True, "", 1234)
BEYOND = RepairResult(RepairStatus.FOUND, (MIXED,), 2, False, False, "the time limit of 30 s has passed", 99)
NONE = RepairResult(RepairStatus.PROVED_NONE, (), 0, True, True, "the search was complete", 7)
GIVEN_UP = RepairResult(RepairStatus.NOT_FOUND, (), Fraction(3, 2), False, False, "beyond --max-cost", 7)
IMPOSSIBLE = Diagnostic("SC802", "PROVED: no plan reaches the goal and keeps the rules", notes=("complete",), help="..")
UNFOUND = Diagnostic("SC801", "no repair was found within the limits; none costs less than 3/2")


@pytest.fixture
def examined(unsafe: Result, invalid: Result, passing: Result, unread: Result) -> list[Examined]:
    safe = RepairResult(RepairStatus.ALREADY_SAFE, (), 0, True, True)
    return [
        Examined(unsafe, ORIGINAL, TIED, WITNESSES, "; text\n", where=WHERE, causes=CAUSES),
        Examined(invalid, ORIGINAL, BEYOND, WITNESSES[:1], "(step)\n", where=VAGUE),
        Examined(unsafe, ORIGINAL, NONE, (Witness(ErrorClass.UNSAFE_GOAL, (), "a plan exists"),), outcome=IMPOSSIBLE),
        Examined(unsafe, ORIGINAL, GIVEN_UP, outcome=UNFOUND, where=HOPELESS),
        Examined(passing, ORIGINAL, safe, text="(a)\n"),
        Examined(unread),
    ]


def test_golden_repairs(golden: Golden, examined: list[Examined]) -> None:
    view = RepairRenderer(Style(False), changes=True)
    golden("repair.txt", "".join([view.plan(e, "fixed.plan" if e.text else None) for e in examined]))


def test_golden_all_repairs_in_colour(golden: Golden, examined: list[Examined]) -> None:
    two = examined[0]._replace(repair=TIED._replace(repairs=(INSERTION, MIXED)))
    golden("repair-all-color.txt", RepairRenderer(Style(True), changes=True, show_all=True).plan(two))


def test_golden_diagnoses(golden: Golden, examined: list[Examined]) -> None:
    view = RepairRenderer(Style(False), changes=False)
    golden("diagnose.txt", "".join([view.plan(e) for e in examined]))


def test_golden_json_and_its_schema(golden: Golden, examined: list[Examined]) -> None:
    view = RepairJsonRenderer(Settings(), "1.0")
    text = "".join([view.plan(e, "fixed.plan" if e.text else None) for e in examined])
    assert len(json_lines(text, "repair-1")) == len(examined)
    golden("repair-json.txt", text)


def test_exit_codes(examined: list[Examined]) -> None:
    assert [e.exit_code for e in examined] == [0, 0, 1, 3, 0, 2]


def test_steps_of_both_plans_are_listed_once_and_in_order() -> None:
    for repair in (INSERTION, DELETION, MIXED):
        rows = lines(ORIGINAL, repair)
        assert [row.new for row in rows if row.new] == list(range(1, len(repair.steps) + 1))
        assert sorted(row.old for row in rows if row.old and row.mark != ">") == list(range(1, 12))
        assert [row.text for row in rows if row.new] == list(repair.steps)


def test_sentences() -> None:
    assert sentence(ORIGINAL, INSERTION) == "insert (turn-off robot stove) before step 6"
    assert sentence(ORIGINAL, DELETION) == "delete step 4, (step-4 robot)"
    assert sentence(ORIGINAL, MIXED) == (
        "move step 3, (step-3 robot), before step 1; replace step 6 by (fill robot pan); "
        "delete step 8, (step-8 robot); insert (rest) after step 11"
    )
    assert sentence((), make_repair([(0, "(rest)")], Edit(EditKind.INSERT, 0, 1, "", "(rest)"))) == (
        "insert (rest) into the empty plan"
    )


@pytest.mark.parametrize(
    ("earliest", "latest", "range_text"),
    [
        (0, 0, None),
        (6, 6, None),
        (4, 6, "between step 3 and step 6"),
        (1, 6, "before step 6"),
        (6, 12, "after step 5"),
        (1, 12, "in the plan"),
    ],
)
def test_ranges_of_positions(earliest: int, latest: int, range_text: str | None) -> None:
    repair = INSERTION._replace(edits=(INSERTION.edits[0]._replace(reason="", earliest=earliest, latest=latest),))
    remarks = [remark for row in lines(ORIGINAL, repair) for remark in row.remarks]
    assert remarks == ([] if range_text is None else [f"it may stand anywhere {range_text}"])


def test_costs() -> None:
    assert [cost_text(n) for n in (2, Fraction(1, 2), Fraction(1, 3))] == ["2", "0.5", "0.333333"]


NASTY = "\x1b[31m\x07\x9b2J\u202e\udc80"


def test_untrusted_text_cannot_control_the_terminal(unsafe: Result) -> None:
    edit = Edit(EditKind.INSERT, 0, 1, "", NASTY, NASTY, 1, 1)
    repair = Repair((NASTY,), (0,), (edit,), 1, SAFE)
    repairs = RepairResult(RepairStatus.FOUND, (repair, repair), 1, True, True)
    outcome = Diagnostic("SC801", NASTY, notes=(NASTY,))
    examined = Examined(unsafe, (), repairs, (Witness(ErrorClass.MISSING, (), NASTY),), NASTY, outcome)
    for changes in (True, False):
        text = RepairRenderer(Style(False), changes).plan(examined, NASTY)
        assert not any(ord(c) < 32 and c != "\n" for c in text)
        assert not any(c in text for c in "\x9b\u202e\udc80")
    line = RepairJsonRenderer(Settings(), "1.0").plan(examined, NASTY)
    assert line.isascii()
    json.loads(line)["text"].encode()
