"""No action breaks an inferred group, known groups are found, and S0 is restricted as docs/worlds.md defines."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random
from time import monotonic

import pytest
from invariants_oracle import (
    Facts,
    compile_domain,
    compile_task,
    describe_break,
    describe_invariant,
    find_counterexample,
    remove_surplus_facts,
    true_instances,
)
from invariants_random import OBJECTS, random_domain
from random_circuits import evaluate_literals

from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.model.nodes import Task
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Circuit
from plansafe.verifier.symbolic.invariants import group_proofs
from plansafe.verifier.symbolic.invariants.groups import (
    AssumedInvariant,
    describe_assumed,
    describe_declared,
    find_restrictions,
    ground_declared,
    ground_inferred,
)
from plansafe.verifier.symbolic.invariants.inference import infer_invariants
from plansafe.verifier.symbolic.worlds.initial_state import FactGroup, iterate_open_facts

PLACE_DOMAIN = (
    "(:types thing place - object) (:predicates (at ?x - thing ?p - place) (held ?x - thing) (shut ?p - place))"
)
PLACE_OBJECTS = "a b - thing k l m - place"
GO_HEAD = "(:action go :parameters (?x - thing ?p ?q - place)"


def find_groups(domain: str, objects: str = PLACE_OBJECTS, init: str = "", lenient: bool = False) -> list[str]:
    """The groups of a domain, each checked along random walks."""
    task = compile_domain(domain, objects, init, lenient)
    inferred = infer_invariants(task, lenient_types=lenient)
    for invariant in inferred:
        assert find_counterexample(task, invariant, Random(1), 60, 10) is None, describe_invariant(task, invariant)
    return [describe_invariant(task, invariant) for invariant in inferred]


def find_place_groups(*actions: str) -> list[str]:
    return find_groups(" ".join([PLACE_DOMAIN, *actions]))


# ---- what holds -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(40))
def test_no_step_breaks_a_group_of_a_random_domain(number: int) -> None:
    random = Random(f"groups {number}")
    try:
        task = compile_domain(random_domain(random), OBJECTS)
    except AssertionError:
        return  # a condition with types that do not fit
    for invariant in infer_invariants(task):
        assert find_counterexample(task, invariant, random, 15, 8) is None, describe_invariant(task, invariant)


def compile_household(root: Path, example: str) -> Task:
    text = (root / "domains/plansafe/domains/household/domain.pddl").read_text(encoding="utf-8")
    problem = (root / "examples" / example / "problem.pddl").read_text(encoding="utf-8")
    engine = compile_task(text, problem).engine
    return engine.task


def test_household_groups_are_found(root: Path) -> None:
    assert [
        describe_invariant(compile_household(root, "breakfast"), i)
        for i in infer_invariants(compile_household(root, "breakfast"))
    ] == [
        "x: (present x *) =1",
        "x: (contains * x) (has * x) (holding * x) (inside x *) (on x *) =1",
        "x: (handfree x) (holding x *) =1",
        "x: (plugged x *) <=1",
        "x: (cooked x) (raw x) =1",
    ]


def test_household_groups_hold_along_walks_of_the_engine(root: Path) -> None:
    text = (root / "domains/plansafe/domains/household/domain.pddl").read_text(encoding="utf-8")
    problem = (root / "examples/breakfast/problem.pddl").read_text(encoding="utf-8")
    engine = compile_task(text, problem).engine
    task, random = engine.task, Random(2)
    for invariant in infer_invariants(task):
        for _ in range(2):
            simulation = Execution(engine)
            facts = simulation.state.facts
            for predicate in {atom.predicate for atom in invariant.atoms}:
                for objects in product(*[task.domains[d] for d in task.predicates[predicate].domains]):
                    if random.random() < 0.2:
                        facts[predicate].add(task.encode(objects))
            remove_surplus_facts(task, invariant, facts, random)
            for _ in range(15):
                steps = list(simulation.legal())
                before: Facts = [set(codes) for codes in facts]
                if not steps or not simulation.take(random.choice(steps)):
                    continue
                assert describe_break(task, invariant, before, facts) is None
        assert all(
            len(instances) == 1
            for instances in true_instances(task, invariant, engine.make_initial_state().facts).values()
        )


# ---- inferred groups ------------------------------------------------------------------------------------------------


def test_gripper_groups_are_found() -> None:
    domain = """(:types room ball gripper)
      (:predicates (at-robby ?r - room) (at ?b - ball ?r - room) (free ?g - gripper) (carry ?b - ball ?g - gripper))
      (:action move :parameters (?f ?t - room) :precondition (at-robby ?f)
        :effect (and (at-robby ?t) (not (at-robby ?f))))
      (:action pick :parameters (?b - ball ?r - room ?g - gripper)
        :precondition (and (at ?b ?r) (at-robby ?r) (free ?g))
        :effect (and (carry ?b ?g) (not (at ?b ?r)) (not (free ?g))))
      (:action drop :parameters (?b - ball ?r - room ?g - gripper) :precondition (and (carry ?b ?g) (at-robby ?r))
        :effect (and (at ?b ?r) (free ?g) (not (carry ?b ?g))))"""
    assert find_groups(domain, "r s - room a b - ball g h - gripper") == [
        ": (at-robby *) =1",
        "x: (at x *) (carry x *) =1",
        "x: (carry * x) (free x) =1",
    ]


def test_blocks_and_depots_groups_are_found() -> None:
    blocks = """(:predicates (on ?x ?y) (table ?x) (clear ?x) (holding ?x) (handempty))
      (:action pick-up :parameters (?x) :precondition (and (clear ?x) (table ?x) (handempty))
        :effect (and (not (table ?x)) (not (clear ?x)) (not (handempty)) (holding ?x)))
      (:action put-down :parameters (?x) :precondition (holding ?x)
        :effect (and (not (holding ?x)) (clear ?x) (handempty) (table ?x)))
      (:action stack :parameters (?x ?y) :precondition (and (holding ?x) (clear ?y))
        :effect (and (not (holding ?x)) (not (clear ?y)) (clear ?x) (handempty) (on ?x ?y)))
      (:action unstack :parameters (?x ?y) :precondition (and (on ?x ?y) (clear ?x) (handempty))
        :effect (and (holding ?x) (clear ?y) (not (clear ?x)) (not (handempty)) (not (on ?x ?y))))"""
    assert find_groups(blocks, "a b c") == [
        ": (handempty) (holding *) =1",
        "x: (clear x) (holding x) (on * x) =1",
        "x: (holding x) (on x *) (table x) =1",
    ]
    depots = """(:types place locatable - object depot distributor - place truck hoist surface - locatable
        pallet crate - surface)
      (:predicates (at ?x - locatable ?y - place) (on ?x - crate ?y - surface) (in ?x - crate ?y - truck)
        (lifting ?x - hoist ?y - crate) (available ?x - hoist) (clear ?x - surface))
      (:action drive :parameters (?x - truck ?y ?z - place) :precondition (at ?x ?y)
        :effect (and (not (at ?x ?y)) (at ?x ?z)))
      (:action lift :parameters (?x - hoist ?y - crate ?z - surface ?p - place)
        :precondition (and (at ?x ?p) (available ?x) (at ?y ?p) (on ?y ?z) (clear ?y))
        :effect (and (not (at ?y ?p)) (lifting ?x ?y) (not (clear ?y)) (not (available ?x)) (clear ?z)
          (not (on ?y ?z))))
      (:action drop :parameters (?x - hoist ?y - crate ?z - surface ?p - place)
        :precondition (and (at ?x ?p) (at ?z ?p) (clear ?z) (lifting ?x ?y))
        :effect (and (available ?x) (not (lifting ?x ?y)) (at ?y ?p) (not (clear ?z)) (clear ?y) (on ?y ?z)))
      (:action load :parameters (?x - hoist ?y - crate ?z - truck ?p - place)
        :precondition (and (at ?x ?p) (at ?z ?p) (lifting ?x ?y))
        :effect (and (not (lifting ?x ?y)) (in ?y ?z) (available ?x)))
      (:action unload :parameters (?x - hoist ?y - crate ?z - truck ?p - place)
        :precondition (and (at ?x ?p) (at ?z ?p) (available ?x) (in ?y ?z))
        :effect (and (not (in ?y ?z)) (not (available ?x)) (lifting ?x ?y)))"""
    assert find_groups(depots, "d - depot e - distributor t - truck h g - hoist p q - pallet c b - crate") == [
        "x: (at x *) (in x *) (lifting * x) =1",
        "x: (clear x) (in x *) (lifting * x) (on * x) =1",
        "x: (in x *) (lifting * x) (on x *) =1",
        "x: (available x) (lifting x *) =1",
    ]


def test_deleting_all_instances_before_an_add_keeps_the_group() -> None:
    jump = GO_HEAD + " :effect (and (forall (?r - place) {}) (at ?x ?q)))"
    assert find_place_groups(jump.format("(not (at ?x ?r))")) == ["x: (at x *) =1"]
    assert find_place_groups(jump.format("(when (at ?x ?r) (not (at ?x ?r)))")) == ["x: (at x *) =1"]
    assert find_place_groups(jump.format("(when (shut ?r) (not (at ?x ?r)))")) == []


def test_a_precondition_that_excludes_instances_keeps_the_group() -> None:
    put = GO_HEAD + " :precondition (not (exists (?r - place) {})) :effect (and (at ?x ?q) {}))"
    assert find_place_groups(put.format("(at ?x ?r)", "")) == ["x: (at x *) =1"]
    assert find_place_groups(put.format("(at ?x ?r)", "(at ?x ?p)")) == []
    assert find_place_groups(put.format("(and (shut ?r) (at ?x ?r))", "")) == []


def test_small_domains_are_tried_object_by_object() -> None:
    go = "(:action to-{0} :precondition (not (at-robot {0})) :effect (and (at-robot {0}) {1}))"
    three = " ".join([go.format(p, " ".join([f"(not (at-robot {q}))" for q in "klm" if q != p])) for p in "klm"])
    head = "(:types place) (:constants k l m - place) (:predicates (at-robot ?p - place))"
    assert find_groups(f"{head} {three}", "") == [": (at-robot *) =1"]
    assert find_groups(f"{head} {three}", "n - place") == []
    # A domain of one object implies nothing: there is no other object to exclude.
    assert (
        find_groups("(:types t) (:predicates (p ?x - t)) (:action a :parameters (?x - t) :effect (p ?x))", "o - t")
        == []
    )


# ---- traps ----------------------------------------------------------------------------------------------------------


def test_a_variable_bound_in_a_deleting_effect_keeps_its_type() -> None:
    """kairos 1.0.6 and up-fast-downward 1.0.0 drop the type: then `(safe)` and `(sliced ?x)` exclude each other."""
    cutting = """(:types knife cleaner - tool tool food)
      (:predicates (holding ?x - tool) (safe) (sliced ?x - food))
      (:action cut :parameters (?x - food ?k - knife) :precondition (and (holding ?k) (safe))
        :effect (and (sliced ?x) (forall (?c - cleaner) (when (holding ?c) (not (safe))))))"""
    objects = "n - knife c - cleaner f g - food"
    assert find_groups(cutting, objects) == []
    # If the variable ranges over held objects, the group is inferred.
    assert find_groups(cutting.replace("?c - cleaner", "?c - knife"), objects) == [": (safe) (sliced *) =1"]
    assert find_groups(cutting.replace("?c - cleaner", "?c - tool"), objects) == [": (safe) (sliced *) =1"]
    # With lenient types a cleaner may be an argument of type knife.
    assert find_groups(cutting.replace("?c - cleaner", "?c - knife"), objects, lenient=True) == []


def test_an_add_wins_over_a_delete() -> None:
    go = GO_HEAD + " :precondition (at ?x ?p) :effect (and (not (at ?x ?p)) (at ?x ?q) {}))"
    assert find_place_groups(go.format("")) == ["x: (at x *) =1"]
    assert find_place_groups(go.format("(at ?x ?p)")) == []
    assert find_place_groups(go.format("(when (shut ?p) (at ?x ?p))")) == []
    stay = "(:action stay :parameters (?x - thing ?p - place) :precondition (at ?x ?p)"
    stay += " :effect (and (not (at ?x ?p)) (at ?x ?p)))"
    assert find_place_groups(go.format(""), stay) == ["x: (at x *) =1"]


def test_two_parameters_may_be_the_same_object() -> None:
    give = """(:types hand item) (:predicates (free ?h - hand) (holds ?h - hand ?x - item) (stored ?x - item))
      (:action grab :parameters (?g ?h - hand ?x - item) :precondition (and (free ?g) (free ?h) (stored ?x) {})
        :effect (and (not (stored ?x)) (not (free ?g)) (not (free ?h)) (holds ?g ?x) (holds ?h ?x)))"""
    hands = "x: (free x) (holds x *) =1"
    assert find_groups(give.format(""), "l r - hand a b - item") == [hands]
    assert find_groups(give.format("(= ?g ?h)"), "l r - hand a b - item") == [hands, "x: (holds * x) (stored x) =1"]
    meet = "(:action meet :parameters (?x ?y - thing ?p ?q - place) :precondition (and (at ?x ?p) (at ?y ?q) {})"
    meet += " :effect (and (not (at ?x ?p)) (at ?y ?p) {}))"
    group, single_group = "x: (at x *) {}", "x: (at * x) =1"
    assert find_place_groups(meet.format("", "")) == [single_group]
    assert find_place_groups(meet.format("", "(not (at ?y ?q))")) == ["x: (at * x) <=1", group.format("<=1")]
    assert find_place_groups(meet.format("(= ?x ?y)", "(not (at ?y ?q))")) == []  # it changes nothing
    assert find_place_groups(meet.format("(not (= ?x ?y))", "(at ?x ?q) (not (at ?y ?q))")) == [
        single_group,
        group.format("=1"),
    ]
    assert find_place_groups(meet.format("", "(at ?x ?q) (not (at ?y ?q))")) == [single_group, group.format("=1")]


def test_conditional_effects_need_their_deletion() -> None:
    go = GO_HEAD + " :precondition (at ?x ?p) :effect (and {}))"
    assert find_place_groups(go.format("(when (shut ?p) (and (not (at ?x ?p)) (at ?x ?q)))")) == ["x: (at x *) =1"]
    assert find_place_groups(go.format("(when (shut ?p) (not (at ?x ?p))) (at ?x ?q)")) == []
    assert find_place_groups(
        go.format("(when (shut ?p) (not (at ?x ?p))) (when (not (shut ?p)) (not (at ?x ?p))) (at ?x ?q)")
    ) == ["x: (at x *) =1"]
    assert find_place_groups(go.format("(when (not (= ?p ?q)) (not (at ?x ?p))) (at ?x ?q)")) == ["x: (at x *) =1"]
    numeric = PLACE_DOMAIN + " (:functions (weight ?x - thing)) " + go
    for condition, expected in (("(> (weight ?x) 2)", []), ("(>= (weight ?x) 2)", ["x: (at x *) =1"])):
        effect = f"(when {condition} (not (at ?x ?p))) (when (not (>= (weight ?x) 2)) (not (at ?x ?p))) (at ?x ?q)"
        assert find_groups(numeric.format(effect)) == expected


def test_every_alternative_of_a_choice_must_keep_the_group() -> None:
    go = GO_HEAD + " :precondition (at ?x ?p) :effect (and {}))"
    gone = "(not (at ?x ?p))"
    assert find_place_groups(go.format(f"(oneof (and {gone} (at ?x ?q)) (and))")) == ["x: (at x *) =1"]
    assert find_place_groups(go.format(f"{gone} (oneof (at ?x ?q) (at ?x k))").replace("k)", "?p)")) == [
        "x: (at x *) =1"
    ]
    assert find_place_groups(go.format(f"{gone} (oneof (at ?x ?q) (shut ?q))")) == ["x: (at x *) <=1"]
    assert find_place_groups(go.format(f"(oneof {gone} (shut ?q)) (at ?x ?q)")) == []
    assert find_place_groups(go.format(f"(oneof {gone} (and {gone} (shut ?q))) (at ?x ?q)")) == ["x: (at x *) =1"]
    two = "(:action two :parameters (?x - thing ?p ?q ?r - place) :precondition (at ?x ?p) :effect (and {}))"
    assert find_place_groups(two.format(f"{gone} (oneof (at ?x ?q) (at ?x ?r))")) == ["x: (at x *) =1"]
    assert find_place_groups(two.format(f"{gone} (oneof (at ?x ?q) (and)) (oneof (and) (at ?x ?r))")) == []
    assert find_place_groups(go.format(f"{gone} (forall (?r - place) (oneof (at ?x ?r) (and)))")) == []
    assert find_place_groups(
        go.format("(forall (?y - thing) (when (at ?y ?p) (oneof (and (not (at ?y ?p)) (at ?y ?q)) (and))))")
    ) == ["x: (at x *) =1"]


def test_timed_literals_and_derived_predicates_are_in_no_group() -> None:
    go = GO_HEAD + " :precondition (at ?x ?p) :effect (and (not (at ?x ?p)) (at ?x ?q)))"
    assert find_groups(f"{PLACE_DOMAIN} {go}", init="(at 3 (at a k))") == []
    shut = go.replace("(at ?x", "(shut").replace("(?x", "(?x").replace("(shut ?p)", "(shut ?p)")
    assert find_groups(f"{PLACE_DOMAIN} {go} {shut.replace('action go', 'action turn')}", init="(at 3 (at a k))") == [
        ": (shut *) =1"
    ]
    here = "(:derived (held ?x - thing) (exists (?p - place) (at ?x ?p)))"
    assert find_groups(f"{PLACE_DOMAIN} {here} {go}") == ["x: (at x *) =1"]


def test_a_group_must_hold_between_start_and_end() -> None:
    walk = """(:durative-action walk :parameters (?x - thing ?p ?q - place) :duration (= ?duration 2)
      :condition (at start (at ?x ?p)) :effect (and (at {} (not (at ?x ?p))) (at {} (at ?x ?q))))"""
    assert find_place_groups(walk.format("start", "end")) == []
    assert find_place_groups(walk.format("start", "start")) == ["x: (at x *) =1"]


def test_groups_that_no_action_suggests_are_left_out() -> None:
    cook = "(:types food) (:predicates (raw ?x - food) (cooked ?x - food) (fresh ?x - food) (full))"
    boil = "(:action boil :parameters (?x - food) :precondition (raw ?x) :effect (and (not (raw ?x)) (cooked ?x)))"
    assert find_groups(f"{cook} {boil}", "a b - food") == ["x: (cooked x) (raw x) =1"]
    eat = "(:action eat :parameters (?x - food) :precondition (fresh ?x) :effect (and (not (fresh ?x)) (full)))"
    assert find_groups(f"{cook} {eat}", "a b - food") == []
    seats = """(:types person seat) (:predicates (sits ?p - person ?s - seat) (empty ?s - seat))
      (:action swap :parameters (?p - person ?s ?t - seat) :precondition (and (sits ?p ?s) (empty ?t))
        :effect (and (not (sits ?p ?s)) (not (empty ?t)) (sits ?p ?t) (empty ?s)))"""
    assert find_groups(seats, "a b - person s t u - seat") == ["x: (empty x) (sits * x) =1", "x: (sits x *) =1"]


def test_the_deadline_ends_the_search(root: Path) -> None:
    task = compile_household(root, "breakfast")
    all_invariants = infer_invariants(task)
    for share in (0.0, 0.005, 0.02, 0.05):
        assert all(
            any(set(i.atoms) <= set(j.atoms) for j in all_invariants)
            for i in infer_invariants(task, monotonic() + share)
        )
    assert infer_invariants(task, monotonic() - 1) == []


def test_the_number_of_checks_ends_the_search(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = compile_household(root, "breakfast")
    all_invariants = infer_invariants(task)
    for checks in (0, 10, 100, 300):
        monkeypatch.setattr(group_proofs, "MAX_CHECKS", checks)
        invariants = infer_invariants(task)
        assert invariants == infer_invariants(task)
        assert all(any(set(i.atoms) <= set(j.atoms) for j in all_invariants) for i in invariants)
        assert checks or not invariants


def test_seeds_may_be_restricted(root: Path) -> None:
    task = compile_household(root, "breakfast")
    on = next(n for n, p in enumerate(task.predicates) if p.name == "on")
    assert [describe_invariant(task, i) for i in infer_invariants(task, about={on})] == [
        "x: (contains * x) (has * x) (holding * x) (inside x *) (on x *) =1"
    ]


# ---- S0 -------------------------------------------------------------------------------------------------------------

HOUSE = """(define (domain house) (:types item fridge cupboard robot - object)
  (:predicates (inside ?x - item ?c - (either fridge cupboard)) (holding ?a - robot ?x - item) (cool ?x - item))
  (:action take :parameters (?a - robot ?x - item ?c - (either fridge cupboard)) :precondition (inside ?x ?c)
    :effect (and (not (inside ?x ?c)) (holding ?a ?x)))
  (:action put :parameters (?a - robot ?x - item ?c - (either fridge cupboard)) :precondition (holding ?a ?x)
    :effect (and (not (holding ?a ?x)) (inside ?x ?c))))"""
NAMES = "milk egg - item f - fridge g h - cupboard bot - robot"


def list_assumed_groups(init: str, opened: str) -> list[tuple[str, list[set[str]]]]:
    """The descriptions of the assumed groups of a problem with two items, each with its groups of open facts."""
    problem = f"(define (problem p) (:domain house) (:objects {NAMES}) (:init {init}) (:goal (and)))"
    compiled = compile_task(HOUSE, problem, f"(define (safety s) (:open {opened}))")
    task = compiled.engine.task
    descriptions = []
    for assumed in ground_inferred(task, compiled.compiled.openings, infer_invariants(task)):
        facts = [{task.fact_text(*fact) for fact in group.facts} for group in assumed.groups]
        assert all(group.exactly_one == assumed.exactly_one for group in assumed.groups)
        descriptions.append((describe_assumed(task, assumed), facts))
    return descriptions


def test_exactly_one_is_assumed_if_it_holds_for_the_closed_items() -> None:
    milk = "(inside ?x - item ?c - fridge)"
    group = "for each item `?item`, {} of `(inside ?item *)`, `(holding * ?item)` is true ({}; assumed of S0)"
    most = group.format("at most one", "no action can break it")
    exact = group.format("exactly one", "no action can change that, and it is so wherever nothing is open")
    inside_either = [{f"(inside {x} f)", f"(inside {x} g)"} for x in ("milk", "egg")]
    assert list_assumed_groups("(inside milk g) (inside egg g)", milk) == [(most, inside_either)]
    denied = "(not (inside egg f)) (not (inside egg g)) (not (inside egg h))"
    inside = "(inside ?x - item ?c)"
    groups_of_milk = [{"(inside milk f)", "(inside milk g)", "(inside milk h)"}]
    assert list_assumed_groups(f"{denied} (holding bot egg)", inside) == [(exact, groups_of_milk)]
    assert list_assumed_groups(denied, inside) == [(most, groups_of_milk)]  # the egg is nowhere
    assert list_assumed_groups("", inside)[0][0] == most  # no other item suggests exactly one
    assert list_assumed_groups(f"{denied} (holding bot egg) (unknown (holding bot milk))", inside) == [
        (most, groups_of_milk)
    ]


def test_a_group_that_given_facts_break_is_not_assumed() -> None:
    twice = "(inside milk g) (holding bot milk)"
    ((text, groups),) = list_assumed_groups(twice, "(inside ?x - item ?c - fridge) (inside ?x - item ?c - cupboard)")
    assert groups == [{"(inside egg f)", "(inside egg g)", "(inside egg h)"}]
    assert "no action can break it; given facts break it for 1 other; assumed of S0" in text
    assert list_assumed_groups("", "(cool ?x)") == []


def test_open_facts_that_init_names_are_in_no_group() -> None:
    ((_, groups),) = list_assumed_groups(
        "(unknown (inside milk g)) (oneof (inside egg f) (inside egg g))", "(inside ?x ?c)"
    )
    assert groups == [{"(inside milk f)", "(inside milk h)"}]


def test_groups_with_one_predicate_have_a_short_description() -> None:
    domain = """(:types item box) (:predicates (inside ?x - item ?b - box) (in-hand ?x - item))
      (:action move :parameters (?x - item ?a ?b - box) :precondition (inside ?x ?a)
        :effect (and (not (inside ?x ?a)) (inside ?x ?b)))
      (:action switch :parameters (?x ?y - item) :precondition (in-hand ?x)
        :effect (and (not (in-hand ?x)) (in-hand ?y)))"""
    task = compile_domain(domain, "a b - item c d - box")
    texts = [describe_assumed(task, AssumedInvariant(i, (), False, 0)) for i in infer_invariants(task)]
    assert texts == [
        "at most one item is `in-hand` (no action can break it; assumed of S0)",
        "an item is `inside` at most one box (no action can break it; assumed of S0)",
    ]


def list_allowed_completions(
    task: Task, open_facts: list[tuple[int, int]], groups: list[FactGroup]
) -> set[frozenset[tuple[int, int]]]:
    """The completions that groups allow."""
    out = set()
    for values in product((False, True), repeat=len(open_facts)):
        true = {fact for fact, value in zip(open_facts, values, strict=True) if value}
        true |= {(p, code) for p, codes in enumerate(task.initial_facts) for code in codes}
        sums = [(sum(fact in true for fact in group.facts), group.exactly_one) for group in groups]
        if all(count == 1 if exactly else count <= 1 for count, exactly in sums):
            out.add(frozenset(true))
    return out


DECLARED = [
    "(:invariant i :parameters (?x - item) :at-most-one ((inside ?x ?c)))",
    "(:invariant i :parameters (?x - item) :exactly-one ((inside ?x ?c) (holding ?a ?x)))",
    "(:invariant i :exactly-one ((inside ?x ?c)))",
    "(:invariant i :parameters (?c - cupboard) :at-most-one ((inside ?x ?c) (holding bot milk)))",
    "(:invariant i :parameters (?c - cupboard) :exactly-one ((inside milk ?c) (holding ?a egg)))",
    "(:invariant i :parameters (?x - item) :exactly-one ((holding ?a ?x)))",
    "(:invariant i :parameters (?x ?y - item) :at-most-one ((inside ?x ?c) (holding ?a ?y) (inside egg ?c)))",
]


@pytest.mark.parametrize("declared", DECLARED)
@pytest.mark.parametrize("init", ["", "(holding bot milk)", "(inside egg f) (inside egg g)", "(not (inside milk f))"])
def test_declared_groups_allow_the_completions_of_their_definition(declared: str, init: str) -> None:
    problem = f"(define (problem p) (:domain house) (:objects {NAMES}) (:init {init}) (:goal (and)))"
    compiled = compile_task(
        HOUSE, problem, f"(define (safety s) (:open (inside ?x ?c) (holding ?a - robot ?x)) {declared})"
    )
    task = compiled.engine.task
    open_facts = list(iterate_open_facts(task, compiled.compiled.openings))
    invariant = compiled.compiled.invariants[0]
    expected = set()
    for values in product((False, True), repeat=len(open_facts)):
        true = {fact for fact, value in zip(open_facts, values, strict=True) if value}
        true |= {(p, code) for p, codes in enumerate(task.initial_facts) for code in codes}
        meets_definition = True
        for objects in product(*[task.domains[v.domain] for v in invariant.parameters]):
            binding = dict(zip([-1 - v.slot for v in invariant.parameters], objects, strict=True))
            instances = set()
            for atom in invariant.atoms:
                free = [v for v in invariant.counted if -1 - v.slot in atom.arguments]
                for objects_of_counted in product(*[task.domains[v.domain] for v in free]):
                    inner_binding = {
                        **binding,
                        **dict(zip([-1 - v.slot for v in free], objects_of_counted, strict=True)),
                    }
                    instances.add(
                        (atom.predicate, task.encode(tuple([inner_binding.get(a, a) for a in atom.arguments])))
                    )
            count = len(instances & true)
            meets_definition &= count == 1 if invariant.kind == "exactly-one" else count <= 1
        if meets_definition:
            expected.add(frozenset(true))
    groups = ground_declared(task, compiled.compiled.openings, compiled.compiled.invariants)
    assert list_allowed_completions(task, open_facts, groups) == expected


def test_declared_groups_are_described() -> None:
    problem = f"(define (problem p) (:domain house) (:objects {NAMES}) (:init) (:goal (and)))"
    rules = f"(define (safety s) (:open (inside ?x ?c)) {DECLARED[1]} (:invariant h :holds (cool milk)))"
    compiled = compile_task(HOUSE, problem, rules)
    assert [describe_declared(compiled.engine.task, i) for i in compiled.compiled.invariants] == [
        "`i`: exactly one of `(inside ?x ?c)`, `(holding ?a ?x)` is true for each `?x` (declared of S0)",
        "`h` holds (declared of S0)",
    ]
    task = compiled.compiled
    both = find_restrictions(task.task, task.openings, task.invariants)
    assert len(both.texts) == 3
    assert find_restrictions(task.task, task.openings, task.invariants, uses_inference=False).texts == both.texts[:2]


def test_derived_facts_may_be_counted() -> None:
    domain = HOUSE[:-1] + "(:derived (cool ?x - item) (exists (?c - fridge) (inside ?x ?c))))"
    problem = f"(define (problem p) (:domain house) (:objects {NAMES}) (:init) (:goal (and)))"
    compiled = compile_task(
        domain, problem, "(define (safety s) (:open (inside ?x ?c)) (:invariant i :at-most-one ((cool ?x))))"
    )
    task = compiled.engine.task
    (group,) = ground_declared(task, compiled.compiled.openings, compiled.compiled.invariants)
    assert {task.fact_text(*fact) for fact in group.facts} == {"(cool milk)", "(cool egg)"}


def test_a_quarter_of_a_million_open_facts_are_grouped() -> None:
    items = " ".join([f"i{n}" for n in range(500)])
    boxes = " ".join([f"c{n}" for n in range(500)])
    objects = f"{items} - item {boxes} - cupboard r - robot"
    problem = f"(define (problem p) (:domain house) (:objects {objects}) (:init) (:goal (and)))"
    compiled = compile_task(HOUSE, problem, "(define (safety s) (:open (inside ?x - item ?c - cupboard)))")
    inferred = infer_invariants(compiled.engine.task)
    (assumed,) = ground_inferred(compiled.engine.task, compiled.compiled.openings, inferred)
    assert [len(group.facts) for group in assumed.groups] == [500] * 500


# ---- circuits -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exactly_one", [False, True])
@pytest.mark.parametrize("size", range(10))
def test_an_encoded_group_is_true_iff_its_count_fits(size: int, exactly_one: bool) -> None:
    circuit = Circuit()
    literals = [circuit.input(n) for n in range(size)]
    root = circuit.exactly_one(literals) if exactly_one else circuit.at_most_one(literals)
    for values in product((False, True), repeat=size):
        inputs = {literal >> 1: value for literal, value in zip(literals, values, strict=True)}
        expected = sum(values) == 1 if exactly_one else sum(values) <= 1
        assert evaluate_literals(circuit, [root], inputs) == [expected]


def test_an_encoded_group_may_contain_constants_and_repetitions() -> None:
    random = Random(3)
    for _ in range(200):
        circuit = Circuit()
        pool = [FALSE, TRUE, *[circuit.input(n) ^ random.randint(0, 1) for n in range(4)]]
        literals = random.choices(pool, k=random.randint(0, 8))
        exactly_one = random.random() < 0.5
        root = circuit.exactly_one(literals) if exactly_one else circuit.at_most_one(literals)
        for values in product((False, True), repeat=4):
            inputs = {circuit.input(n) >> 1: value for n, value in enumerate(values)}
            count = sum(evaluate_literals(circuit, literals, inputs)) if literals else 0
            assert evaluate_literals(circuit, [root], inputs) == [count == 1 if exactly_one else count <= 1]


def test_encoded_groups_are_linear_and_add_no_input() -> None:
    circuit = Circuit()
    literals = [circuit.input(n) for n in range(10_000)]
    root = circuit.exactly_one(literals)
    assert len(circuit.gates) < 4 * len(literals)
    assert len(circuit.find_inputs([root])) == len(literals)
