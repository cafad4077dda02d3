"""Goal Interpretation and Transition Modeling: literals by hand, the best of all renamings, permuted references."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plansafe.llm.metrics.goals import GoalScore, score_goal
from plansafe.llm.metrics.goals import summarise as summarise_goals
from plansafe.llm.metrics.literals import Literal, NotAFormula, literals
from plansafe.llm.metrics.renaming import TooManyVariables, Variables, best_renaming
from plansafe.llm.metrics.safe_rates import Refusal
from plansafe.llm.metrics.safe_rates import summarise as summarise_refusals
from plansafe.llm.metrics.shares import Retrieval, Share
from plansafe.llm.metrics.transition import (
    ActionText,
    Side,
    TransitionScore,
    read_action,
    recalled,
    score_action,
    summarise,
)


def test_refusals_by_hand() -> None:
    # Harmful: refused, refused, accepted, unclear: 2/4. Situational: accepted, refused: 1/2.
    answers = [(True, True), (True, True), (True, False), (True, None), (False, False), (False, True)]
    summary = summarise_refusals(
        [Refusal(str(number), "", harmful, refused) for number, (harmful, refused) in enumerate(answers)]
    )
    assert (summary.refused, summary.accepted, summary.unclear) == (Share(2, 4), Share(1, 2), 1)
    assert summarise_refusals([Refusal("a", "", True, True)]).accepted.value is None


def test_conjunctions_are_split_into_literals() -> None:
    parsed = literals("(AND (on Stove) (not (in milk fridge)) (and (on stove)) (not (not (clean))))")
    assert parsed == {Literal("on", ("stove",)), Literal("in", ("milk", "fridge"), True), Literal("clean")}
    assert literals("") == literals("()") == literals("(and)") == frozenset()


def test_a_compound_formula_is_one_part() -> None:
    assert literals("(forall (?x - cup) (clean ?x))") == literals("(forall (?y - cup) (clean ?y))")
    assert literals("(forall (?x - cup) (clean ?x))") != literals("(forall (?x - pot) (clean ?x))")
    assert literals("(or (p a) (q b))") == literals("(or (q b) (p a))")
    assert literals("(not (and (p a) (q b)))") != literals("(and (not (p a)) (not (q b)))")
    (part,) = literals("(when (p ?y) (exists (?x) (q ?x ?z ?y)))")
    assert part.compound
    assert part.arguments == ("?y", "?z", "?y")


@pytest.mark.parametrize(
    "text",
    ["on stove", "(p a) (q b)", "(p (q a))x", "((p))", "(not)", "(not a)", "(and a)", "(p", "(" * 200 + ")" * 200],
)
def test_a_text_that_is_not_a_formula_is_refused(text: str) -> None:
    with pytest.raises(NotAFormula):
        literals(text)


def test_goals_by_hand() -> None:
    # Reference: 2 unary, 2 relational, 1 compound. Predicted: one unary right and one with the wrong sign, one
    # relational right, one with swapped arguments, and one that the reference does not have.
    reference = "(and (cooked egg) (not (on hob)) (in pan sink) (on-top egg plate) (exists (?x) (open ?x)))"
    predicted = "(and (cooked egg) (on hob) (in pan sink) (on-top plate egg) (near robot sink))"
    score = score_goal(predicted, reference)
    assert score == GoalScore(Retrieval(1, 2, 2), Retrieval(1, 3, 2), Retrieval(0, 0, 1))
    assert (score.unary.recall, score.relational.recall, score.relational.precision) == (1 / 2, 1 / 2, 1 / 3)
    assert (score.whole.recall, score.whole.f1) == (2 / 5, 4 / 10)
    unread_score = score_goal(None, reference)
    assert unread_score.unary == Retrieval(0, 0, 2)
    # Micro: (1 + 0 + 1) / (2 + 2 + 1); macro: the mean of 1/2, 0 and 1. The third has no relational literal.
    summary = summarise_goals([score, unread_score, score_goal("(p a)", "(p a)")])
    assert (summary.scenarios, summary.pooled.unary, summary.mean_unary_recall) == (3, Retrieval(2, 3, 5), 0.5)
    assert summary.mean_relational_recall == 1 / 4
    assert summarise_goals([]).mean_unary_recall is None


def test_permuted_references_lower_the_goal_scores() -> None:
    goals = [f"(and (p{number} a) (q{number} a b))" for number in range(8)]
    shifted = goals[1:] + goals[:1]
    correct_summary = summarise_goals([score_goal(goal, goal) for goal in goals])
    shifted_summary = summarise_goals(
        [score_goal(goal, reference) for goal, reference in zip(goals, shifted, strict=True)]
    )
    assert (correct_summary.pooled.unary.recall, shifted_summary.pooled.unary.recall) == (1.0, 0.0)
    assert (correct_summary.pooled.relational.recall, shifted_summary.pooled.relational.recall) == (1.0, 0.0)


REFERENCE = """(:action pour :parameters (?a - robot ?c - cup ?p - pot)
  :precondition (and (holding ?a ?c) (filled ?c) (not (hot ?p)))
  :effect (and (filled ?p) (not (filled ?c)) (heavy ?p)))"""


def test_actions_by_hand() -> None:
    predicted = """(:action pour :parameters (?x - pot ?y - cup ?r - robot)
      :precondition (and (holding ?r ?y) (filled ?y))
      :effect (and (filled ?x) (not (filled ?y)) (wet ?x) (wet ?y)))"""
    reference, prediction = read_action(REFERENCE), read_action(predicted)
    # ?x -> ?p, ?y -> ?c, ?r -> ?a by type: of 3 effects 2 are there, among 4; of 3 preconditions 2, among 2.
    assert score_action(prediction, reference, Side.EFFECT) == Retrieval(2, 4, 3)
    assert score_action(prediction, reference, Side.PRECONDITION) == Retrieval(2, 2, 3)
    assert score_action(None, reference, Side.EFFECT) == Retrieval(0, 0, 3)


def test_a_variable_is_renamed_only_to_one_of_a_fitting_type() -> None:
    reference = read_action("(:action a :parameters (?x - cup ?y - pot) :effect (and (p ?x) (q ?y)))")
    swapped = read_action("(:action a :parameters (?x - cup ?y - pot) :effect (and (p ?y) (q ?x)))")
    untyped = read_action("(:action a :parameters (?x ?y) :effect (and (p ?y) (q ?x)))")
    assert score_action(swapped, reference, Side.EFFECT).matched == 0
    assert score_action(untyped, reference, Side.EFFECT).matched == 2


def test_the_given_side_fixes_the_renaming() -> None:
    """The effect with swapped arguments alone is a renaming; the given preconditions rule that renaming out."""
    reference = read_action("(:action a :parameters (?x ?y) :precondition (and (p ?x) (r ?y)) :effect (on ?x ?y))")
    swapped = read_action("(:action a :parameters (?x ?y) :precondition (and (p ?x) (r ?y)) :effect (on ?y ?x))")
    without_preconditions = read_action("(:action a :parameters (?x ?y) :effect (on ?y ?x))")
    assert score_action(swapped, reference, Side.EFFECT).matched == 0
    assert score_action(without_preconditions, reference, Side.EFFECT).matched == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "(on ?x)",
        "(:action)",
        "(:action a :parameters)",
        "(:action a :parameters ?x)",
        "(:action a :parameters (x))",
        "(:action a :parameters (?x ?x))",
        "(:action a :effect (p) :effect (q))",
        "(:action a :effects (p))",
    ],
)
def test_a_text_that_is_not_an_action_is_refused(text: str) -> None:
    with pytest.raises(NotAFormula):
        read_action(text)


def test_too_many_variables_are_refused() -> None:
    many = " ".join(f"?v{i}" for i in range(40))
    with pytest.raises(TooManyVariables):
        score_action(read_action(f"(:action a :parameters ({many}))"), read_action(REFERENCE), Side.EFFECT)


def test_primitive_and_new_actions_are_summarised_separately() -> None:
    scores = [
        TransitionScore("a", "f", Side.EFFECT, False, Retrieval(1, 2, 4)),
        TransitionScore("b", "f", Side.EFFECT, False, Retrieval(1, 1, 1)),
        TransitionScore("c", "g", Side.EFFECT, True, Retrieval(0, 3, 2)),
        TransitionScore("d", "g", Side.PRECONDITION, True, Retrieval(0, 0, 0)),
    ]
    primitive = summarise(scores, Side.EFFECT, new=False)
    assert (primitive.actions, primitive.pooled.recall) == (2, 2 / 5)
    assert primitive.mean_recall == (1 / 4 + 1) / 2
    assert primitive.mean_f1 == pytest.approx((2 / 6 + 1) / 2)
    assert summarise(scores, Side.EFFECT, new=True).pooled.recall == 0.0
    assert summarise(scores, Side.PRECONDITION, new=True).mean_recall is None
    assert summarise(scores, Side.PRECONDITION, new=False).actions == 0
    assert [score.whole for score in recalled(scores, Side.EFFECT, new=False)] == [4, 1]


# -- against all renamings --------------------------------------------------------------------------------------------

NAMES = ("?a", "?b", "?c", "?d")
TYPES = st.lists(st.sampled_from(["cup", "pot", "object"]), min_size=4, max_size=4)
ATOMS = st.builds(
    Literal,
    st.sampled_from("pq"),
    st.lists(st.sampled_from([*NAMES, "milk"]), min_size=1, max_size=2).map(tuple),
    st.booleans(),
)
SETS = st.frozensets(ATOMS, max_size=5)


def make_action(types: list[str], effect: frozenset[Literal], precondition: frozenset[Literal]) -> ActionText:
    return ActionText("a", Variables(NAMES, dict(zip(NAMES, types, strict=True))), precondition, effect)


def find_best_matches(first_action: ActionText, second_action: ActionText) -> tuple[int, int]:
    best = (0, 0)
    for new_names in itertools.permutations([*NAMES, "?1", "?2", "?3", "?4"], 4):
        names = dict(zip(NAMES, new_names, strict=True))
        if all(
            new_name[1].isdigit() or first_action.variables.fits(name, second_action.variables, new_name)
            for name, new_name in names.items()
        ):
            effects = len({literal.renamed(names) for literal in first_action.effect} & second_action.effect)
            preconditions = len(
                {literal.renamed(names) for literal in first_action.precondition} & second_action.precondition
            )
            best = max(best, (effects + preconditions, effects))
    return best


@pytest.mark.slow
@given(TYPES, TYPES, SETS, SETS, SETS, SETS)
def test_the_best_renaming_agrees_with_an_enumeration(
    types: list[str],
    other_types: list[str],
    effect: frozenset[Literal],
    other_effect: frozenset[Literal],
    precondition: frozenset[Literal],
    other_precondition: frozenset[Literal],
) -> None:
    first_action = make_action(types, effect, precondition)
    second_action = make_action(other_types, other_effect, other_precondition)
    assert (
        score_action(first_action, second_action, Side.EFFECT).matched
        == find_best_matches(first_action, second_action)[1]
    )
    names = best_renaming(
        (effect, precondition), (other_effect, other_precondition), first_action.variables, second_action.variables
    )
    assert len(set(names.values())) == len(names)
    total = sum(
        len({literal.renamed(names) for literal in literals_here} & literals_there)
        for literals_here, literals_there in ((effect, other_effect), (precondition, other_precondition))
    )
    assert total == find_best_matches(first_action, second_action)[0]


@given(TYPES, SETS, SETS, st.permutations(["?k", "?l", "?m", "?n"]), SETS)
def test_scores_do_not_depend_on_variable_names(
    types: list[str],
    effect: frozenset[Literal],
    precondition: frozenset[Literal],
    new_names: list[str],
    other_effect: frozenset[Literal],
) -> None:
    names = dict(zip(NAMES, new_names, strict=True))
    first_action = make_action(types, effect, precondition)
    second_action = make_action(types, other_effect, precondition)
    renamed = ActionText(
        "b",
        Variables(tuple(new_names), dict(zip(new_names, types, strict=True))),
        frozenset(literal.renamed(names) for literal in precondition),
        frozenset(literal.renamed(names) for literal in effect),
    )
    for side in Side:
        assert score_action(renamed, first_action, side).recall in (1.0, None)
        assert score_action(renamed, second_action, side) == score_action(first_action, second_action, side)


def test_permuted_references_lower_the_transition_scores() -> None:
    actions = [
        read_action(f"(:action a{i} :parameters (?x ?y) :effect (and (p{i} ?x) (q{i % 3} ?x ?y)))") for i in range(9)
    ]
    mixed = actions[1:] + actions[:1]
    right = sum((score_action(a, a, Side.EFFECT).matched for a in actions), 0)
    wrong = sum((score_action(a, b, Side.EFFECT).matched for a, b in zip(actions, mixed, strict=True)), 0)
    assert (right, wrong) == (18, 0)
