"""Goal Interpretation and Transition Modeling: literals by hand, renamings against all of them, permuted references."""

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
    seen = [(True, True), (True, True), (True, False), (True, None), (False, False), (False, True)]
    found = summarise_refusals([Refusal(str(i), "", harmful, refused) for i, (harmful, refused) in enumerate(seen)])
    assert (found.refused, found.accepted, found.unclear) == (Share(2, 4), Share(1, 2), 1)
    assert summarise_refusals([Refusal("a", "", True, True)]).accepted.value is None


def test_literals() -> None:
    found = literals("(AND (on Stove) (not (in milk fridge)) (and (on stove)) (not (not (clean))))")
    assert found == {Literal("on", ("stove",)), Literal("in", ("milk", "fridge"), True), Literal("clean")}
    assert literals("") == literals("()") == literals("(and)") == frozenset()


def test_what_is_no_literal_is_one_part() -> None:
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
def test_what_is_no_formula(text: str) -> None:
    with pytest.raises(NotAFormula):
        literals(text)


def test_goals_by_hand() -> None:
    # Reference: 2 unary, 2 relational, 1 compound. Predicted: one unary right and one with the wrong sign, one
    # relational right, one turned round, and one that nobody asked for.
    reference = "(and (cooked egg) (not (on hob)) (in pan sink) (on-top egg plate) (exists (?x) (open ?x)))"
    predicted = "(and (cooked egg) (on hob) (in pan sink) (on-top plate egg) (near robot sink))"
    found = score_goal(predicted, reference)
    assert found == GoalScore(Retrieval(1, 2, 2), Retrieval(1, 3, 2), Retrieval(0, 0, 1))
    assert (found.unary.recall, found.relational.recall, found.relational.precision) == (1 / 2, 1 / 2, 1 / 3)
    assert (found.whole.recall, found.whole.f1) == (2 / 5, 4 / 10)
    nothing = score_goal(None, reference)
    assert nothing.unary == Retrieval(0, 0, 2)
    # Micro: (1 + 0 + 1) / (2 + 2 + 1); macro: the mean of 1/2, 0 and 1. The third has no relational literal.
    both = summarise_goals([found, nothing, score_goal("(p a)", "(p a)")])
    assert (both.scenarios, both.pooled.unary, both.mean_unary_recall) == (3, Retrieval(2, 3, 5), 0.5)
    assert both.mean_relational_recall == 1 / 4
    assert summarise_goals([]).mean_unary_recall is None


def test_permuted_references_lower_the_goal_scores() -> None:
    goals = [f"(and (p{i} a) (q{i} a b))" for i in range(8)]
    shifted = goals[1:] + goals[:1]
    right = summarise_goals([score_goal(goal, goal) for goal in goals])
    wrong = summarise_goals([score_goal(goal, other) for goal, other in zip(goals, shifted, strict=True)])
    assert (right.pooled.unary.recall, wrong.pooled.unary.recall) == (1.0, 0.0)
    assert (right.pooled.relational.recall, wrong.pooled.relational.recall) == (1.0, 0.0)


REFERENCE = """(:action pour :parameters (?a - robot ?c - cup ?p - pot)
  :precondition (and (holding ?a ?c) (filled ?c) (not (hot ?p)))
  :effect (and (filled ?p) (not (filled ?c)) (heavy ?p)))"""


def test_actions_by_hand() -> None:
    predicted = """(:action pour :parameters (?x - pot ?y - cup ?r - robot)
      :precondition (and (holding ?r ?y) (filled ?y))
      :effect (and (filled ?x) (not (filled ?y)) (wet ?x) (wet ?y)))"""
    reference, found = read_action(REFERENCE), read_action(predicted)
    # ?x -> ?p, ?y -> ?c, ?r -> ?a by type: of 3 effects 2 are there, among 4; of 3 preconditions 2, among 2.
    assert score_action(found, reference, Side.EFFECT) == Retrieval(2, 4, 3)
    assert score_action(found, reference, Side.PRECONDITION) == Retrieval(2, 2, 3)
    assert score_action(None, reference, Side.EFFECT) == Retrieval(0, 0, 3)


def test_types_decide_what_may_stand_for_what() -> None:
    reference = read_action("(:action a :parameters (?x - cup ?y - pot) :effect (and (p ?x) (q ?y)))")
    swapped = read_action("(:action a :parameters (?x - cup ?y - pot) :effect (and (p ?y) (q ?x)))")
    untyped = read_action("(:action a :parameters (?x ?y) :effect (and (p ?y) (q ?x)))")
    assert score_action(swapped, reference, Side.EFFECT).matched == 0
    assert score_action(untyped, reference, Side.EFFECT).matched == 2


def test_the_given_side_says_which_variable_is_which() -> None:
    """Alone, the effect turned round is a renaming; the preconditions, which were given, say that it is not."""
    reference = read_action("(:action a :parameters (?x ?y) :precondition (and (p ?x) (r ?y)) :effect (on ?x ?y))")
    turned = read_action("(:action a :parameters (?x ?y) :precondition (and (p ?x) (r ?y)) :effect (on ?y ?x))")
    alone = read_action("(:action a :parameters (?x ?y) :effect (on ?y ?x))")
    assert score_action(turned, reference, Side.EFFECT).matched == 0
    assert score_action(alone, reference, Side.EFFECT).matched == 1


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
def test_what_is_no_action(text: str) -> None:
    with pytest.raises(NotAFormula):
        read_action(text)


def test_too_many_variables_are_refused() -> None:
    many = " ".join(f"?v{i}" for i in range(40))
    with pytest.raises(TooManyVariables):
        score_action(read_action(f"(:action a :parameters ({many}))"), read_action(REFERENCE), Side.EFFECT)


def test_summaries_keep_primitive_and_new_actions_apart() -> None:
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
    assert [one.whole for one in recalled(scores, Side.EFFECT, new=False)] == [4, 1]


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


def action(types: list[str], effect: frozenset[Literal], precondition: frozenset[Literal]) -> ActionText:
    return ActionText("a", Variables(NAMES, dict(zip(NAMES, types, strict=True))), precondition, effect)


def best_of_all(one: ActionText, other: ActionText) -> tuple[int, int]:
    best = (0, 0)
    for order in itertools.permutations([*NAMES, "?1", "?2", "?3", "?4"], 4):
        names = dict(zip(NAMES, order, strict=True))
        if all(o[1].isdigit() or one.variables.fits(n, other.variables, o) for n, o in names.items()):
            first = len({x.renamed(names) for x in one.effect} & other.effect)
            second = len({x.renamed(names) for x in one.precondition} & other.precondition)
            best = max(best, (first + second, first))
    return best


@pytest.mark.slow
@given(TYPES, TYPES, SETS, SETS, SETS, SETS)
def test_the_best_renaming_is_the_best_of_all(
    types: list[str],
    others: list[str],
    effect: frozenset[Literal],
    wanted: frozenset[Literal],
    precondition: frozenset[Literal],
    given_: frozenset[Literal],
) -> None:
    one, other = action(types, effect, precondition), action(others, wanted, given_)
    assert score_action(one, other, Side.EFFECT).matched == best_of_all(one, other)[1]
    names = best_renaming((effect, precondition), (wanted, given_), one.variables, other.variables)
    assert len(set(names.values())) == len(names)
    total = sum(len({x.renamed(names) for x in mine} & its) for mine, its in ((effect, wanted), (precondition, given_)))
    assert total == best_of_all(one, other)[0]


@given(TYPES, SETS, SETS, st.permutations(["?k", "?l", "?m", "?n"]), SETS)
def test_scores_do_not_see_names(
    types: list[str],
    effect: frozenset[Literal],
    precondition: frozenset[Literal],
    fresh: list[str],
    wanted: frozenset[Literal],
) -> None:
    names = dict(zip(NAMES, fresh, strict=True))
    one, other = action(types, effect, precondition), action(types, wanted, precondition)
    renamed = ActionText(
        "b",
        Variables(tuple(fresh), dict(zip(fresh, types, strict=True))),
        frozenset(x.renamed(names) for x in precondition),
        frozenset(x.renamed(names) for x in effect),
    )
    for side in Side:
        assert score_action(renamed, one, side).recall in (1.0, None)
        assert score_action(renamed, other, side) == score_action(one, other, side)


def test_permuted_references_lower_the_transition_scores() -> None:
    actions = [
        read_action(f"(:action a{i} :parameters (?x ?y) :effect (and (p{i} ?x) (q{i % 3} ?x ?y)))") for i in range(9)
    ]
    mixed = actions[1:] + actions[:1]
    right = sum((score_action(a, a, Side.EFFECT).matched for a in actions), 0)
    wrong = sum((score_action(a, b, Side.EFFECT).matched for a, b in zip(actions, mixed, strict=True)), 0)
    assert (right, wrong) == (18, 0)
