"""Printed tasks are equivalent to the original: they have the same legal steps and the same goal states."""

from __future__ import annotations

import subprocess
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from case import plan_text
from generate import case

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import GroundAction, step_text
from plansafe.verifier.planning.kairos import find_executable
from plansafe.verifier.planning.pddl_names import PddlNames, Unprintable, decimal_text
from plansafe.verifier.planning.printing import PrintedTask, print_task
from quick import quick_every

STREAMS = ("pddl3", "past", "mixed")
SEED = 77
CASES = 30
STEPS = 12


def checker_of(domain: str, problem: str) -> Checker:
    return Checker(Source("domain", domain), Source("problem", problem))


def printed_at(simulation: Execution) -> PrintedTask:
    return print_task(simulation.task, simulation.state.facts, simulation.state.fluents)


def walk(checker: Checker, start: Execution, printed: PrintedTask, random: Random) -> int:
    """Simulate the task and its printed copy in parallel; return the number of compared steps."""
    copy = Execution(checker_of(printed.domain, printed.problem).engine)  # type: ignore[arg-type]
    objects = start.task.objects
    for number in range(STEPS):
        assert start.engine.evaluate_goal(start.state) == copy.engine.evaluate_goal(copy.state)
        legal_steps = {step_text(step, objects): step for step in start.legal()}
        read = {}
        for step in copy.legal():
            tokens = (step.action.name, *[copy.task.objects[o] for o in step.objects])
            read["(" + " ".join(printed.restore_names(tokens)) + ")"] = step
        assert legal_steps.keys() == read.keys()
        if not legal_steps:
            return number
        chosen = random.choice(sorted(legal_steps))
        assert start.take(legal_steps[chosen])
        assert copy.take(read[chosen])
    return STEPS


@pytest.mark.parametrize("stream", quick_every(3, STREAMS))
def test_printed_random_tasks_are_equivalent(stream: str) -> None:
    compared = 0
    for number in range(CASES):
        task_case = case(stream, SEED, number, rules=0, plans=1)
        checker = checker_of(task_case.domain_text(), task_case.problem_text())
        simulation = Execution(checker.engine)
        for line in plan_text(task_case.plans[0]).splitlines()[: number % 5]:
            step = checker.engine.resolver.resolve_step(tuple(line.strip("()").split()))
            if isinstance(step, GroundAction):
                simulation.take(step)
        compared += walk(checker, simulation, printed_at(simulation), Random(number))
    assert compared > CASES


TYPES = """(define (domain d)
  (:types a b - object c - (either a b) d - b)
  (:constants k - c)
  (:predicates (p ?x - a) (q ?x - b) (r ?x - (either c d)) (at ?x - object) (define ?x - object))
  (:action p :parameters (?x - a) :precondition (and (p ?x) (not (= ?x k))) :effect (not (p ?x)))
  (:action q :parameters (?x - b) :precondition (forall (?y - a) (or (not (p ?y)) (q ?x))) :effect (at ?x))
  (:action r :parameters (?x - (either c d)) :precondition (exists (?y - c) (at ?y)) :effect (r ?x))
  (:action define :parameters (?object - object) :effect (when (at ?object) (define ?object))))"""
OBJECTS = """(define (problem p) (:domain d)
  (:objects x - a y - b z - d x.y x_y - (either a b))
  (:init (p x) (p k) (q z)) (:goal (forall (?x - (either c d)) (r ?x))))"""


def test_overlapping_types_name_clashes_and_keywords_are_printed() -> None:
    checker = checker_of(TYPES, OBJECTS)
    simulation = Execution(checker.engine)
    printed = printed_at(simulation)
    names = [*printed.original_actions, *printed.original_objects]
    assert len(set(names)) == len(names)
    assert set(printed.original_objects.values()) == {"x", "y", "z", "k", "x.y", "x_y"}
    assert "either" not in printed.domain
    assert walk(checker, simulation, printed, Random(3)) == STEPS


@pytest.mark.parametrize("stream", STREAMS)
def test_kairos_reads_the_printed_task(stream: str, tmp_path: Path) -> None:
    program = find_executable()
    assert program is not None
    for number in range(5):
        task_case = case(stream, SEED, number, rules=0, plans=0)
        checker = checker_of(task_case.domain_text(), task_case.problem_text())
        printed = printed_at(Execution(checker.engine))
        for name, text in (("d", printed.domain), ("p", printed.problem)):
            (tmp_path / name).write_text(text)
        command = [program, "check", str(tmp_path / "d"), str(tmp_path / "p")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr + printed.domain


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (-12, "-12"),
        (Fraction(6, 2), "3"),
        (Fraction(1, 8), "0.125"),
        (Fraction(-7, 20), "-0.35"),
        (Fraction(1, 5**3), "0.008"),
        (Fraction(10**20 + 1, 2), "50000000000000000000.5"),
    ],
)
def test_decimals_are_exact(value: int | Fraction, text: str) -> None:
    assert decimal_text(value) == text
    assert Fraction(text) == value


def test_a_task_without_pddl_text_is_refused() -> None:
    with pytest.raises(Unprintable, match="1/3"):
        decimal_text(Fraction(1, 3))
    durative = """(define (domain d) (:predicates (p)) (:durative-action a :parameters () :duration (= ?duration 1)
      :effect (at end (p))))"""
    checker = checker_of(durative, "(define (problem p) (:domain d) (:goal (p)))")
    state = checker.engine.make_initial_state()
    with pytest.raises(Unprintable, match="durative"):
        print_task(checker.engine.task, state.facts, state.fluents)


def test_printed_names_are_plain_and_unique() -> None:
    names = PddlNames()
    task_case = [names.make_unique(name) for name in ("a", "A", "a.b", "a_b", "ä", "1", "object", "and")]
    assert len(set(task_case)) == len(task_case)
    assert all(name.isascii() and name[0].isalpha() for name in task_case)
    assert not {"object", "and"} & set(task_case)
