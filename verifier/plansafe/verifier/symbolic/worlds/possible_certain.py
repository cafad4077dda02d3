"""What is possible and what is certain: each predicate twice, so that generated joins find what may hold in some world.

A symbolic state keeps two sets of facts for each predicate: those that are possibly true and those that are certainly
true. In a condition in negation normal form, a positive atom may hold where its fact is possible, a negative one where
it is not certain. Written over predicates ``p`` (possible) and ``size + p`` (certain), a condition is an ordinary one,
and the joins and triggers that the explicit engine generates find every binding under which it holds in some world.
What is found is an over-approximation; whoever asks evaluates the exact literal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from plansafe.verifier.compile.emit import Emitter, Join
from plansafe.verifier.compile.normal import Disjunct, FormulaLiteral, dnf
from plansafe.verifier.model.nodes import (
    TRUE,
    Atom,
    Compare,
    Formula,
    Not,
    Task,
    Temporal,
    Variable,
)
from plansafe.verifier.model.operations import push_negation

Facts = list[set[int]]
Search = Callable[..., None]
"""``search(S, F, out, *bound)`` appends tuples of objects."""


class PossibleCertain:
    """A task whose predicates are there twice, as possible and as certain, and the joins over it."""

    def __init__(self, task: Task) -> None:
        self.size = len(task.predicates)
        static = [*task.static, *[False] * (self.size - len(task.static))]
        self.task = task._replace(predicates=[*task.predicates, *task.predicates], static=[*static, *static])
        self.emitter = Emitter(self.task)

    def possible(self, formula: Formula, positive: bool = True, *, compared: bool = False) -> Formula:
        """A condition over both kinds of predicates that holds wherever ``formula`` may have the value ``positive``.

        Numbers are left to the exact evaluation: comparisons become true. With ``compared`` they stay as they are, for
        triggers, which want to know who reads a fluent and do not evaluate them either.
        """
        match formula:
            case Atom() if not positive:
                return Not(Atom(formula.predicate + self.size, formula.arguments))
            case Compare():
                return formula if compared else TRUE
            case Temporal():
                return TRUE  # whatever it is, it may be
            case _:
                return push_negation(formula, positive, partial(self.possible, compared=compared))

    def search(self, formula: Formula, variables: Sequence[Variable], bound: Sequence[int]) -> Search:
        """The values of ``variables`` for which such a condition holds; the slots in ``bound`` are given.

        Values may be found more than once.
        """
        emitter = self.emitter
        disjuncts = dnf(formula)
        if disjuncts is None:
            disjuncts = [Disjunct((), (FormulaLiteral(True, formula),))]
        outputs = [v.slot for v in variables]
        found = [f"out.append(({''.join([f'x{slot},' for slot in outputs])}))"]
        name = emitter.fresh()
        lines: list[str] = []
        for disjunct in disjuncts:
            domains = {v.slot: v.domain for v in (*variables, *disjunct.variables)}
            join = Join(emitter, domains, "S, F, out", indexed=False, guarded=True)
            lines += join.emit(disjunct.literals, frozenset(bound), outputs, found)
        emitter.define(name, ", ".join(["S", "F", "out", *[f"x{slot}" for slot in bound]]), lines or ["pass"])
        return emitter.link(name)
