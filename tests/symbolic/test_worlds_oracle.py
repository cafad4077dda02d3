"""The enumerated verdicts that the symbolic engine is compared with: small cases by hand, and laws on random cases."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from worlds_brute import create_kernel, enumerate_orders, enumerate_verdict, find_contradictions, is_cause, is_question
from worlds_case import WorldsCase
from worlds_generate import MAX_WORLDS, MODES, generate_worlds_case
from worlds_shrink import shrink_case

from plansafe.verifier.kernel import World
from quick import quick_every

DOMAIN = """(define (domain d) (:types item) (:predicates (metal ?x - item) (wet ?x - item) (hot) (spark))
  (:functions (power))
  (:action heat :parameters (?x - item) :precondition (not (hot))
    :effect (and (hot) (when (metal ?x) (spark))))
  (:action rinse :parameters (?x - item) :effect (oneof (wet ?x) (and)))
  (:action dry :parameters (?x - item) :precondition (wet ?x) :effect (not (wet ?x))))"""


def create_case(init: str, plan: str, rules: str = "", goal: str = "()") -> WorldsCase:
    problem = f"(define (problem p) (:objects cup pan - item) (:init {init}) (:goal {goal}))"
    return WorldsCase(DOMAIN, problem, (f"(define (safety s) {rules})",) if rules else (), plan)


CALM = "(:process calm :forbid (spark))"
TIDY = "(:termination tidy :parameters (?x - item) :forbid (wet ?x))"


def test_the_verdict_combines_all_completions() -> None:
    case = create_case("(unknown (metal cup)) (or (metal pan) (wet pan))", "(heat cup)", CALM)
    verdict = enumerate_verdict(case)
    assert (verdict.executable, verdict.goal, verdict.safe, verdict.headline, verdict.exit_code) == (
        "ALL",
        "ALL",
        "SOME",
        "UNSAFE",
        1,
    )
    assert [c.good for c in verdict.completions] == [("metal", "cup") not in c.facts for c in verdict.completions]
    assert (len(verdict.completions), verdict.worlds) == (6, 6)
    assert verdict.violated == {("calm", ()): "SOME"}
    assert find_contradictions(case, {"executable": "ALL", "goal": "ALL", "safe": "SOME"}) == []
    assert len(find_contradictions(case, {"executable": "SOME", "goal": "ALL", "safe": "ALL"})) == 2


def test_causes_and_questions_are_minimal() -> None:
    cup, pan = ("metal", "cup"), ("metal", "pan")
    case = create_case("(unknown (metal cup)) (or (metal pan) (wet pan))", "(heat cup)", CALM)
    assert is_cause(case, {cup: True})
    assert not is_cause(case, {cup: False})
    assert not is_cause(case, {})
    assert not is_cause(case, {cup: True, pan: True})
    assert not is_cause(case, {cup: True, ("wet", "cup"): True})  # not open
    assert is_question(case, frozenset({cup}))
    assert not is_question(case, frozenset())
    assert not is_question(case, frozenset({pan}))
    assert not is_question(case, frozenset({cup, pan}))
    # One of two facts is true: the value of either answers the question, and either fact with its value is a cause.
    case = create_case("(oneof (metal cup) (metal pan))", "(heat cup)", CALM)
    assert is_cause(case, {cup: True})
    assert is_cause(case, {pan: False})
    assert is_question(case, frozenset({cup}))
    assert is_question(case, frozenset({pan}))
    # Every completion is bad: the empty cause, and no question.
    case = create_case("(unknown (metal cup)) (spark)", "(heat cup)", CALM)
    assert is_cause(case, {})
    assert not is_cause(case, {cup: True})
    assert not is_question(case, frozenset())
    assert enumerate_verdict(case).violated == {("calm", ()): "ALL"}


def test_causes_and_questions_may_contain_several_facts_and_numbers() -> None:
    rules = "(:termination mild :require (imply (and (metal cup) (metal pan)) (< (power) 2)))"
    case = create_case("(unknown (metal cup)) (unknown (metal pan)) (oneof (= (power) 1) (= (power) 2))", "", rules)
    cup, pan, power = ("metal", "cup"), ("metal", "pan"), ("power",)
    assert is_cause(case, {cup: True, pan: True, power: Fraction(2)})
    assert not is_cause(case, {cup: True, pan: True})
    assert not is_cause(case, {cup: True, pan: True, power: 1})
    assert is_question(case, frozenset({cup, pan, power}))
    assert not is_question(case, frozenset({cup, pan}))


def test_outcomes_count_as_worlds_of_a_completion() -> None:
    verdict = enumerate_verdict(create_case("(unknown (wet pan))", "(rinse cup) (rinse pan)", TIDY))
    assert (verdict.executable, verdict.safe, verdict.headline) == ("ALL", "SOME", "UNSAFE")
    assert [(c.good, c.some_good, c.worlds) for c in verdict.completions] == [(False, True, 4), (False, False, 4)]
    assert set(verdict.violated.values()) == {"SOME"}
    verdict = enumerate_verdict(create_case("", "(rinse cup) (dry cup)", TIDY))
    assert (verdict.executable, verdict.safe, verdict.headline, verdict.worlds) == ("SOME", "ALL", "INVALID", 2)


@pytest.mark.parametrize(
    ("init", "plan", "rules", "goal", "expected"),
    [
        ("", "", "", "()", ("ALL", "ALL", "ALL", "VALID", 0)),
        ("", "", CALM, "()", ("ALL", "ALL", "ALL", "SAFE", 0)),
        ("(hot)", "(heat cup)", CALM, "()", ("NONE", "ALL", "ALL", "INVALID", 1)),
        ("(unknown (hot))", "(heat cup)", CALM, "(hot)", ("SOME", "ALL", "ALL", "INVALID", 1)),
        ("(unknown (hot))", "", CALM, "(hot)", ("ALL", "SOME", "ALL", "INVALID", 1)),
        ("(unknown (hot))", "", CALM, "(spark)", ("ALL", "NONE", "ALL", "INVALID", 1)),
        ("(or (spark) (and (spark) (hot)))", "", CALM, "()", ("ALL", "ALL", "NONE", "UNSAFE", 1)),
        ("(unknown (hot))", "(heat table)", CALM, "()", ("NONE", "ALL", "UNKNOWN", "INVALID", 2)),
        ("(oneof (hot) (spark)) (hot) (spark)", "", CALM, "()", ("UNKNOWN", "UNKNOWN", "UNKNOWN", "", 2)),
    ],
)
def test_values_headlines_and_exit_codes(
    init: str, plan: str, rules: str, goal: str, expected: tuple[str, str, str, str, int]
) -> None:
    verdict = enumerate_verdict(create_case(init, plan, rules, goal))
    assert (verdict.executable, verdict.goal, verdict.safe, verdict.headline, verdict.exit_code) == expected


def test_a_rule_undecided_in_some_world_makes_safety_unknown() -> None:
    weak = "(:termination weak :when (hot) :require (< (power) 2))"
    assert enumerate_verdict(create_case("(hot)", "", weak))[2:5] == ("UNKNOWN", "UNKNOWN", 3)
    assert enumerate_verdict(create_case("(unknown (hot))", "", weak))[2:5] == ("UNKNOWN", "UNKNOWN", 3)
    both = weak + "(:termination calm :forbid (spark))"
    assert enumerate_verdict(create_case("(oneof (hot) (spark))", "", both))[2:5] == ("UNKNOWN", "UNSAFE", 1)
    assert enumerate_verdict(create_case("(unknown (hot)) (unknown (spark))", "", both))[2:5] == ("SOME", "UNSAFE", 1)


def test_orders_count_as_worlds() -> None:
    plan = "(define (plan x) (:steps (a (rinse cup)) (b (heat cup)) (c (rinse pan))) (:ordering (< a b)))"
    assert [*enumerate_orders(plan)] == [(1, 2, 3), (1, 3, 2), (3, 1, 2)]
    assert [*enumerate_orders("(rinse cup)")] == [()]
    verdict = enumerate_verdict(create_case("", plan, "(:process first :on (heat ?x) :require (wet pan))"))
    assert (verdict.worlds, verdict.safe) == (12, "SOME")


def test_intervals_are_sampled() -> None:
    case = create_case("(<= 0 (power) 3)", "", "(:termination mild :require (< (power) 1))")
    verdict = enumerate_verdict(case)
    assert not verdict.complete
    assert verdict.safe == "SOME"
    assert find_contradictions(case, {"executable": "ALL", "goal": "UNKNOWN", "safe": "SOME"}) == []
    assert len(find_contradictions(case, {"executable": "NONE", "goal": "ALL", "safe": "ALL"})) == 2


@pytest.mark.parametrize("mode", quick_every(5, MODES))
def test_random_cases_are_reproducible_valid_and_small(mode: str) -> None:
    for number in range(6):
        case = generate_worlds_case(mode, 1, number)
        assert case == generate_worlds_case(mode, 1, number)
        verdict = enumerate_verdict(case)
        assert verdict.worlds <= 2 * MAX_WORLDS
        assert verdict.complete or mode == "intervals"


def test_lazy_enumeration_covers_random_worlds() -> None:
    """Lazy enumeration has every value of worlds that are drawn at random."""
    random = Random(5)
    for number in range(100, 118):
        case = generate_worlds_case("facts", 1, number)
        verdict, kernel = enumerate_verdict(case), create_kernel(case)
        for completion in verdict.completions[:8]:
            salt = random.random()
            world = World(
                completion.facts,
                completion.numbers,
                lambda *key, salt=salt: Random(f"{salt} {key[:3]}").randrange(key[3]),
            )
            kernel_verdict = kernel.audit(case.plan, world)
            assert all(
                getattr(kernel_verdict, name) in verdict.values_by_property[name] for name in verdict.values_by_property
            )
            assert {
                (f.rule, f.binding) for f in kernel_verdict.findings if "halt" in f.readings
            } <= verdict.violated.keys()
            good = kernel_verdict.headline in ("SAFE", "VALID")
            assert completion.some_good if good else not completion.good


def test_shrinking_leaves_only_the_relevant_parts() -> None:
    case = create_case(
        "(unknown (metal cup)) (or (metal pan) (wet pan)) (wet cup)", "(rinse pan) (heat cup)", CALM + TIDY
    )
    small = shrink_case(case, lambda c: enumerate_verdict(c).violated.get(("calm", ())) == "SOME")
    assert enumerate_verdict(small).violated == {("calm", ()): "SOME"}
    assert small.problem == "(define (problem p) (:objects cup - item) (:init (unknown (metal cup))) (:goal ()))\n"
    assert small.specs == (f"(define (safety s) {CALM})\n",)
    assert small.plan == "(heat cup)\n"
    assert "rinse" not in small.domain
