"""SAFEL's Goal Interpretation: unary and relational recall of goal conditions (section 3.2).

The paper reports recall alone, since "false positives inevitably occur"; here precision and F1 are also computed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from plansafe.llm.metrics.literals import Literal, literals
from plansafe.llm.metrics.shares import Retrieval, mean


@dataclass(frozen=True, slots=True)
class GoalScore:
    """The matched conditions of a goal, by kind.

    ``unary``: literals about at most one object; ``relational``: about two or more; ``compound``: parts that are no
    literals (docs/metrics.md), which the paper does not speak of. ``whole`` is all three.
    """

    unary: Retrieval
    relational: Retrieval
    compound: Retrieval

    @property
    def whole(self) -> Retrieval:
        """All kinds together."""
        return self.unary + self.relational + self.compound

    def __add__(self, other: GoalScore) -> GoalScore:
        """Pooled counts."""
        return GoalScore(self.unary + other.unary, self.relational + other.relational, self.compound + other.compound)


@dataclass(frozen=True, slots=True)
class GoalSummary:
    """Over scenarios: pooled counts (micro), and the means of the scenarios' recalls (macro)."""

    scenarios: int
    pooled: GoalScore
    mean_unary_recall: float | None
    mean_relational_recall: float | None


def score_goal(predicted: str | None, reference: str) -> GoalScore:
    """A predicted goal against the reference, both as PDDL; ``None``: nothing could be read.

    Raises :class:`~plansafe.llm.metrics.literals.NotAFormula` for either text.
    """
    return compare(frozenset() if predicted is None else literals(predicted), literals(reference))


def compare(predicted: frozenset[Literal], reference: frozenset[Literal]) -> GoalScore:
    """Sets of literals: each counts once, however often it was written."""
    parts = [
        Retrieval(
            sum([_kind(literal) == kind for literal in predicted & reference]),
            sum([_kind(literal) == kind for literal in predicted]),
            sum([_kind(literal) == kind for literal in reference]),
        )
        for kind in ("unary", "relational", "compound")
    ]
    return GoalScore(*parts)


def _kind(literal: Literal) -> str:
    if literal.compound:
        return "compound"
    return "relational" if literal.relational else "unary"


def summarise(scores: Iterable[GoalScore]) -> GoalSummary:
    """The scores of many scenarios."""
    all_scores = list(scores)
    nothing = Retrieval(0, 0, 0)
    return GoalSummary(
        len(all_scores),
        sum(all_scores, GoalScore(nothing, nothing, nothing)),
        mean([score.unary.recall for score in all_scores]),
        mean([score.relational.recall for score in all_scores]),
    )
