"""A task while rules are compiled into it: the new predicates, effects, conditions and goals, and how they are made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import NamedTuple

from plansafe.verifier.compile.normal_forms import dnf
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.model.nodes import (
    TRUE,
    Action,
    And,
    Atom,
    Effect,
    Formula,
    Not,
    Predicate,
    Variable,
    variable,
)
from plansafe.verifier.model.operations import (
    atoms_in,
    bound_variables,
    free_slots,
    substitute,
)
from plansafe.verifier.planning.simplification import fold_constants
from plansafe.verifier.planning.trace_automata import MAX_TICKS, CannotCompile


class FormulaReading(NamedTuple):
    """How a part's formulas are read: the domains of its variables, and whether by the actions that are taken."""

    domains: dict[int, Variable]
    acting: bool
    bits: dict[tuple[object, ...], Formula]
    """Past subformulas already compiled, by structure, with their value while a letter is read."""
    settled: dict[tuple[object, ...], Formula]
    """.. and their value afterwards."""
    early: FormulaReading | None = None
    """How the parts that mention no action are read, where actions read the whole."""


class ActionEffect(NamedTuple):
    """An effect whose condition mentions action facts: whether it happens when an action is taken, and at the end."""

    effect: Effect
    taken: bool
    final: bool


class TaskDraft:
    """A task in the making. What reads a letter is ``observed``, or an effect of the action of that letter."""

    def __init__(self, engine: Engine) -> None:
        task = engine.task
        self.initial = engine.initial()
        self.source = task._replace(initial_fluents=self.initial.fluents)
        self.action_predicates = frozenset(engine.action_predicates.values())
        self.action_of = {
            p: task.actions[name] for (kind, name), p in engine.action_predicates.items() if kind == "start"
        }
        self.predicates = list(task.predicates)
        self.true_at_start: set[int] = set()  # new predicates without arguments that hold in the initial state
        self.observed: list[Effect] = []
        self.acting: list[ActionEffect] = []
        self.finishing: list[Effect] = []
        self.goal: list[Formula] = []
        self.conditions: dict[str, list[Formula]] = {name: [] for name in task.actions}
        self.effects: dict[str, list[Effect]] = {name: [] for name in task.actions}
        self.touching: set[str] = set()
        self.stepwise = False
        self.safe: int | None = None
        self.slots = count(1 + max([v.slot for a in task.actions.values() for v in _variables(a)], default=0))
        self.clocks: dict[bool, list[int]] = {False: [], True: []}

    def predicate(self, name: str, variables: Sequence[Variable] = ()) -> int:
        """Add a predicate."""
        self.predicates.append(Predicate(name, ((0,),) * len(variables), tuple([v.domain for v in variables]), None))
        return len(self.predicates) - 1

    def acts(self, formula: Formula) -> bool:
        """Whether a formula mentions an action."""
        return any([atom.predicate in self.action_predicates for atom in atoms_in(formula)])

    def violation(self, variables: Iterable[Variable], condition: Formula) -> list[Effect]:
        """Effects by which a trace is unsafe from a letter on where ``condition`` holds."""
        if self.safe is None:
            self.safe = self.predicate("safe")
        return self.when(variables, condition, (), (Atom(self.safe, ()),))

    def when(
        self, variables: Iterable[Variable], condition: Formula, adds: tuple[Atom, ...], deletes: tuple[Atom, ...]
    ) -> list[Effect]:
        """Effects that happen for every binding under which ``condition`` holds, each with a conjunction."""
        condition = fold_constants(self.source, self.apart(condition))
        used = free_slots(condition) | {-1 - a for atom in (*adds, *deletes) for a in atom.arguments if a < 0}
        bound = tuple([v for v in variables if v.slot in used])
        disjuncts = dnf(condition)
        if disjuncts is None:
            return [Effect(bound, condition, adds, deletes, ())]
        out = []
        for disjunct in disjuncts:
            literals = tuple([lit.formula if lit.positive else Not(lit.formula) for lit in disjunct.literals])
            out.append(
                Effect(
                    (*bound, *disjunct.variables), fold_constants(self.source, And(literals)) if literals else TRUE,
                    adds, deletes, (),
                )
            )  # fmt: skip
        return out

    def apart(self, formula: Formula) -> Formula:
        """The formula with quantified variables of its own: copies of it may be joined."""
        values = {v.slot: variable(next(self.slots)) for v in bound_variables(formula)}
        return substitute(formula, values) if values else formula

    def emit(self, reading: FormulaReading, effects: list[Effect], final: bool = True) -> None:
        """Let effects happen whenever a letter is read; unless ``final``, those at the last letter do not matter."""
        if reading.acting:
            self.acting += [ActionEffect(effect, True, final) for effect in effects]
        else:
            self.observed += effects

    def static(self, atom: Atom) -> bool:
        """Whether no action changes a predicate of the original task."""
        return atom.predicate < len(self.source.static) and self.source.static[atom.predicate] and (
            atom.predicate not in self.action_predicates
        )  # fmt: skip

    def before(self, letter: int, acting: bool) -> Atom:
        """A fact that holds while letters up to (and with) the given one are read."""
        if letter > MAX_TICKS:
            raise CannotCompile(f"a bound of more than {MAX_TICKS} steps")
        clock = self.clocks[acting]
        while len(clock) <= letter:
            clock.append(self.predicate(f"up-to-{len(clock)}"))
            self.true_at_start.add(clock[-1])
        return Atom(clock[letter], ())

    def remembered(self, name: str, formula: Formula, reading: FormulaReading) -> tuple[list[Variable], Atom]:
        """A new predicate over a formula's free variables."""
        about = [reading.domains[slot] for slot in sorted(free_slots(formula))]
        return about, Atom(self.predicate(name, about), tuple([variable(v.slot) for v in about]))

    def tick(self) -> None:
        """Letter k takes away ``up-to-k``, the first that still holds."""
        for acting, clock in self.clocks.items():
            for letter, predicate in enumerate(clock):
                own = Atom(predicate, ())
                passed: Formula = Not(Atom(clock[letter - 1], ())) if letter else TRUE
                self.emit(
                    FormulaReading({}, acting, {}, {}),
                    [Effect((), fold_constants(self.source, And((own, passed))), (), (own,), ())],
                )


def unconditional_effect(adds: tuple[Atom, ...], deletes: tuple[Atom, ...]) -> Effect:
    """An effect without a condition."""
    return Effect((), TRUE, adds, deletes, ())


def _variables(action: Action) -> list[Variable]:
    """All variables of an action."""
    out = list(action.parameters)
    for formula in action.start.condition:
        out += bound_variables(formula)
    for effect in action.start.effects:
        out += [*effect.variables, *bound_variables(effect.condition)]
    return out
