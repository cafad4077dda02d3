"""States that branch and roll back, and the legal actions of a state against their definition."""

from __future__ import annotations

import random
from itertools import product
from time import process_time

import pytest
from engine_texts import check, checker, domain, judge, problem, safety, verdict

from plansafe.verifier.api import Checker
from plansafe.verifier.execution.action_effects import Conflict, combine_effects, interpret_effects
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import GroundAction, step_text
from plansafe.verifier.model.evaluation import Evaluator, UndefinedNumber
from plansafe.verifier.model.nodes import And

LOGIC = domain(
    "(:constants k - cup)",
    "(:derived (above ?x ?y - thing) (or (on ?x ?y) (exists (?z - thing) (and (on ?x ?z) (above ?z ?y)))))",
    "(:action stack :parameters (?x ?y - thing)"
    " :precondition (and (not (= ?x ?y)) (not (above ?y ?x)) (not (on ?x ?y))) :effect (on ?x ?y))",
    "(:action unstack :parameters (?x ?y - thing) :precondition (on ?x ?y) :effect (not (on ?x ?y)))",
    "(:action wash :parameters (?x - (either cup lid) ?y - thing)"
    " :precondition (or (on ?x ?y) (and (clean ?y) (not (clean ?x))) (= ?x k))"
    " :effect (and (clean ?x) (not (clean ?y))))",
    "(:action serve :parameters (?x - cup)"
    " :precondition (and (clean ?x) (forall (?y - thing) (imply (on ?y ?x) (clean ?y)))))",
    "(:action knock :precondition (exists (?x ?y - thing) (and (on ?x ?y) (not (clean ?y))))"
    " :effect (forall (?x ?y - thing) (when (not (clean ?y)) (not (on ?x ?y)))))",
    "(:action touch :parameters (?x ?y - lid) :precondition (not (exists (?z - thing) (or (on ?z ?x) (on ?z ?y))))"
    " :effect (clean ?y))",
    "(:action top :parameters (?x - thing) :precondition (above ?x k) :effect (clean ?x))",
    types="thing - object cup lid box - thing",
    predicates="(on ?x ?y - thing) (clean ?x - thing) (above ?x ?y - thing)",
)
LOGIC_TASK = problem(objects="a b - cup l m - lid x - box e - (either lid box)", init="(on a b) (clean k) (clean l)")

NUMBERS = domain(
    "(:action add :parameters (?x ?y - thing) :precondition (and (> (f ?x) 0) (<= (+ (f ?x) (f ?y)) 6))"
    " :effect (and (increase (f ?y) (f ?x)) (decrease (f ?x) 1)))",
    "(:action set :parameters (?x - thing) :precondition (not (p ?x)) :effect (and (p ?x) (assign (f ?x) 2)))",
    "(:action share :parameters (?x ?y - thing) :precondition (or (p ?y) (= (f ?x) (f ?y)))"
    " :effect (assign (f ?x) (/ 6 (f ?y))))",
    "(:action clash :parameters (?x ?y - thing) :effect (and (assign (f ?x) 1) (assign (f ?y) 1) (not (p ?x))))",
    "(:action maybe :parameters (?x - thing) :effect (when (> (f ?x) 1) (increase (g) 1)))",
    "(:action every :precondition (forall (?x - thing) (>= (f ?x) 0)) :effect (forall (?x - thing) (not (p ?x))))",
    predicates="(p ?x - thing)",
    functions="(f ?x - thing) (g) - number",
)
NUMBERS_TASK = problem(objects="a b c - thing", init="(= (f a) 1) (= (f b) 2) (= (g) 0)")

MOVES = domain(
    "(:action go :parameters (?r - robot ?x ?y - room) :precondition (and (in ?r ?x) (door ?x ?y)) "
    " :effect (and (not (in ?r ?x)) (in ?r ?y)))",
    "(:action open :parameters (?r - robot ?x ?y - room)"
    " :precondition (and (in ?r ?x) (not (door ?x ?y)) (not (= ?x ?y))) :effect (and (door ?x ?y) (door ?y ?x)))",
    "(:action meet :parameters (?r ?s - robot ?x - room)"
    " :precondition (and (in ?r ?x) (in ?s ?x) (not (= ?r ?s))) :effect (met ?r ?s))",
    "(:action loop :parameters (?x - room) :precondition (or (door ?x ?x) (forall (?r - robot) (in ?r ?x)))"
    " :effect (not (door ?x ?x)))",
    "(:action close :parameters (?x ?y - room) :precondition (and (door ?x ?y)"
    " (not (exists (?r - robot) (or (in ?r ?x) (in ?r ?y))))) :effect (not (door ?x ?y)))",
    types="robot room - object",
    predicates="(in ?r - robot ?x - room) (door ?x ?y - room) (met ?r ?s - robot)",
)
MOVES_TASK = problem(
    objects="r s - robot a b c d - room", init="(in r a) (in s b) (door a b) (door b a) (door c c) (in s d)"
)

TYPES = domain(
    "(:action a :parameters (?x - (either soft box) ?y - hard) :precondition (p ?x ?y) :effect (not (p ?x ?y)))",
    "(:action b :parameters (?x - cup ?y - object) :precondition (not (p ?y ?x)) :effect (p ?y ?x))",
    "(:action c :parameters (?x - nothing) :effect (q))",
    "(:action d :parameters (?x - object ?y - nothing) :precondition (q) :effect (q))",
    "(:action e :parameters (?x ?y - hard) :precondition (and (= ?x ?y) (p ?x ?x)) :effect (q))",
    "(:action f :precondition (or) :effect (q))",
    "(:action g :parameters (?x ?x2 ?x3 - soft) :precondition (and (p ?x ?x2) (p ?x2 ?x3)) :effect (p ?x3 ?x))",
    types="soft hard nothing - object cup - soft cup - hard rag - soft box - hard",
    predicates="(p ?x ?y - object) (q)",
)
TYPES_TASK = problem(objects="c d - cup r - rag o - box z - (either rag box)", init="(p c c) (p r o) (p c d) (p d r)")

TASKS = {
    "logic": (LOGIC, LOGIC_TASK),
    "numbers": (NUMBERS, NUMBERS_TASK),
    "moves": (MOVES, MOVES_TASK),
    "types": (TYPES, TYPES_TASK),
}


def compiled(name: str) -> Checker:
    checked = checker(*TASKS[name])
    assert checked.ok, checked.diagnostics
    return checked


def simulation(name: str) -> Execution:
    engine = compiled(name).engine
    return Execution(engine)


def by_definition(now: Execution) -> set[str]:
    """The steps, among all bindings, whose precondition holds and whose effects can be computed."""
    task, state = now.task, now.state
    evaluator = Evaluator(task, state.facts, state.fluents)
    legal_steps = set()
    for action in task.actions.values():
        for objects in product(*[task.domains[v.domain] for v in action.parameters]):
            binding = dict(zip([v.slot for v in action.parameters], objects, strict=True))
            if evaluator.holds(And(action.start.condition), binding) is not True:
                continue
            try:
                combine_effects(state.fluents, [interpret_effects(evaluator, action.start, binding)])
            except (UndefinedNumber, Conflict, KeyError, ZeroDivisionError):
                continue
            legal_steps.add(step_text(GroundAction(action, objects), task.objects))
    return legal_steps


def legal(now: Execution) -> list[str]:
    return [step_text(step, now.task.objects) for step in now.legal()]


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("seed", range(4))
def test_legal_actions_are_those_of_the_definition(name: str, seed: int) -> None:
    choose = random.Random(seed)
    now = simulation(name)
    for _ in range(25):
        steps = list(now.legal())
        texts = [step_text(step, now.task.objects) for step in steps]
        assert len(set(texts)) == len(texts)
        assert set(texts) == by_definition(now)
        if not steps:
            return
        assert now.take(choose.choice(steps))


@pytest.mark.parametrize("name", TASKS)
def test_an_illegal_step_is_not_executed(name: str) -> None:
    now = simulation(name)
    allowed, before = set(legal(now)), now.state.key()
    for action in now.task.actions.values():
        for objects in product(range(len(now.task.objects)), repeat=len(action.parameters)):
            step = GroundAction(action, objects)
            fits = all(o in now.task.domain_sets[v.domain] for o, v in zip(objects, action.parameters, strict=True))
            if not fits:
                continue
            done = now.take(step)
            assert done == (step_text(step, now.task.objects) in allowed)
            if done:
                now.undo()
            assert now.state.key() == before


def test_legal_actions_by_name() -> None:
    now = simulation("moves")
    assert {text.split()[0] for text in [step_text(step, now.task.objects) for step in now.legal("go", "meet")]} == {
        "(go"
    }
    assert list(now.legal("nothing-of-the-kind")) == []


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("seed", range(3))
def test_undo_and_rollback_restore_the_state(name: str, seed: int) -> None:
    choose = random.Random(seed)
    now = simulation(name)
    marks = [(now.mark(), now.state.key(), sorted(legal(now)))]
    for _ in range(200):
        steps = list(now.legal())
        if not steps or choose.random() < 0.2:
            place = choose.randrange(len(marks))
            del marks[place + 1 :]
            mark, key, texts = marks[place]
            now.rollback(mark)
            assert now.state.key() == key
            assert sorted(legal(now)) == texts
            continue
        assert now.take(choose.choice(steps))
        if choose.random() < 0.3:
            marks.append((now.mark(), now.state.key(), sorted(legal(now))))
    now.rollback(0)
    assert now.state.key() == simulation(name).state.key()


def test_undo_at_the_start() -> None:
    with pytest.raises(IndexError):
        simulation("logic").undo()


@pytest.mark.parametrize("name", TASKS)
def test_forks_are_independent(name: str) -> None:
    choose = random.Random(name)
    original = simulation(name)
    for _ in range(5):
        original.take(choose.choice(list(original.legal())))
    key, texts = original.state.key(), sorted(legal(original))
    fork = original.fork()
    assert (fork.state.key(), sorted(legal(fork))) == (key, texts)
    for _ in range(10):
        fork.take(choose.choice(list(fork.legal())))
    assert (original.state.key(), sorted(legal(original))) == (key, texts)
    there = fork.state.key()
    original.rollback(0)
    assert fork.state.key() == there
    assert set(legal(fork)) == by_definition(fork)


def test_derived_facts_follow() -> None:
    now = simulation("logic")
    (stack,) = [step for step in now.legal("stack") if step_text(step, now.task.objects) == "(stack b l)"]
    above = now.task.predicates.index(next(predicate for predicate in now.task.predicates if predicate.name == "above"))
    before = set(now.state.facts[above])
    now.take(stack)
    assert len(now.state.facts[above] - before) == 2  # b over l, and a over l through b
    now.undo()
    assert now.state.facts[above] == before


GRIPPER = domain(
    "(:action pick :parameters (?b - ball ?r - room ?g - gripper)"
    " :precondition (and (at ?b ?r) (robot ?r) (free ?g))"
    " :effect (and (carry ?b ?g) (not (at ?b ?r)) (not (free ?g))))",
    "(:action move :parameters (?x ?y - room) :precondition (and (robot ?x) (not (= ?x ?y)))"
    " :effect (and (robot ?y) (not (robot ?x))))",
    types="ball room gripper - object",
    predicates="(at ?b - ball ?r - room) (robot ?r - room) (free ?g - gripper) (carry ?b - ball ?g - gripper)",
)


def test_a_hundred_thousand_legal_actions() -> None:
    balls = [f"b{n}" for n in range(50_000)]
    objects = " ".join(balls) + " - ball x y z - room left right - gripper"
    init = "(robot x) (free left) (free right) " + " ".join(f"(at {ball} x)" for ball in balls)
    engine = checker(GRIPPER, problem(objects=objects, init=init)).engine
    now = Execution(engine)
    started = process_time()
    steps = list(now.legal())
    assert process_time() - started < 5
    assert len({(step.action.name, step.objects) for step in steps}) == len(steps) == 2 * 50_000 + 2
    (pick, *_) = [step for step in steps if step.action.name == "pick"]
    now.take(pick)
    assert len(list(now.legal())) == 49_999 + 2
    now.undo()
    assert len(list(now.legal("pick"))) == 100_000


def test_the_checker_still_works_after_legal_actions_were_asked_for() -> None:
    """Searches add indexes to the engine; runs of plans log only the changes that their own rules read."""
    text = domain(
        "(:action add :parameters (?x ?y - thing) :effect (r ?x ?y))",
        "(:action drop :parameters (?x ?y - thing) :effect (when (r ?x ?y) (not (r ?x ?y))))",
        "(:action join :parameters (?x ?y - thing) :precondition (and (q ?x) (r ?x ?y)) :effect (q ?y))",
        predicates="(q ?x - thing) (r ?x ?y - thing)",
    )
    checked = checker(
        text, problem(objects="a b - thing", init="(q a)"), safety("(:process c :forbid (and (q a) (q b)))")
    )
    plan = "(add a b) (drop a b) (add a b) (join a b)"
    assert verdict(judge(checked, plan)) == "UNSAFE c@4"
    assert len(list(Execution(checked.engine).legal())) == 8
    assert verdict(judge(checked, plan)) == "UNSAFE c@4"


def test_a_simulation_agrees_with_the_checker() -> None:
    for name, task in TASKS.items():
        choose = random.Random(name)
        now = simulation(name)
        plan = []
        for _ in range(30):
            steps = list(now.legal())
            if not steps:
                break
            step = choose.choice(steps)
            plan.append(step_text(step, now.task.objects))
            now.take(step)
        assert verdict(check(*task, "\n".join(plan))) == "VALID"
