"""The published labels: one worked example for each label, and for each point that docs/metrics.md decides."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.diagnose.labels import SAFEL_LABELS, NoLabel, PublishedLabel, find_safel_label
from plansafe.verifier.diagnose.labels_eai import EAI_LABELS, Simulator, find_eai_label
from plansafe.verifier.execution.steps import GroundAction

# Hands hold one thing. `inside` facts come from putting things into containers, which have to be open.
KITCHEN = """(define (domain kitchen) (:types place thing - object item box - thing)
  (:predicates (at ?p - place) (of ?t - thing ?p - place) (openable ?b - box) (open ?b - box) (holding ?i - item)
    (full) (inside ?i - item ?b - box) (wet ?i - item) (on ?b - box) (lit ?p - place) (cuttable ?i - item)
    (drinkable ?i - item))
  (:action go :parameters (?p - place) :precondition (not (at ?p))
    :effect (and (at ?p) (forall (?q - place) (when (not (= ?q ?p)) (not (at ?q))))))
  (:action open :parameters (?b - box ?p - place)
    :precondition (and (openable ?b) (of ?b ?p) (at ?p) (not (open ?b)) (not (full))) :effect (open ?b))
  (:action close :parameters (?b - box ?p - place)
    :precondition (and (of ?b ?p) (at ?p) (open ?b)) :effect (not (open ?b)))
  (:action grasp :parameters (?i - item ?p - place)
    :precondition (and (of ?i ?p) (at ?p) (not (holding ?i)) (not (full))) :effect (and (holding ?i) (full)))
  (:action release :parameters (?i - item)
    :precondition (holding ?i) :effect (and (not (holding ?i)) (not (full))))
  (:action put-in :parameters (?i - item ?b - box ?p - place)
    :precondition (and (of ?b ?p) (at ?p) (holding ?i) (open ?b))
    :effect (and (inside ?i ?b) (not (holding ?i)) (not (full))))
  (:action place-in :parameters (?i - item ?b - box ?p - place)
    :precondition (and (of ?b ?p) (at ?p) (holding ?i) (open ?b))
    :effect (and (inside ?i ?b) (not (holding ?i)) (not (full))))
  (:action stow :parameters (?i - item ?b - box ?p - place)
    :precondition (and (of ?b ?p) (at ?p) (holding ?i) (open ?b))
    :effect (and (inside ?i ?b) (not (holding ?i)) (not (full))))
  (:action wash :parameters (?i - item) :precondition (holding ?i) :effect (wet ?i))
  (:action cut :parameters (?i - item) :precondition (and (cuttable ?i) (holding ?i)) :effect (wet ?i))
  (:action start :parameters (?b - box) :precondition (and (not (open ?b)) (not (on ?b))) :effect (on ?b))
  (:action drink :parameters (?i - item)
    :precondition (or (and (drinkable ?i) (holding ?i)) (and (cuttable ?i) (holding ?i) (wet ?i)))))
"""
SCENE = """(define (problem p) (:domain kitchen)
  (:objects hall room - place cup knife - item jar tin - box)
  (:init (at hall) (of cup hall) (of knife room) (of jar room) (of tin room) (openable jar) (cuttable cup))
  (:goal (inside cup jar)))"""
GOLD = "(go room) (open jar room) (go hall) (grasp cup hall) (go room) (put-in cup jar room)"


@pytest.fixture(scope="module")
def kitchen() -> Checker:
    checker = Checker(Source("domain", KITCHEN), Source("problem", SCENE))
    assert checker.ok, checker.diagnostics
    return checker


def safel(checker: Checker, plan: str) -> tuple[str, int]:
    label = find_safel_label(checker, Source("plan", plan))
    assert label.scheme == "safel"
    assert label.name in SAFEL_LABELS
    return label.name, label.step


def eai(checker: Checker, plan: str, simulator: Simulator) -> tuple[str, int]:
    label = find_eai_label(checker, Source("plan", plan), simulator)
    assert label.scheme == f"eai-{simulator}"
    assert label.name in EAI_LABELS
    return label.name, label.step


# -- one example for each label ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plan", "label"),
    [
        (GOLD, ("success", 0)),
        ("(go room) (fly hall)", ("grammar", 2)),
        ("(go room) (grasp spoon hall)", ("grammar", 2)),
        ("(go room) (grasp cup)", ("grammar", 2)),
        ("(go room", ("grammar", 0)),
        ("(grasp jar hall)", ("affordance", 1)),
        ("(go room) (open tin room)", ("affordance", 2)),
        ("(go room) (open jar room) (open jar room)", ("additional step", 3)),
        ("(go room) (open jar room) (go hall) (go room) (grasp cup hall)", ("wrong temporal order", 5)),
        ("(grasp knife room) (go room)", ("wrong temporal order", 1)),
        ("(go room) (put-in cup jar room)", ("missing step", 2)),
        ("(go room) (open jar room)", ("unmet goal", 0)),
        ("", ("unmet goal", 0)),
    ],
)
def test_safel(kitchen: Checker, plan: str, label: tuple[str, int]) -> None:
    assert safel(kitchen, plan) == label


@pytest.mark.parametrize(
    ("plan", "virtualhome", "behavior"),
    [
        (GOLD, ("success", 0), ("success", 0)),
        ("(go room", ("parsing error", 0), ("parsing error", 0)),
        ("", ("parsing error", 0), ("parsing error", 0)),
        ("1: (go room) [3]", ("unsatisfied goal", 0), ("unsatisfied goal", 0)),
        ("(go room) (fly hall)", ("hallucination", 2), ("hallucination", 2)),
        ("(go room) (grasp spoon hall)", ("hallucination", 2), ("hallucination", 2)),
        ("(go room) (grasp cup)", ("argument length", 2), ("argument length", 2)),
        ("(go room) (open tin room)", ("affordance", 2), ("affordance", 2)),
        ("(grasp jar hall)", ("affordance", 1), ("affordance", 1)),
        ("(go room) (open jar room) (open jar room)", ("additional step", 3), ("additional step", 3)),
        ("(go room) (grasp cup hall)", ("wrong temporal order", 2), ("wrong temporal order", 2)),
        ("(grasp knife room) (go room)", ("missing step", 1), ("missing step", 1)),
        ("(wash knife)", ("missing step", 1), ("missing step", 1)),
        ("(go room) (open jar room)", ("unsatisfied goal", 0), ("unsatisfied goal", 0)),
    ],
)
def test_eai(kitchen: Checker, plan: str, virtualhome: tuple[str, int], behavior: tuple[str, int]) -> None:
    assert eai(kitchen, plan, "virtualhome") == virtualhome
    assert eai(kitchen, plan, "behavior") == behavior


# -- decided: SAFEL ---------------------------------------------------------------------------------------------------


def test_safel_checks_the_whole_plan_before_the_next_kind_of_check(kitchen: Checker) -> None:
    assert safel(kitchen, "(wash cup) (grasp jar hall) (fly hall)") == ("grammar", 3)
    assert safel(kitchen, "(wash cup) (grasp jar hall)") == ("affordance", 2)


def test_safel_undeclared_argument_after_a_mismatched_one_is_grammar(kitchen: Checker) -> None:
    assert safel(kitchen, "(grasp jar nowhere)") == ("grammar", 1)


def test_safel_a_precondition_counts_as_a_whole(kitchen: Checker) -> None:
    """The jar was reachable before and the cup in hand later, but never both."""
    plan = "(grasp cup hall) (release cup) (go room) (open jar room) (put-in cup jar room)"
    assert safel(kitchen, plan) == ("missing step", 5)


def test_safel_a_later_time_is_that_of_the_plan_without_the_failed_step(kitchen: Checker) -> None:
    # Had `put-in` been forced, the cup would not be in the hand when the jar is opened.
    plan = "(grasp cup hall) (wash knife) (release cup) (go room) (grasp knife room)"
    assert safel(kitchen, plan) == ("wrong temporal order", 2)
    label = find_safel_label(kitchen, Source("plan", plan))
    assert label.text == "the precondition holds only after step 5"


def test_safel_additional_comes_before_order(kitchen: Checker) -> None:
    """An additional step's precondition held earlier, so every such step would otherwise count as wrong order."""
    assert safel(kitchen, GOLD + " (put-in cup jar room)") == ("additional step", 7)


def test_safel_static_facts_are_affordance_only_where_they_alone_decide(kitchen: Checker) -> None:
    assert safel(kitchen, "(drink knife)") == ("affordance", 1)
    assert safel(kitchen, "(drink cup)") == ("missing step", 1)


def test_safel_does_not_look_at_rules() -> None:
    rules = Source("r.safe", "(define (safety r) (:process p :parameters (?b - box) :forbid (open ?b)))")
    checker = Checker(Source("domain", KITCHEN), Source("problem", SCENE), [rules])
    plan = Source("plan", GOLD)
    assert checker.check(plan).headline is not None
    assert checker.check(plan).headline.value == "UNSAFE"  # type: ignore[union-attr]
    assert find_safel_label(checker, plan).name == "success"
    assert find_eai_label(checker, plan).name == "success"


def test_lenient_types_allow_a_mismatch() -> None:
    domain = Source("domain", KITCHEN)
    checker = Checker(domain, Source("problem", SCENE), [], Options(lenient_types=True))
    assert safel(checker, "(wash jar)") == ("missing step", 1)


# -- decided: the Embodied Agent Interface ----------------------------------------------------------------------------


@pytest.mark.parametrize("simulator", ["virtualhome", "behavior"])
def test_eai_grammar_is_of_the_whole_plan_and_comes_before_the_execution(
    kitchen: Checker, simulator: Simulator
) -> None:
    assert eai(kitchen, "(wash cup) (grasp cup) (fly hall)", simulator) == ("hallucination", 3)
    assert eai(kitchen, "(wash cup) (grasp cup)", simulator) == ("argument length", 2)
    assert eai(kitchen, "(grasp nothing)", simulator) == ("hallucination", 1)


@pytest.mark.parametrize("simulator", ["virtualhome", "behavior"])
def test_eai_a_type_mismatch_counts_when_its_turn_comes(kitchen: Checker, simulator: Simulator) -> None:
    assert eai(kitchen, "(wash knife) (grasp jar hall)", simulator) == ("missing step", 1)


@pytest.mark.parametrize("simulator", ["virtualhome", "behavior"])
def test_eai_goes_on_after_an_additional_step(kitchen: Checker, simulator: Simulator) -> None:
    """Its tables count such a plan as executable, as a success, and under Additional as well."""
    doubled = GOLD.replace("(open jar room)", "(open jar room) (open jar room)")
    label = find_eai_label(kitchen, Source("plan", doubled), simulator)
    assert label[:3] == (f"eai-{simulator}", "additional step", 3)
    assert (label.executable, label.goal, label.additional) == (True, True, (3,))
    stopped = find_eai_label(kitchen, Source("plan", "(go room) (go room) (wash cup)"), simulator)
    assert (stopped.name, stopped.step, stopped.additional) == ("missing step", 3, (2,))
    assert (stopped.executable, stopped.goal) == (False, False)


@pytest.mark.parametrize("simulator", ["virtualhome", "behavior"])
def test_eai_judges_the_goal_where_the_execution_stopped(kitchen: Checker, simulator: Simulator) -> None:
    label = find_eai_label(kitchen, Source("plan", GOLD + " (wash knife)"), simulator)
    assert (label.name, label.executable, label.goal) == ("missing step", False, True)


@pytest.mark.parametrize("simulator", ["virtualhome", "behavior"])
def test_eai_a_full_hand_is_not_an_additional_step(kitchen: Checker, simulator: Simulator) -> None:
    """`full` is made true by grasping, but grasping another thing would change something."""
    assert eai(kitchen, "(grasp cup hall) (go room) (grasp knife room)", simulator)[0] != "additional step"


def test_virtualhome_a_closed_container_is_affordance(kitchen: Checker) -> None:
    plan = "(grasp cup hall) (go room) (put-in cup jar room)"
    assert eai(kitchen, plan, "virtualhome") == ("affordance", 3)
    assert eai(kitchen, plan, "behavior") == ("missing step", 3)
    # Only once everything else about the step is right.
    assert eai(kitchen, "(go room) (put-in cup jar room)", "virtualhome") == ("missing step", 2)


def test_virtualhome_only_the_first_unmet_part_has_to_have_held(kitchen: Checker) -> None:
    plan = "(grasp cup hall) (release cup) (go room) (open jar room) (put-in cup jar room)"
    assert eai(kitchen, plan, "virtualhome") == ("wrong temporal order", 5)
    assert eai(kitchen, plan, "behavior") == ("missing step", 5)


def test_virtualhome_of_alternatives_takes_the_nearest(kitchen: Checker) -> None:
    label = find_eai_label(kitchen, Source("plan", "(grasp cup hall) (drink cup)"))
    assert (label.name, label.text) == ("missing step", "(wet cup) is not true")


def test_virtualhome_looks_at_the_own_flag_last(kitchen: Checker) -> None:
    """Far from the open jar: VirtualHome misses the walk, BEHAVIOR, by its priority, finds the step additional."""
    plan = "(go room) (open jar room) (go hall) (open jar room)"
    assert eai(kitchen, plan, "virtualhome") == ("wrong temporal order", 4)
    assert eai(kitchen, plan, "behavior") == ("additional step", 4)


def test_behavior_placing_is_never_temporal_or_additional(kitchen: Checker) -> None:
    opened = "(go room) (open jar room) (go hall) (grasp cup hall) (go room) "
    plan = opened + "(close jar room) (place-in cup jar room)"
    assert eai(kitchen, plan, "behavior") == ("missing step", 7)
    assert eai(kitchen, plan.replace("place-in", "put-in"), "behavior") == ("missing step", 7)
    assert eai(kitchen, plan.replace("place-in", "stow"), "behavior") == ("wrong temporal order", 7)
    twice = opened + "(place-in cup jar room) (place-in cup jar room)"
    assert eai(kitchen, twice, "behavior") == ("missing step", 7)
    assert eai(kitchen, twice, "virtualhome") == ("wrong temporal order", 7)


def test_wrong_order_needs_an_earlier_state(kitchen: Checker) -> None:
    plan = "(grasp knife room) (go room)"
    assert safel(kitchen, plan)[0] == "wrong temporal order"
    assert {eai(kitchen, plan, simulator)[0] for simulator in ("virtualhome", "behavior")} == {"missing step"}


def test_raw_names_are_those_of_the_evaluators(kitchen: Checker) -> None:
    plan = Source("plan", "(fly hall)")
    assert find_eai_label(kitchen, plan, "virtualhome").raw == "hallucination error"
    assert find_eai_label(kitchen, plan, "behavior").raw == "hullucination"
    assert find_safel_label(kitchen, plan).raw == ""


# -- no label ---------------------------------------------------------------------------------------------------------


def test_a_task_with_errors_has_no_labels() -> None:
    broken = Checker(Source("domain", "(define (domain d"), Source("problem", SCENE))
    with pytest.raises(NoLabel, match="errors"):
        find_safel_label(broken, Source("plan", ""))


def test_durative_actions_have_no_label() -> None:
    domain = (
        "(define (domain d) (:requirements :durative-actions) (:predicates (p))"
        " (:durative-action a :parameters () :duration (= ?duration 1) :condition (at start (p)) :effect (at end (p))))"
    )
    checker = Checker(Source("d", domain), Source("p", "(define (problem p) (:domain d) (:init) (:goal (p)))"))
    with pytest.raises(NoLabel, match="clock"):
        find_safel_label(checker, Source("plan", "0: (a) [1]"))
    assert find_safel_label(checker, Source("plan", "(a)")).name == "grammar"


def test_timed_plans_of_instantaneous_actions_are_taken_in_order_of_time(kitchen: Checker) -> None:
    steps = GOLD.strip("()").split(") (")
    timed = "".join([f"{9 - at}: ({step})\n" for at, step in enumerate(reversed(steps))])
    assert safel(kitchen, timed) == ("success", 0)
    assert safel(kitchen, timed + "0: (fly hall)") == ("grammar", 1)


# -- the real plans of BEHAVIOR-100 -----------------------------------------------------------------------------------


def behavior_tasks(data: Path) -> Iterator[tuple[Checker, list[str]]]:
    """Gold plans with their tasks; one published problem has an undeclared object."""
    folder = data / "eai-behavior"
    domain = Source("domain", (folder / "domain" / "behavior.pddl").read_text(encoding="utf-8"))
    plans: dict[str, list[str]] = json.loads((folder / "gold_pddl_plan.json").read_text(encoding="utf-8"))
    for name, steps in sorted(plans.items()):
        path = folder / "problem_pddl" / f"{name}.pddl"
        checker = Checker(domain, Source("problem", path.read_text(encoding="utf-8")))
        if checker.ok:
            yield checker, [f"({step})" for step in steps]


def all_labels(checker: Checker, steps: list[str]) -> list[PublishedLabel]:
    plan = Source("plan", "\n".join(steps))
    return [find_safel_label(checker, plan), find_eai_label(checker, plan), find_eai_label(checker, plan, "behavior")]


FAULTS = {"dropped": "missing step", "moved": "wrong temporal order", "repeated": "additional step", "replaced": ""}
"""Kinds of fault, with the correct label of each."""


def faults(checker: Checker, steps: list[str], chance: random.Random) -> Iterator[tuple[str, list[str]]]:
    """Three plans with one fault of each kind."""
    task, resolver = checker.engine.task, checker.engine.resolver
    size = len(steps)
    for _ in range(3):
        at = chance.randrange(size)
        without_step = steps[:at] + steps[at + 1 :]
        yield "dropped", without_step
        if size > 1:
            to = chance.choice([place for place in range(size) if place != at])
            yield "moved", [*without_step[:to], steps[at], *without_step[to:]]
        to = chance.randrange(at + 1, size + 1)
        yield "repeated", [*steps[:to], steps[at], *steps[to:]]
        tokens = steps[at][1:-1].split()
        replacements = [
            replacement
            for place in range(1, len(tokens))
            for name in task.objects
            if name != tokens[place]
            for replacement in [[*tokens[:place], name, *tokens[place + 1 :]]]
            if isinstance(resolver.resolve_tokens(replacement), GroundAction)
        ]
        if replacements:
            yield "replaced", [*steps[:at], f"({' '.join(chance.choice(replacements))})", *steps[at + 1 :]]


@pytest.mark.slow
def test_success_is_validity_and_the_table_of_the_page(data: Path, root: Path) -> None:
    """Gold plans succeed, faulty ones iff they are still valid; the page says how often a fault is named."""
    chance = random.Random(7)
    correctly_named: Counter[tuple[str, str]] = Counter()
    broken: Counter[str] = Counter()
    for checker, steps in behavior_tasks(data):
        assert {label.name for label in all_labels(checker, steps)} == {"success"}
        for kind, plan in faults(checker, steps, chance):
            labels = all_labels(checker, plan)
            verdict = checker.check(Source("plan", "\n".join(plan))).headline
            assert verdict is not None
            assert {label.name == "success" for label in labels} == {verdict.value in ("VALID", "SAFE")}
            assert {label.executable and label.goal for label in labels[:1]} == {verdict.value in ("VALID", "SAFE")}
            if labels[0].name != "success":
                broken[kind] += 1
                correctly_named.update([(label.scheme, kind) for label in labels if label.name == FAULTS[kind]])
    page = (root / "bench" / "results" / "labels.md").read_text(encoding="utf-8")
    three = sum(broken.values()) - broken["replaced"]
    assert f"Of {sum(broken.values())} broken plans" in page
    for row, scheme in (("SAFEL", "safel"), ("VirtualHome", "eai-virtualhome"), ("BEHAVIOR", "eai-behavior")):
        hits = [correctly_named[scheme, kind] for kind in ("dropped", "moved", "repeated")]
        of = [broken[kind] for kind in ("dropped", "moved", "repeated")]
        rates = [
            *[hit / count for hit, count in zip(hits, of, strict=True)],
            sum(hits) / three,
            sum(hits) / sum(broken.values()),
        ]
        assert f"| {row} | {' | '.join([f'{100 * rate:.0f} %' for rate in rates])} |" in page


def test_gold_plans_of_virtualhome_succeed(data: Path) -> None:
    """A sample of the gold plans whose published problem is well typed."""
    folder = data / "eai-virtualhome"
    domain = Source("domain", (folder / "domain" / "virtualhome.pddl").read_text(encoding="utf-8"))
    plans: dict[str, list[str]] = json.loads((folder / "gold_pddl_plan.json").read_text(encoding="utf-8"))
    paths = {path.stem: path for path in folder.glob("problem_pddl/*/*.pddl")}
    labelled_plans = 0
    for name in sorted(plans)[::8]:
        checker = Checker(domain, Source("problem", paths[name].read_text(encoding="utf-8")))
        if checker.ok:
            steps = [f"({step})" for step in plans[name]]
            assert {label.name for label in all_labels(checker, steps)} == {"success"}
            labelled_plans += 1
    assert labelled_plans >= 10


@pytest.mark.parametrize(
    ("plan", "label"),
    [
        # Known of the evaluator: a closed container is affordance ..
        ("(walk_towards me milk) (grab me milk) (walk_towards me fridge) (put_inside me milk fridge)", "affordance"),
        # .. but grasping out of one is missing.
        ("(walk_towards me egg) (grab me egg)", "missing step"),
        ("(standup me)", "additional step"),
        ("(walk_towards me fridge) (open me fridge) (open me fridge)", "additional step"),
        ("(walk_towards me lamp) (switch_on me lamp) (switch_on me lamp)", "additional step"),
        ("(walk_towards me chair) (sit me chair) (sit me chair)", "additional step"),
        ("(walk_towards me chair) (sit me lamp)", "affordance"),
        ("(walk_towards me milk) (drink me fridge)", "affordance"),
        ("(drink me milk)", "missing step"),
        # Wrong order only if the condition held earlier.
        ("(walk_towards me milk) (walk_towards me fridge) (grab me milk)", "wrong temporal order"),
        ("(grab me milk) (walk_towards me milk)", "missing step"),
        ("(walk_towards me chair) (sit me chair) (walk_towards me milk)", "wrong temporal order"),
        ("(walk_towards me milk) (grab me milk) (put_on me milk milk) (put_on me milk milk)", "wrong temporal order"),
    ],
)
def test_virtualhome_on_its_own_domain(data: Path, plan: str, label: str) -> None:
    domain = Source("domain", (data / "eai-virtualhome/domain/virtualhome.pddl").read_text(encoding="utf-8"))
    problem = """(define (problem p) (:domain virtualhome) (:objects me - character milk egg fridge lamp chair - object)
      (:init (grabbable milk) (grabbable egg) (drinkable milk) (can_open fridge) (closed fridge) (obj_inside egg fridge)
        (has_switch lamp) (off lamp) (plugged_in lamp) (sittable chair)
        (obj_next_to milk milk) (obj_next_to egg egg) (obj_next_to fridge fridge) (obj_next_to chair chair))
      (:goal (obj_inside milk fridge)))"""
    checker = Checker(domain, Source("problem", problem))
    assert checker.ok, checker.diagnostics
    assert eai(checker, plan, "virtualhome")[0] == label


# -- the page ---------------------------------------------------------------------------------------------------------


def test_the_example_of_the_page(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = (root / "docs" / "metrics.md").read_text(encoding="utf-8").partition("## Published labels")[2]
    code, printed = page.split("```python\n")[1].split("```\n```text\n")
    exec(compile(code, "docs/metrics.md", "exec"), {})
    assert capsys.readouterr().out == printed.split("```")[0]
