"""A task while rules are compiled into it: the new predicates, effects, preconditions and goals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import NamedTuple

from plansafe.verifier.compile.normal_forms import convert_to_dnf
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.model.nodes import TRUE, Action, And, Atom, Effect, Formula, Not, Predicate, Variable, variable
from plansafe.verifier.model.operations import find_atoms, find_bound_variables, free_slots, substitute
from plansafe.verifier.planning.simplification import fold_constants
from plansafe.verifier.planning.trace_automata import MAX_TICKS, CannotCompile


class FormulaReading(NamedTuple):
    """How the formulas of a rule part are read: its variables by slot, and whether the actions read them.

    Otherwise ``observe`` reads them. ``values``: past subformulas that are already compiled, by structure, with their
    value while a letter is read; ``later_values``: their values afterwards. ``observed``: if actions read the whole
    part, the reading of its formulas that mention no action.
    """

    variables: dict[int, Variable]
    by_actions: bool
    values: dict[tuple[object, ...], Formula]
    later_values: dict[tuple[object, ...], Formula]
    observed: FormulaReading | None = None


class ActionEffect(NamedTuple):
    """An effect whose condition mentions action facts: whether it happens at actions, and at the last letter."""

    effect: Effect
    at_actions: bool
    at_end: bool


class TaskDraft:
    """A task under construction. A letter is read by ``observed`` effects, or by the effects of its action.

    ``observed_actions``: actions after which ``observe`` must follow. ``counts_steps``: it must follow every action.
    """

    def __init__(self, engine: Engine) -> None:
        task = engine.task
        self.initial = engine.make_initial_state()
        self.source = task._replace(initial_fluents=self.initial.fluents)
        self.action_predicates = frozenset(engine.action_predicates.values())
        self.action_of = {
            p: task.actions[name] for (kind, name), p in engine.action_predicates.items() if kind == "start"
        }
        self.predicates = list(task.predicates)
        self.true_at_start: set[int] = set()  # new predicates without arguments that hold in the initial state
        self.observed: list[Effect] = []
        self.action_effects: list[ActionEffect] = []
        self.finishing: list[Effect] = []
        self.goal: list[Formula] = []
        self.conditions: dict[str, list[Formula]] = {name: [] for name in task.actions}
        self.effects: dict[str, list[Effect]] = {name: [] for name in task.actions}
        self.observed_actions: set[str] = set()
        self.counts_steps = False
        self.safe: int | None = None
        self.slots = count(1 + max([v.slot for a in task.actions.values() for v in _list_variables(a)], default=0))
        self._clocks: dict[bool, list[int]] = {False: [], True: []}

    def add_predicate(self, name: str, variables: Sequence[Variable] = ()) -> int:
        """Add a predicate."""
        self.predicates.append(Predicate(name, ((0,),) * len(variables), tuple([v.domain for v in variables]), None))
        return len(self.predicates) - 1

    def add_memory(self, name: str, formula: Formula, reading: FormulaReading) -> tuple[list[Variable], Atom]:
        """Add a predicate over a formula's free variables."""
        variables = [reading.variables[slot] for slot in sorted(free_slots(formula))]
        return variables, Atom(self.add_predicate(name, variables), tuple([variable(v.slot) for v in variables]))

    def reads_actions(self, formula: Formula) -> bool:
        """Whether a formula mentions an action."""
        return any([atom.predicate in self.action_predicates for atom in find_atoms(formula)])

    def make_violation_effects(self, variables: Iterable[Variable], condition: Formula) -> list[Effect]:
        """Effects that make the trace unsafe if ``condition`` holds."""
        if self.safe is None:
            self.safe = self.add_predicate("safe")
        return self.make_effects(variables, condition, (), (Atom(self.safe, ()),))

    def make_effects(
        self, variables: Iterable[Variable], condition: Formula, adds: tuple[Atom, ...], deletes: tuple[Atom, ...]
    ) -> list[Effect]:
        """Effects for every binding under which ``condition`` holds; their conditions are conjunctions if possible."""
        condition = fold_constants(self.source, self.with_fresh_variables(condition))
        used_slots = free_slots(condition) | {-1 - a for atom in (*adds, *deletes) for a in atom.arguments if a < 0}
        bound = tuple([v for v in variables if v.slot in used_slots])
        disjuncts = convert_to_dnf(condition)
        if disjuncts is None:
            return [Effect(bound, condition, adds, deletes, ())]
        effects = []
        for disjunct in disjuncts:
            literals = tuple([lit.formula if lit.positive else Not(lit.formula) for lit in disjunct.literals])
            conjunction = fold_constants(self.source, And(literals)) if literals else TRUE
            effects.append(Effect((*bound, *disjunct.variables), conjunction, adds, deletes, ()))
        return effects

    def with_fresh_variables(self, formula: Formula) -> Formula:
        """Rename the quantified variables of a formula, so that copies of it can be joined."""
        renaming = {v.slot: variable(next(self.slots)) for v in find_bound_variables(formula)}
        return substitute(formula, renaming) if renaming else formula

    def add_effects(self, reading: FormulaReading, effects: list[Effect], at_end: bool = True) -> None:
        """Add effects that happen whenever a letter is read; the last letter matters only with ``at_end``."""
        if reading.by_actions:
            self.action_effects += [ActionEffect(effect, at_actions=True, at_end=at_end) for effect in effects]
        else:
            self.observed += effects

    def is_static(self, atom: Atom) -> bool:
        """Whether an atom has a predicate of the original task that no action changes."""
        predicate, static = atom.predicate, self.source.static
        return predicate < len(static) and static[predicate] and predicate not in self.action_predicates

    def add_letter_fact(self, letter: int, by_actions: bool) -> Atom:
        """A fact that holds while letters up to and including the given one are read."""
        if letter > MAX_TICKS:
            raise CannotCompile(f"a bound of more than {MAX_TICKS} steps")
        clock = self._clocks[by_actions]
        while len(clock) <= letter:
            clock.append(self.add_predicate(f"up-to-{len(clock)}"))
            self.true_at_start.add(clock[-1])
        return Atom(clock[letter], ())

    def advance_clocks(self) -> None:
        """Let letter k delete ``up-to-k``, the first of these facts that still holds."""
        for by_actions, clock in self._clocks.items():
            for letter, predicate in enumerate(clock):
                fact = Atom(predicate, ())
                is_earlier_deleted: Formula = Not(Atom(clock[letter - 1], ())) if letter else TRUE
                condition = fold_constants(self.source, And((fact, is_earlier_deleted)))
                self.add_effects(FormulaReading({}, by_actions, {}, {}), [Effect((), condition, (), (fact,), ())])


def make_unconditional_effect(adds: tuple[Atom, ...], deletes: tuple[Atom, ...]) -> Effect:
    """An effect without a condition."""
    return Effect((), TRUE, adds, deletes, ())


def _list_variables(action: Action) -> list[Variable]:
    variables = list(action.parameters)
    for formula in action.start.condition:
        variables += find_bound_variables(formula)
    for effect in action.start.effects:
        variables += [*effect.variables, *find_bound_variables(effect.condition)]
    return variables
