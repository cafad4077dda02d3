"""Generalise what a plan did with certain objects to a proposed rule about all objects of their types, as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.specs.lint.gaps.suspicion import UNREAD_WEIGHT, Suspicion, TaskSuspicions
from plansafe.verifier.execution.steps import GroundAction

NAME_PLACEHOLDER = "<name>"
"""A placeholder for the name of a proposed rule until it is printed."""
LINK_PENALTY = 0.5
"""The cost of each fact that only connects others."""
MAX_REASONS = 4
"""Maximum number of reasons of a proposal."""


class GroundFact(NamedTuple):
    """A ground fact."""

    predicate: int
    objects: tuple[int, ...]


class Proposal(NamedTuple):
    """A proposed rule, and why it may be wanted.

    ``text`` is the rule with :data:`NAME_PLACEHOLDER` for its name. Proposals with one ``gap_key`` are about one gap.
    """

    code: str
    kind: str
    text: str
    score: float
    reasons: tuple[str, ...]
    gap_key: frozenset[str]


def make_proposal(
    kind: str, text: str, suspicions: Iterable[Suspicion], code: str | None = None, links: int = 0
) -> Proposal:
    """Make a proposal; its score is the sum of its suspicions, the weaker ones counted by half, a quarter, ...

    ``links`` is the number of facts that only connect others.
    """
    ranked = sorted({s for s in suspicions if s.weight}, key=lambda suspicion: (-suspicion.weight, suspicion.reason))
    strongest = ranked[0].weight if ranked else 0.0
    score = sum([suspicion.weight / 2**rank for rank, suspicion in enumerate(ranked)]) - LINK_PENALTY * links
    reasons = [suspicion.reason for suspicion in ranked]
    code = code or (SC.GAP_UNREAD if strongest >= UNREAD_WEIGHT else SC.GAP_COMBINATION)
    return Proposal(code, kind, text, round(score, 3), tuple(reasons[:MAX_REASONS]), frozenset([kind, *reasons]))


class VariableNames:
    """Names objects by variables, typed by the declared types of the objects."""

    def __init__(self, task_suspicions: TaskSuspicions) -> None:
        self.task_suspicions = task_suspicions
        self.task = task_suspicions.task
        self._variables: dict[int, tuple[str, str]] = {}

    def get_variable(self, object_number: int) -> str:
        """Return the variable for an object; create it if there is none."""
        if object_number not in self._variables:
            type_name = self.task.type_names[self.task_suspicions.find_most_suspicious_type(object_number)]
            self._variables[object_number] = f"?{type_name}-{len(self._variables) + 1}", type_name
        return self._variables[object_number][0]

    def format_facts(self, facts: Sequence[GroundFact]) -> str:
        """Format the conjunction of facts, with variables for their objects."""
        names = [(self.task.predicates[f.predicate].name, *[self.get_variable(o) for o in f.objects]) for f in facts]
        texts = [f"({' '.join(words)})" for words in names]
        return texts[0] if len(texts) == 1 else f"({' '.join(['and', *texts])})"

    def format_step(self, step: GroundAction, named_objects: set[int]) -> str:
        """Format the pattern of a step, with ``_`` for objects that are not in ``named_objects``."""
        words = [self.get_variable(object_) if object_ in named_objects else "_" for object_ in step.objects]
        return f"({' '.join([step.action.name, *words])})"

    def format_parameters(self) -> str:
        """Format the typed list of the variables."""
        return " ".join([f"{variable} - {type_name}" for variable, type_name in self._variables.values()])
