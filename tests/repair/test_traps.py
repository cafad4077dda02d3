"""Repairs that satisfy the specification in an unintended way (traps): the first repair is none of them.

In the small domains all repairs of least cost are enumerated, so each test also shows that its trap is real: the
tempting plan is as safe, or as cheap, as the first repair.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from repair_compare import make_checker, make_options
from repair_oracle import GOOD, KernelTask, find_optimum
from repair_task import Task, normal, parse_task

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.repair.api import repair
from plansafe.verifier.repair.model import Repair, RepairOptions, RepairStatus

Offer = tuple[str, list[str]]  # kinds of edits, steps


def first_repair(task: Task) -> Offer:
    """The first repair of the result."""
    result = repair(make_checker(task), Source("trap.plan", task.plan_text()), make_options(task))
    assert result.status is RepairStatus.FOUND, result
    return edit_kinds(result.repairs[0]), [normal(step) for step in result.repairs[0].steps]


def edit_kinds(listed: Repair) -> str:
    return " ".join(kind.value for kind in listed.kinds)


def least_repairs(task: Task) -> list[Offer]:
    """All repairs of least cost."""
    return [(" ".join(kinds), list(steps)) for steps, kinds in find_optimum(task).repairs]


def steps(text: str) -> list[str]:
    return list(parse_task("(define (domain d))", "(define (problem p) (:goal ()))", "", text).plan)


def is_safe(task: Task, plan: str) -> bool:
    """Whether the kernel accepts a plan."""
    return KernelTask(task).kernel.audit(plan).headline in GOOD


# -- small domains: the tempting repair, and the first one -----------------------------------------------------------

STOVES = """(define (domain stoves) (:types stove - object gas - stove pot - object)
  (:predicates (lit ?s - stove) (cooked ?p - pot) (in-kitchen))
  (:action switch-on :parameters (?s - stove) :precondition (and (in-kitchen) (not (lit ?s))) :effect (lit ?s))
  (:action switch-off :parameters (?s - stove) :precondition (and (in-kitchen) (lit ?s)) :effect (not (lit ?s)))
  (:action cook :parameters (?p - pot) :precondition (and (in-kitchen) (exists (?s - stove) (lit ?s)))
    :effect (cooked ?p))
  (:action leave :parameters () :precondition (in-kitchen) :effect (not (in-kitchen))))"""
TWO_STOVES = """(define (problem p) (:domain stoves) (:objects s1 - gas s2 - stove pot - pot)
  (:init (in-kitchen)) (:goal GOAL))"""
# A badly written rule: a lit stove is allowed while another stove is lit.
ONE_ON = """(:process watched :parameters (?s - stove) :on (leave) :when (lit ?s)
  :require (exists (?o - stove) (and (lit ?o) (not (= ?o ?s)))))"""
GAS_OFF = "(:termination gas-off :parameters (?s - gas) :forbid (lit ?s))"

FOIL = """(define (domain foil) (:types dish - object)
  (:predicates (wrapped ?d - dish) (foil-in-hand) (foil-on-counter) (inside ?d - dish) (warm ?d - dish) (running))
  (:action unwrap :parameters (?d - dish) :precondition (wrapped ?d)
    :effect (and (not (wrapped ?d)) (foil-in-hand)))
  (:action put-foil :parameters () :precondition (foil-in-hand)
    :effect (and (not (foil-in-hand)) (foil-on-counter)))
  (:action load :parameters (?d - dish) :precondition (not (inside ?d)) :effect (inside ?d))
  (:action start :parameters () :precondition (not (running)) :effect (running))
  (:action stop :parameters () :precondition (running)
    :effect (and (not (running)) (forall (?d - dish) (when (inside ?d) (warm ?d))))))"""
LUNCH = "(define (problem p) (:domain foil) (:objects soup - dish) (:init (wrapped soup)) (:goal (warm soup)))"
AWAY = "(:process no-foil-beside-the-microwave :forbid (and (running) (foil-on-counter)))"
BARE = "(:process no-foil-inside :parameters (?d - dish) :forbid (and (running) (inside ?d) (wrapped ?d)))"
LET_GO = "(:termination hands-free :forbid (foil-in-hand))"

KETTLE = """(define (domain kettle) (:types person - object)
  (:predicates (clean) (wet) (plugged) (given ?p - person) (logged ?p - person))
  (:action wash :parameters () :precondition (not (clean)) :effect (and (clean) (wet)))
  (:action dry :parameters () :precondition (wet) :effect (not (wet)))
  (:action plug-in :parameters () :precondition (clean) :effect (plugged))
  (:action give :parameters (?p - person) :effect (given ?p))
  (:action log :parameters (?p - person) :effect (logged ?p)))"""
HOME = """(define (problem p) (:domain kettle) (:objects ben - person mia - person) (:init) (:goal GOAL))"""
DRY = "(:process dry-at-the-plug :on (plug-in) :forbid (wet))"
LOGGED = "(:obligation logged :parameters (?p - person) :when (given ?p) :then (logged ?p))"
LOGGED_FIRST = "(:process asked :on (give ben) :require (logged ben))"

SALAD = """(define (domain salad) (:types fruit - object)
  (:predicates (clean ?f - fruit) (sliced ?f - fruit))
  (:action wash :parameters (?f - fruit) :effect (clean ?f))
  (:action cut :parameters (?f - fruit) :effect (sliced ?f)))"""
FRUIT = """(define (problem p) (:domain salad) (:objects apple - fruit pear - fruit) (:init)
  (:goal (exists (?f - fruit) (sliced ?f))))"""
WASHED = "(:process washed-before :on (cut ?f) :require (once (action (wash ?f))))"

READING = """(define (domain reading) (:types candle - object)
  (:predicates (light) (lamp) (read))
  (:action switch-lamp :parameters () :precondition (not (lamp)) :effect (and (lamp) (light)))
  (:action kindle :parameters (?c - candle) :effect (light))
  (:action read-aloud :parameters () :precondition (light) :effect (read)))"""
EVENING = "(define (problem p) (:domain reading) (:objects red - candle) (:init) (:goal (read)))"
CANDLES = "(:process candle :on (kindle ?c) :forbid-after (lamp))"

FRIDGE = """(define (domain fridge) (:types food - object)
  (:predicates (open) (out ?f - food) (eaten ?f - food))
  (:action open-door :parameters () :precondition (not (open)) :effect (open))
  (:action close-door :parameters () :precondition (open) :effect (not (open)))
  (:action take :parameters (?f - food) :precondition (and (open) (not (out ?f))) :effect (out ?f))
  (:action eat :parameters (?f - food) :precondition (out ?f) :effect (eaten ?f)))"""
SNACK = """(define (problem p) (:domain fridge) (:objects milk - food ham - food) (:init) (:goal GOAL))"""
CLOSED = "(:obligation closed-soon :when (open) :then (not (open)) :within 2)"


class Trap(NamedTuple):
    """``tempting`` reaches SAFE in the wrong way; ``live`` if it is even a repair of least cost."""

    task: Task
    tempting: Offer
    is_a_repair: bool
    offered: Offer


def trap(
    domain: str, problem: str, goal: str, rules: str, plan: str, tempting: tuple[str, str], is_a_repair: bool,
    offered: tuple[str, str],
) -> Trap:  # fmt: skip
    task = parse_task(domain, problem.replace("GOAL", goal), rules, plan)
    return Trap(task, (tempting[0], steps(tempting[1])), is_a_repair, (offered[0], steps(offered[1])))


TRAPS = {
    "another stove is switched on instead": trap(
        STOVES, TWO_STOVES, "(not (in-kitchen))", GAS_OFF,
        "(switch-on s1) (leave)",
        ("substitute", "(switch-on s2) (leave)"), False,
        ("insert", "(switch-on s1) (switch-off s1) (leave)"),
    ),
    "another stove does the cooking": trap(
        STOVES, TWO_STOVES, "(cooked pot)", GAS_OFF,
        "(switch-on s1) (cook pot) (leave)",
        ("substitute", "(switch-on s2) (cook pot) (leave)"), True,
        ("insert", "(switch-on s1) (cook pot) (switch-off s1) (leave)"),
    ),
    "this stove is safe because another one is on": trap(
        STOVES, TWO_STOVES, "(cooked pot)", ONE_ON,
        "(switch-on s1) (cook pot) (leave)",
        ("insert", "(switch-on s1) (cook pot) (switch-on s2) (leave)"), True,
        ("insert", "(switch-on s1) (cook pot) (switch-off s1) (leave)"),
    ),
    "nobody leaves": trap(
        STOVES, TWO_STOVES, "(cooked pot)",
        "(:process off-first :on (leave) :forbid (exists (?s - stove) (lit ?s)))",
        "(switch-on s1) (cook pot) (leave)",
        ("delete", "(switch-on s1) (cook pot)"), True,
        ("insert", "(switch-on s1) (cook pot) (switch-off s1) (leave)"),
    ),
    "the foil is held for ever": trap(
        FOIL, LUNCH, "", AWAY + BARE,
        "(unwrap soup) (put-foil) (load soup) (start) (stop)",
        ("delete", "(unwrap soup) (load soup) (start) (stop)"), True,
        ("move", "(unwrap soup) (load soup) (start) (stop) (put-foil)"),
    ),
    "the foil is not put down though a rule asks for it": trap(
        FOIL, LUNCH, "", BARE + LET_GO,
        "(load soup) (start) (stop)",
        ("insert", "(unwrap soup) (load soup) (start) (stop)"), False,
        ("insert insert", "(load soup) (unwrap soup) (start) (stop) (put-foil)"),
    ),
    "the goal is dropped": trap(
        KETTLE, HOME, "(plugged)", DRY,
        "(wash) (plug-in)",
        ("delete", "(wash)"), False,
        ("insert", "(wash) (dry) (plug-in)"),
    ),
    "the main step is dropped where the goal is silent": trap(
        KETTLE, HOME, "(clean)", DRY,
        "(wash) (plug-in)",
        ("delete", "(wash)"), True,
        ("insert", "(wash) (dry) (plug-in)"),
    ),
    "the duty is avoided by not giving rise to it": trap(
        KETTLE, HOME, "()", LOGGED,
        "(give ben)",
        ("delete", ""), True,
        ("insert", "(give ben) (log ben)"),
    ),
    "someone else gets the pill": trap(
        KETTLE, HOME, "()", LOGGED_FIRST,
        "(wash) (give ben)",
        ("substitute", "(wash) (give mia)"), False,
        ("insert", "(wash) (log ben) (give ben)"),
    ),
    "another fruit is cut, that happens to be washed": trap(
        SALAD, FRUIT, "", WASHED,
        "(wash apple) (cut pear)",
        ("substitute", "(wash apple) (cut apple)"), True,
        ("insert", "(wash apple) (wash pear) (cut pear)"),
    ),
    "another fruit is no longer washed": trap(
        SALAD, FRUIT, "", WASHED,
        "(wash apple) (cut pear)",
        ("substitute", "(wash pear) (cut pear)"), True,
        ("insert", "(wash apple) (wash pear) (cut pear)"),
    ),
    "a dormant rule is woken": trap(
        READING, EVENING, "", CANDLES,
        "(read-aloud)",
        ("insert", "(kindle red) (read-aloud)"), True,
        ("insert", "(switch-lamp) (read-aloud)"),
    ),
    "the door is closed by never opening it": trap(
        FRIDGE, SNACK, "(not (open))", CLOSED,
        "(open-door) (take milk) (eat milk) (close-door)",
        ("delete", "(open-door) (take milk) (close-door)"), True,
        ("move", "(open-door) (take milk) (close-door) (eat milk)"),
    ),
    "the side dish is dropped to close the door in time": trap(
        FRIDGE, SNACK, "(eaten milk)", CLOSED.replace("2", "3"),
        "(open-door) (take milk) (take ham) (eat milk) (close-door)",
        ("delete", "(open-door) (take milk) (eat milk) (close-door)"), True,
        ("move", "(open-door) (take milk) (take ham) (close-door) (eat milk)"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TRAPS)
def test_the_first_repair_avoids_the_trap(name: str) -> None:
    task, tempting, is_a_repair, offered = TRAPS[name]
    repairs = least_repairs(task)
    assert offered in repairs
    assert (tempting in repairs) == is_a_repair
    assert first_repair(task) == offered


def test_a_tempting_plan_that_is_not_a_repair_is_safe() -> None:
    for name in ("another stove is switched on instead", "someone else gets the pill"):
        task, (_, tempting), _, _ = TRAPS[name]
        assert is_safe(task, "\n".join(tempting))


def test_a_protected_step_is_kept_at_a_higher_cost() -> None:
    rule = "(:process wet-alone :on (log ben) :require (and (wet) (given ben)))"
    task = parse_task(KETTLE, HOME.replace("GOAL", "()"), rule, "(log ben)")
    assert first_repair(task) == ("delete", [])
    protected_task = task._replace(protected=frozenset([1]))
    assert first_repair(protected_task) == ("insert insert", steps("(give ben) (wash) (log ben)"))


def test_weights_change_the_first_repair() -> None:
    task = TRAPS["the main step is dropped where the goal is silent"].task
    assert first_repair(task) == ("insert", steps("(wash) (dry) (plug-in)"))
    assert first_repair(task._replace(weights=(2, 1, 1, 1))) == ("delete", steps("(wash)"))
    assert first_repair(task._replace(weights=(2, 1, 1, 1), protected=frozenset([2]))) == (
        "insert",
        steps("(wash) (dry) (plug-in)"),
    )


# -- the shipped household domain and rules ----------------------------------------------------------------------------

HOUSE = """(define (problem house) (:domain household)
  (:objects robot - robot kitchen hall - room counter - surface OBJECTS)
  (:init (passage kitchen hall) (passage hall kitchen) (present robot kitchen) (handfree robot)
    (in-room counter kitchen) INIT)
  (:goal GOAL))"""


def household(root: Path, objects: str, init: str, goal: str, plan: str) -> list[Offer]:
    """The repairs of the result, in order."""
    specs = root / "specs" / "plansafe" / "specs"

    def resolve(name: str, _: Source) -> Source | None:
        path = specs / f"{name}.safe"
        return Source(path.name, path.read_text()) if path.is_file() else None

    domain = (root / "domains" / "plansafe" / "domains" / "household" / "domain.pddl").read_text()
    problem = HOUSE.replace("OBJECTS", objects).replace("INIT", init).replace("GOAL", goal)
    checker = Checker(
        Source("domain.pddl", domain),
        Source("problem.pddl", problem),
        [Source("household.safe", (specs / "household.safe").read_text())],
        resolve=resolve,
    )
    assert checker.ok, checker.diagnostics
    result = repair(checker, Source("house.plan", plan), RepairOptions(max_cost=2, time_limit_s=None))
    assert result.status is RepairStatus.FOUND
    assert result.optimal
    assert result.complete
    return [(edit_kinds(listed), list(listed.steps)) for listed in result.repairs]


def test_the_stove_is_switched_off_instead_of_using_another_one(root: Path) -> None:
    repair_result = household(
        root,
        "gas electric - stove pot - vessel soup - food",
        """(in-room gas kitchen) (in-room electric kitchen) (hard-wired gas) (hard-wired electric) (heats gas)
           (on pot gas) (contains pot soup) (= (power gas) 1) (= (power electric) 1)""",
        "(cooked soup)",
        "(switch-on robot gas kitchen) (heat robot pot gas kitchen) (go robot kitchen hall)",
    )
    assert repair_result[0] == (
        "insert",
        steps(
            """(switch-on robot gas kitchen) (heat robot pot gas kitchen) (switch-off robot gas kitchen)
               (go robot kitchen hall)"""
        ),
    )
    assert all("electric" not in " ".join(plan) for _, plan in repair_result)


def test_the_foil_is_taken_off_and_put_down(root: Path) -> None:
    cooking = """(take robot dish counter kitchen) (put-in robot dish microwave kitchen)
      (close robot microwave kitchen) (switch-on robot microwave kitchen) (heat robot dish microwave kitchen)
      (switch-off robot microwave kitchen)"""
    repair_result = household(
        root,
        "microwave - microwave dish - vessel foil - wrapping",
        """(in-room microwave kitchen) (hard-wired microwave) (heats microwave) (opens microwave) (open microwave)
           (interlocked microwave) (metal foil) (on dish counter) (wrapped dish foil) (= (power microwave) 1)""",
        "(hot dish)",
        cooking,
    )
    freed = "(unwrap robot dish foil counter kitchen) (put-on robot foil counter kitchen)"
    assert repair_result[0] == ("insert insert", steps(freed + cooking))


def test_the_knife_is_put_down_and_not_left_untouched(root: Path) -> None:
    repair_result = household(
        root,
        "apple - food knife - knife",
        "(on apple counter) (on knife counter)",
        "()",
        "(take robot knife counter kitchen) (cut robot knife apple counter kitchen)",
    )
    assert repair_result[0] == (
        "insert",
        steps(
            """(take robot knife counter kitchen) (cut robot knife apple counter kitchen)
               (put-on robot knife counter kitchen)"""
        ),
    )
