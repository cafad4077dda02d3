"""ACPBench-Hard: answers, their replay by the kernel, and the evaluation by the benchmark's definitions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from bench.field.acpbench.answers import NONE, Answer, answer_record
from bench.field.acpbench.evaluator import evaluate
from bench.field.acpbench.reasons import (
    ChangeClaim,
    Claim,
    KernelReplay,
    LegalClaim,
    NeverClaim,
    NeverStepClaim,
    PlanClaim,
)
from bench.field.acpbench.records import GROUPS, Record, make_record, read_records

DOMAIN = """(define (domain cellar) (:requirements :typing :equality)
  (:types room box)
  (:predicates (in ?b - box ?r - room) (robot-in ?r - room) (HELD ?b - box) (empty) (door ?a ?b - room))
  (:action MOVE :parameters (?from ?to - room) :precondition (and (robot-in ?from) (door ?from ?to))
    :effect (and (robot-in ?to) (not (robot-in ?from))))
  (:action lift-box :parameters (?b - box ?r - room) :precondition (and (robot-in ?r) (in ?b ?r) (empty))
    :effect (and (HELD ?b) (not (in ?b ?r)) (not (empty))))
  (:action drop-box :parameters (?b - box ?r - room) :precondition (and (robot-in ?r) (HELD ?b))
    :effect (and (in ?b ?r) (empty) (not (HELD ?b))))
  (:action exchange :parameters (?b ?c - box ?r - room)
    :precondition (and (robot-in ?r) (HELD ?b) (in ?c ?r))
    :effect (and (HELD ?c) (in ?b ?r) (not (HELD ?b)) (not (in ?c ?r)))))"""
PROBLEM = """(define (problem p) (:domain cellar) (:objects hall cellar attic - room red blue - box)
  (:init (robot-in hall) (in red hall) (in blue cellar) (empty) (door hall cellar) (door cellar hall)
    (door hall attic))
  (:goal (and (in red cellar) (in blue hall))))"""


def make_cellar_record(task: str, question: str = "", stored: Any = None, problem: str = PROBLEM) -> Record:
    texts = {"context": "", "question": question, "PDDL_domain": DOMAIN, "PDDL_problem": problem}
    return make_record({"id": 1, "group": GROUPS[task], "answer": stored, **texts})


ANSWERED = [
    ("app", "", ["(MOVE hall cellar)", "(MOVE hall attic)", "(lift-box red hall)"]),
    ("prog", 'the action "lift the box red in hall" ..', {"pos": ["(HELD red)"], "neg": ["(in red hall)", "(empty)"]}),
    ("prog", 'the action "go from hall to cellar" ..', {"pos": ["(robot-in cellar)"], "neg": ["(robot-in hall)"]}),
    ("val", 'In "(move hall attic) (MOVE attic hall)"?', 1),
    ("val", 'In "(move hall attic) (fly attic hall)"?', 1),
    ("val", 'In "(move hall cellar) (move cellar hall)"?', -1),
    ("nexta", "", {"yes": ["(lift-box red hall)"], "no": [], "maybe": [], "opt": "7"}),
    ("land", "", {"yes": ["(HELD red)", "(HELD blue)", "(robot-in cellar)"], "no": []}),
    ("reach", "", []),
    ("areach", "", ["(exchange blue blue attic)"]),
]


@pytest.mark.parametrize(("task", "question", "stored"), ANSWERED)
def test_each_kind_of_question_is_answered_with_a_reason(task: str, question: str, stored: Any) -> None:
    record = make_cellar_record(task, question, stored)
    answer = answer_record(record)
    evaluation = evaluate(record, answer)
    assert evaluation.is_right, answer
    assert evaluation.replayed, answer


def test_a_plan_is_simplified_by_a_pair_of_steps() -> None:
    needless = "(MOVE hall cellar) (MOVE cellar hall)"
    needed = "(lift-box red hall) (MOVE hall cellar) (exchange red blue cellar) (MOVE cellar hall) (drop-box blue hall)"
    record = make_cellar_record("just", f'Simplify the plan "{needless} {needed}" by ..')
    answer = answer_record(record)
    assert " ".join(answer.value) == needed
    assert evaluate(record, answer).is_right
    unsimplified = answer._replace(value=record.quoted_steps)
    shortened = answer._replace(value=answer.value[1:])
    assert not evaluate(record, unsimplified).is_right
    assert not evaluate(record, shortened).is_right


def test_the_answer_none_has_a_plan_for_each_candidate() -> None:
    problem = PROBLEM.replace("(door hall attic)", "(door hall attic) (door attic hall)")
    record = make_cellar_record("reach", stored=[], problem=problem)
    record = record._replace(context="The available propositions are: (in ?b ?r) - ?b is in ?r and (HELD ?b) - held.")
    answer = answer_record(record)
    assert answer.value == NONE
    assert sorted([claim.reached[0] for claim in answer.claims if isinstance(claim, PlanClaim)]) == sorted(
        [f"(in {box} {room})" for box in ("red", "blue") for room in ("hall", "cellar", "attic")]
        + ["(held red)", "(held blue)"]
    )
    assert evaluate(record, answer).is_right


def test_a_fact_that_is_never_true_is_found() -> None:
    record = make_cellar_record("reach", stored=["door attic attic"])
    answer = answer_record(
        record._replace(context="The available propositions are: (DOOR ?a ?b) - a door, and (empty) - .")
    )
    assert answer.value == "(door hall hall)"
    assert evaluate(record, answer).is_right


def test_a_list_with_an_unknown_predicate_leaves_out_no_fact() -> None:
    record = make_cellar_record("reach", stored=[])
    answer = answer_record(record._replace(context="The available propositions are: (inside ?b ?r) - ?b is in ?r"))
    assert answer.reason == "a plan reaches each of 12 facts"


@pytest.mark.parametrize("task", ["reach", "land", "nexta"])
def test_an_undecided_question_is_unknown(task: str) -> None:
    stored: Any = [] if task == "reach" else {"yes": [], "no": [], "maybe": [], "opt": "7"}
    record = make_cellar_record(task, stored=stored)
    if task == "reach":
        record = record._replace(context="The available propositions are: (in ?b ?r) - ?b is in ?r.")
    answer = answer_record(record, time_limit_s=0)
    assert answer.value is None
    assert not evaluate(record, answer).is_right


def test_a_description_that_fits_two_different_steps_is_unknown() -> None:
    assert answer_record(make_cellar_record("prog", 'the action "go somewhere" ..')).value is None


@pytest.mark.parametrize(
    "claim",
    [
        PlanClaim(("(move hall cellar)",), reached=("(robot-in hall)",)),
        PlanClaim(("(move hall attic)", "(move attic hall)")),
        PlanClaim(("(move hall cellar)",), avoided=("(robot-in hall)",)),
        PlanClaim(("(move hall cellar)",), next_step="(lift-box red cellar)"),
        PlanClaim(("(move hall cellar)",), failing_step="(lift-box blue cellar)"),
        PlanClaim(("(move hall cellar)",), is_goal=True),
        NeverClaim(("(held red)",)),
        NeverClaim(("(in red cellar)", "(in blue hall)"), without="(robot-in attic)"),
        NeverStepClaim("(exchange red blue cellar)"),
        LegalClaim(("(move hall cellar)",)),
        ChangeClaim("(move hall cellar)", ("(robot-in cellar)",), ()),
    ],
)
def test_the_kernel_refutes_wrong_claims(claim: Claim) -> None:
    assert KernelReplay(make_cellar_record("app")).check(claim) is False


def test_pairs_of_facts_and_all_states_prove_the_same() -> None:
    replay = KernelReplay(make_cellar_record("app"))
    held_facts = [("held", "red"), ("held", "blue")]
    assert replay.is_excluded_by_pairs(held_facts)
    assert replay.visit_all_states(lambda state: all([fact in state.facts for fact in held_facts]))
    without = ("robot-in", "cellar")
    assert replay.is_excluded_by_pairs([("held", "blue")], without)
    assert replay.visit_all_states(lambda state: ("held", "blue") in state.facts, without)


def test_wrong_answers_are_not_right() -> None:
    wrong: list[tuple[str, Any, Any]] = [
        ("app", ["(MOVE hall cellar)"], ["(MOVE hall cellar)", "(MOVE hall attic)"]),
        ("prog", {"pos": ["(HELD red)"], "neg": []}, {"pos": ["(held red)"], "neg": ["(empty)"]}),
        ("reach", NONE, ["door attic attic"]),
        ("reach", "(in red attic)", ["door attic attic"]),
        ("areach", "(lift-box red attic)", ["(exchange blue blue attic)"]),
        ("val", 2, 1),
        ("val", NONE, 1),
        ("land", "(robot-in attic)", {"yes": ["(held red)"], "no": []}),
        ("nexta", "(MOVE hall attic)", {"yes": ["(lift-box red hall)"], "no": [], "maybe": [], "opt": "7"}),
    ]
    for task, value, stored in wrong:
        assert not evaluate(make_cellar_record(task, stored=stored), Answer(value, "")).is_right, task
    unreachable = Answer("(in red attic)", "", (NeverClaim(("(in red attic)",)),))
    assert not evaluate(make_cellar_record("reach", stored=[]), unreachable).is_right


# ---- the public records ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def records(data: Path) -> list[Record]:
    if not (data / "acpbench").is_dir():
        pytest.skip("the data set acpbench is missing")
    return list(read_records(data / "acpbench"))


@pytest.mark.parametrize("task", GROUPS)
def test_records_of_each_task_are_answered_right(records: list[Record], task: str) -> None:
    for record in [record for record in records if record.task == task][::14]:
        evaluation = evaluate(record, answer_record(record))
        assert evaluation.is_right, record.name
        assert evaluation.replayed, record.name


@pytest.mark.slow
@pytest.mark.parametrize("task", GROUPS)
def test_all_records_are_answered_right(records: list[Record], task: str) -> None:
    results = [(record, answer_record(record, 600)) for record in records if record.task == task]
    evaluations = [(record, evaluate(record, answer)) for record, answer in results]
    assert [record.name for record, evaluation in evaluations if not evaluation.is_right] == []
    assert [record.name for record, evaluation in evaluations if not evaluation.replayed] == []
    assert len(evaluations) == 40


def test_answers_are_written_with_their_reasons(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from bench.field.acpbench.__main__ import main

    record = {"id": 7, "group": GROUPS["nexta"], "context": "", "question": "", "PDDL_domain": DOMAIN}
    path, answers = tmp_path / "records.json", tmp_path / "answers.jsonl"
    path.write_text(json.dumps([{**record, "PDDL_problem": PROBLEM}, {**record, "PDDL_problem": "(define"}]))
    assert main(["--records", str(path), "--answers", str(answers)]) == 1
    first, second = [json.loads(line) for line in answers.read_text().splitlines()]
    assert (first["answer"], first["replayed"]) == ("(lift-box red hall)", True)
    assert first["claims"][0]["kind"] == "PlanClaim"
    assert second["answer"] is None
    assert "| nexta | 2 |" in capsys.readouterr().out
