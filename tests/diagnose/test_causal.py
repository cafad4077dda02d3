"""Causal structures and supports of steps: by hand, and against the kernel."""

from __future__ import annotations

from itertools import product

import pytest
from causal_cases import kitchen, random_case

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.diagnose import causal_links
from plansafe.verifier.diagnose.causal_links import Link, OpenPrecondition, Threat
from plansafe.verifier.diagnose.causal_structure import CausalStructure, find_causal_structure
from plansafe.verifier.execution.purpose import NotCovered, Support, find_supports
from plansafe.verifier.execution.replay import FORCE, Replay
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.kernel import KernelLimit
from plansafe.verifier.model.evaluation import Evaluator
from quick import quick_every


def test_supports_of_each_kind() -> None:
    checker = kitchen()
    steps = checker.read(Source("p", "(switch-on hob kitchen) (switch-off hob kitchen) (go kitchen hall)")).steps
    assert find_supports(checker.engine, steps, 1) == (
        Support("step", 2, "(on hob)", None, "gives (on hob) to step 2"),
    )
    text = "keeps rule `off-before-leaving` for kitchen, hall, hob"
    assert find_supports(checker.engine, steps, 2) == (Support("rule", 3, "", "off-before-leaving", text),)
    assert find_supports(checker.engine, steps, 3) == (
        Support("goal", 4, "(robot-in hall)", None, "gives (robot-in hall) to the goal"),
        Support("rule", 2, "", "home", "keeps rule `home`"),
    )


def test_ill_formed_steps_support_nothing_and_do_not_disturb() -> None:
    checker = kitchen()
    steps = checker.read(Source("p", "(jump) (switch-on hob kitchen) (fly) (switch-off hob kitchen)")).steps
    assert find_supports(checker.engine, steps, 1) == ()
    assert [support.text for support in find_supports(checker.engine, steps, 2)] == ["gives (on hob) to step 4"]


def test_conditional_effects_support_the_goal() -> None:
    checker = kitchen(goal="(and (warm hob) (not (lit kitchen)))", init="", rules="")
    steps = checker.read(Source("p", "(switch-on hob kitchen) (cook hob)")).steps
    assert [support.text for support in find_supports(checker.engine, steps, 1)] == ["gives (warm hob) to the goal"]


def test_unknown_steps_and_time_are_refused() -> None:
    checker = kitchen()
    with pytest.raises(IndexError):
        find_supports(checker.engine, (), 1)
    durative = Source(
        "d",
        "(define (domain d) (:durative-action a :parameters () :duration (= ?duration 1) :effect ()))",
    )
    problem = Source("p", "(define (problem p) (:domain d) (:init) (:goal ()))")
    checker = Checker(durative, problem)
    steps = checker.read(Source("p", "0: (a) [1]")).steps
    with pytest.raises(NotCovered):
        find_supports(checker.engine, steps, 1)


@pytest.mark.parametrize("stream", quick_every(5, ["steps", "past", "ends", "ltl", "pddl3"]))
def test_supports_equal_the_losses_of_the_kernel_without_the_step(stream: str) -> None:
    compared = kinds = 0
    for number in range(5):
        case = random_case(stream, number)
        if case is None:
            continue
        for plan in case.plans:
            try:
                full = case.kernel.audit("\n".join(plan))
            except KernelLimit:
                continue
            steps = case.checker.read(Source("p", "\n".join(plan))).steps
            for k in range(1, len(plan) + 1):
                shortened = "\n".join(plan[: k - 1] + plan[k:])
                less = case.kernel.audit(shortened)
                supports = find_supports(case.checker.engine, steps, k)
                failed = {step + (step >= k) for step in less.failed_steps["force"]} - set(full.failed_steps["force"])
                assert {support.step for support in supports if support.kind == "step"} == {
                    step for step in failed if step > k
                }
                violated = {
                    finding.rule
                    for finding in less.findings
                    if "force" in finding.readings and finding.rule in case.timeless
                }
                before = {finding.rule for finding in full.findings if "force" in finding.readings}
                rules = {
                    support.rule for support in supports if support.kind == "rule" and support.rule in case.timeless
                }
                assert rules - before == violated - before
                compared += 1
                kinds += bool(supports)
    assert compared > 40
    assert kinds > 2


# -- the structure ----------------------------------------------------------------------------------------------------


def test_links_openings_and_threats_of_a_broken_plan() -> None:
    checker = kitchen(goal="(and (robot-in hall) (warm hob))")
    text = "(switch-on hob kitchen) (go kitchen hall) (cook hob) (switch-off hob kitchen) (light hall)"
    causal_structure = find_causal_structure(checker, checker.read(Source("p", text)).steps)
    assert Link(0, "(robot-in kitchen)", 1, "step") in causal_structure.links
    assert Link(1, "(on hob)", 4, "step") in causal_structure.links
    assert Link(1, "(on hob)", 3, "effect") in causal_structure.links  # the condition of `cook`, whose effect is used
    assert Link(3, "(warm hob)", 6, "goal") in causal_structure.links
    assert Link(2, "(robot-in hall)", 5, "step") in causal_structure.links
    assert causal_structure.open_preconditions == (OpenPrecondition(4, "(robot-in kitchen)", True),)
    assert causal_structure.threats == (Threat(2, "(robot-in kitchen)", 4),)
    rule = "off-before-leaving for kitchen, hall, hob"
    assert [link for link in causal_structure.links if link.kind == "rule" and link.producer] == [
        Link(1, "(on hob)", 2, "rule", True, rule),
    ]
    assert causal_structure.redundant == (4, 5)


def test_a_step_that_only_keeps_a_rule_is_not_redundant() -> None:
    checker = kitchen()
    text = "(light kitchen) (switch-on hob kitchen) (switch-off hob kitchen) (go kitchen hall)"
    assert find_causal_structure(checker, checker.read(Source("p", text)).steps).redundant == (1, 2, 3)
    checker = kitchen(init="(lit kitchen) (on hob)")
    text = "(light kitchen) (switch-off hob kitchen) (go kitchen hall)"
    assert find_causal_structure(checker, checker.read(Source("p", text)).steps).redundant == (1,)


def test_derived_predicates_are_traced_to_the_facts_they_come_from() -> None:
    domain = """(define (domain d) (:predicates (door ?x ?y) (path ?x ?y) (at ?x))
      (:derived (path ?x ?y) (or (door ?x ?y) (exists (?z) (and (door ?x ?z) (path ?z ?y)))))
      (:action open :parameters (?x ?y) :effect (door ?x ?y))
      (:action shut :parameters (?x ?y) :effect (not (door ?x ?y)))
      (:action go :parameters (?x ?y) :precondition (and (at ?x) (path ?x ?y)) :effect (and (not (at ?x)) (at ?y))))"""
    problem = "(define (problem p) (:domain d) (:objects a b c) (:init (at a) (door b a)) (:goal (at c)))"
    checker = Checker(Source("d", domain), Source("p", problem))

    def structure(text: str) -> CausalStructure:
        return find_causal_structure(checker, checker.read(Source("plan", text)).steps)

    causal_structure = structure("(open b c) (open a b) (go a c)")
    assert {link for link in causal_structure.links if link.consumer == 3 and link.producer} == {
        Link(1, "(door b c)", 3, "step"),
        Link(2, "(door a b)", 3, "step"),
    }
    causal_structure = structure("(open b c) (open a b) (open a c) (go a c)")  # two ways, neither needed
    doors = {link for link in causal_structure.links if link.consumer == 4 and "door" in link.literal}
    assert {(link.producer, link.needed) for link in doors} == {(3, False)}
    causal_structure = structure("(open b c) (open a b) (shut b c) (go a c)")
    assert causal_structure.open_preconditions == (OpenPrecondition(4, "(path a c)", True),)
    assert Threat(3, "(door b c)", 4) in causal_structure.threats


def test_numbers_are_linked_through_the_steps_that_add_up() -> None:
    domain = """(define (domain d) (:functions (level) (price)) (:predicates (done))
      (:action fill :effect (and (increase (level) 2) (increase (price) 1)))
      (:action set :effect (assign (level) 0))
      (:action use :precondition (>= (level) 4) :effect (done)))"""
    problem = "(define (problem p) (:domain d) (:init (= (price) 0)) (:goal (done)))"
    checker = Checker(Source("d", domain), Source("p", problem))
    steps = checker.read(Source("plan", "(set) (fill) (fill) (use) (fill)")).steps
    causal_structure = find_causal_structure(checker, steps)
    assert {(link.producer, link.literal, link.consumer) for link in causal_structure.links} == {
        (1, "(level) has a value", 2),
        (1, "(level) has a value", 3),
        (1, "(level) has a value", 5),
        (1, "(= (level) 0)", 2),
        (2, "(= (level) 2)", 3),
        (3, "(>= (level) 4)", 4),
        (4, "(done)", 6),
    }
    assert causal_structure.redundant == (5,)


def test_a_conditional_effect_that_must_not_happen_is_a_need() -> None:
    domain = """(define (domain d) (:predicates (p) (q) (r))
      (:action make :effect (p))
      (:action calm :effect (not (q)))
      (:action shake :effect (and (r) (when (q) (not (p))))))"""

    def structure(goal: str) -> CausalStructure:
        problem = f"(define (problem p) (:domain d) (:init (q)) (:goal {goal}))"
        checker = Checker(Source("d", domain), Source("p", problem))
        return find_causal_structure(checker, checker.read(Source("plan", "(make) (calm) (shake)")).steps)

    assert Link(2, "(not (q))", 3, "effect") in structure("(p)").links
    assert structure("(p)").redundant == (2, 3)
    assert structure("(and (p) (r))").redundant == ()
    assert structure("(r)").redundant == (1, 2)


def test_either_of_two_ways_is_not_needed_but_both_together_from_one_step_are() -> None:
    domain = """(define (domain d) (:predicates (p) (q) (done))
      (:action one :effect (p))
      (:action two :effect (q))
      (:action both :effect (and (p) (q)))
      (:action use :precondition (or (p) (q)) :effect (done)))"""
    problem = "(define (problem p) (:domain d) (:init) (:goal (done)))"
    checker = Checker(Source("d", domain), Source("p", problem))

    def needed(text: str) -> set[tuple[int, bool]]:
        steps = checker.read(Source("plan", text)).steps
        causal_structure = find_causal_structure(checker, steps)
        return {(link.producer, link.needed) for link in causal_structure.links if link.consumer == len(steps)}

    assert needed("(one) (two) (use)") == {(1, False), (2, False)}
    assert needed("(both) (use)") == {(1, True)}


def test_more_links_than_the_limit_change_only_the_links_that_are_not_needed() -> None:
    case = random_case("steps", 0)
    assert case is not None
    dropped = 0
    for plan in case.plans:
        steps = case.checker.read(Source("p", "\n".join(plan))).steps
        full = find_causal_structure(case.checker, steps)
        remaining = tuple([link for link in full.links if link.needed or link.rule is not None])
        assert find_causal_structure(case.checker, steps, len(full.links)) == full
        assert find_causal_structure(case.checker, steps, 0) == full._replace(
            links=remaining, has_all_links=not full.links
        )
        dropped += len(full.links) - len(remaining)
    assert dropped


def test_far_more_links_than_the_limit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    checker = kitchen()
    steps = checker.read(Source("p", "(switch-on hob kitchen) (switch-off hob kitchen) (go kitchen hall)")).steps
    monkeypatch.setattr(causal_links, "MAX_VISITED_LINKS", 2)
    assert find_causal_structure(checker, steps).links
    with pytest.raises(NotCovered, match="more than 2 causal links"):
        find_causal_structure(checker, steps, 1)


def test_a_literal_that_one_of_two_effects_needs_is_one_needed_link() -> None:
    domain = """(define (domain d) (:predicates (p) (q) (r) (s))
      (:action start :effect (and (p) (q)))
      (:action use :effect (and (when (p) (r)) (when (or (p) (q)) (s)))))"""
    problem = "(define (problem p) (:domain d) (:init) (:goal (and (r) (s))))"
    checker = Checker(Source("d", domain), Source("p", problem))
    links = find_causal_structure(checker, checker.read(Source("plan", "(start) (use)")).steps).links
    assert [(link.literal, link.needed) for link in links if link.kind == "effect"] == [("(p)", True), ("(q)", False)]


STREAMS = ["steps", "past", "ends", "ltl", "pddl3", "mixed"]


@pytest.mark.slow
def test_links_and_threats_agree_with_the_states_of_the_kernel() -> None:
    """In the kernel's states without preconditions: linked literals hold until the consumer, threatened ones do not."""
    linked = threatened = 0
    for stream, number in product(STREAMS, range(10)):
        case = random_case(stream, number)
        if case is None or case.numeric:
            continue
        for plan in case.plans:
            states = case.free.states("\n".join(plan))
            causal_structure = find_causal_structure(
                case.checker, case.checker.read(Source("p", "\n".join(plan))).steps
            )
            failed = set(case.kernel.audit("\n".join(plan)).failed_steps["force"])
            assert {opening.consumer for opening in causal_structure.open_preconditions} - {
                causal_structure.goal
            } == failed
            for link in causal_structure.links:
                if link.kind == "rule":
                    continue
                held_at = [holds(state, link.literal) for state in states]
                assert all(held_at[link.producer : link.consumer])
                assert link.producer == 0 or not held_at[link.producer - 1]
                linked += 1
            for threat in causal_structure.threats:
                held_at = [holds(state, threat.literal) for state in states]
                assert held_at[threat.step - 1]
                assert not any(held_at[threat.step : threat.consumer])
                threatened += 1
            for opening in causal_structure.open_preconditions:
                if opening.literal[:2] != "(=" and opening.literal[:7] != "(not (=":
                    assert not holds(states[opening.consumer - 1], opening.literal)
    assert linked > 500
    assert threatened > 10


def holds(state: frozenset[tuple[str, ...]], literal: str) -> bool:
    """Whether a literal of facts holds in a kernel's state."""
    words = literal.replace("(", " ").replace(")", " ").split()
    return tuple(words[1:]) not in state if words[0] == "not" else tuple(words) in state


@pytest.mark.parametrize("stream", quick_every(3, STREAMS))
def test_without_its_redundant_steps_a_plan_is_no_worse_for_the_kernel(stream: str) -> None:
    dropped = 0
    for number in range(10):
        case = random_case(stream, number)
        if case is None:
            continue
        for plan in case.plans:
            text = "\n".join(plan)
            redundant = find_causal_structure(case.checker, case.checker.read(Source("p", text)).steps).redundant
            remaining = [n for n in range(1, len(plan) + 1) if n not in redundant]
            short = "\n".join([plan[n - 1] for n in remaining])
            try:
                full, less = case.kernel.audit(text), case.kernel.audit(short)
                goals = case.free.audit(text).goal, case.free.audit(short).goal
            except KernelLimit:
                continue
            assert {remaining[n - 1] for n in less.failed_steps["force"]} <= set(full.failed_steps["force"])
            assert goals[1] or not goals[0]
            broken = {(finding.rule, finding.binding) for finding in full.findings if finding.rule in case.timeless}
            new = {
                (finding.rule, finding.binding)
                for finding in less.findings
                if finding.rule in case.timeless and "force" in finding.readings
            }
            assert new <= broken
            dropped += len(redundant)
    assert dropped > 20


@pytest.mark.parametrize("stream", STREAMS)
def test_needed_literals_make_the_condition_fail_when_negated(stream: str) -> None:
    """Brute force: negate every basic fact of the task before every step."""
    needed = 0
    for number in range(6):
        case = random_case(stream, number)
        if case is None or case.numeric:
            continue
        engine = case.checker.engine
        task = engine.task
        derived = engine.axioms.derived if engine.axioms is not None else frozenset()
        for plan in case.plans:
            steps = case.checker.read(Source("p", "\n".join(plan))).steps
            links = find_causal_structure(case.checker, steps).links
            run = Replay(engine, FORCE)
            for consumer, step in enumerate(steps, 1):
                assert isinstance(step, GroundAction)
                binding = dict(zip([v.slot for v in step.action.parameters], step.objects, strict=True))
                for condition in step.action.start.condition:
                    if not Evaluator(task, run.state.facts, run.state.fluents).holds(condition, binding):
                        continue
                    for index, predicate in enumerate(task.predicates):
                        if index in derived or predicate.node is None:
                            continue
                        for objects in product(*[task.domains[domain] for domain in predicate.domains]):
                            code = task.encode(objects)
                            facts = [set(codes) for codes in run.state.facts]
                            facts[index] ^= {code}
                            if engine.axioms is not None:
                                engine.axioms.compute(facts, run.state.fluents)
                            if not Evaluator(task, facts, run.state.fluents).holds(condition, binding):
                                text = task.fact_text(index, code)
                                text = text if code in run.state.facts[index] else f"(not {text})"
                                assert [
                                    link
                                    for link in links
                                    if (link.consumer, link.literal, link.needed) == (consumer, text, True)
                                ]
                                needed += 1
                run.run_steps([step], consumer - 1)
    assert needed > 5
