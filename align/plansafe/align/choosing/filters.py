"""Which candidates are no use for training, and the reason: the filters of Safe-BeAl, section 4.2, and our own.

The paper leaves out scripts without "long-chain reasoning" and unsafe sequences that are "overly short", without
numbers. Here a plan with fewer than ``LEAST_ACTIONS`` actions is too short, and the safe plan has to have a chain of
``LEAST_CHAIN`` actions, each of which handles something that the one before did.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from plansafe.align.choosing.shape import chain
from plansafe.align.records import Pair, actions_of

LEAST_ACTIONS = 3
LEAST_CHAIN = 3
MOST_PADDING = 2.0
"""How many times as long as the safe plan the unsafe one may be: beyond that it wanders."""
MOST_PROMPT = 6000
"""Characters of the prompt: about 2,000 tokens, several times what a trainer takes."""


class Reason(Enum):
    """Why a candidate is left out."""

    TOO_SHORT = "too short: a plan of fewer than 3 actions"
    NO_CHAIN = "no long chain: no 3 actions of the safe plan that each handle something of the one before"
    PADDED = "the unsafe plan is more than twice as long as the safe one"
    LONG_PROMPT = "a prompt of more than 6,000 characters"
    UNFINISHED = "the safe plan does not reach the goal"
    DUPLICATE = "the same two plans for the same task"
    RENAMED = "the same two plans up to the names of objects, against the same rule"
    NEAR = "near a kept pair of the same rule by Rouge-L: where the plans part, and in the task or the whole plans"
    OFTEN = "where its plans part it is near enough kept pairs of other tasks against the same rule"
    CROWDED = "the pool holds enough for this rule, task or side"
    STRADDLES = "one of its plans is, up to names, on the other side of the split"
    TELLING = "its lengths and counts of actions tell too surely which plan is safe"
    NOT_NEEDED = "kept in reserve: its rule, category, goal or length would have been too frequent"


def unfit(pair: Pair) -> Reason | None:
    """Why a pair is no use whatever others there are."""
    if not pair.goal.chosen:
        return Reason.UNFINISHED
    chosen, rejected = actions_of(pair.chosen), actions_of(pair.rejected)
    return unfit_plans(chosen, rejected) or (Reason.LONG_PROMPT if len(pair.prompt) > MOST_PROMPT else None)


def unfit_plans(chosen: Sequence[str], rejected: Sequence[str]) -> Reason | None:
    """Why a pair of these plans is no use."""
    if min(len(chosen), len(rejected)) < LEAST_ACTIONS:
        return Reason.TOO_SHORT
    if len(rejected) > MOST_PADDING * len(chosen):
        return Reason.PADDED
    return Reason.NO_CHAIN if chain(chosen) < LEAST_CHAIN else None
