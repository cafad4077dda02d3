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
    """How the formulas of a rule part are read, with its variables by slot.

    ``is_read_by_actions``: whether the actions read them; otherwise ``observe`` does. ``values``: past subformulas that
    are already compiled, by structure, with their value while a letter is read; ``later_values``: their values
    afterwards. ``observed``: if actions read the whole part, the reading of its formulas that mention no action.
    """

    variables: dict[int, Variable]
    is_read_by_actions: bool
    values: dict[tuple[object, ...], Formula]
    later_values: dict[tuple[object, ...], Formula]
    observed: FormulaReading | None = None


def make_formula_reading(
    variables: dict[int, Variable], is_read_by_actions: bool, observed: FormulaReading | None = None
) -> FormulaReading:
    """Make a reading without compiled subformulas."""
    return FormulaReading(variables, is_read_by_actions, {}, {}, observed)


class ActionEffect(NamedTuple):
    """An effect whose condition mentions action facts: whether it happens at actions, and at the last letter."""

    effect: Effect
    happens_at_actions: bool
    happens_at_end: bool


class TaskDraft:
    """A task under construction. A letter is read by the ``observe_effects``, or by the effects of its action.

    ``action_effects``: effects that are still to be distributed to the actions. ``finish_effects``: the effects of the
    last letter. ``observed_actions``: actions after which ``observe`` must follow. ``counts_steps``: ``observe`` must
    follow every action.
    """

    def __init__(self, engine: Engine) -> None:
        task = engine.task
        self.initial = engine.make_initial_state()
        self.source_task = task._replace(initial_fluents=self.initial.fluents)
        self.action_predicates = frozenset(engine.action_predicates.values())
        self.action_by_predicate = {
            p: task.actions[name] for (kind, name), p in engine.action_predicates.items() if kind == "start"
        }
        self.predicates = list(task.predicates)
        self.initially_true_predicates: set[int] = set()
        """New predicates without arguments that hold in the initial state."""
        self.observe_effects: list[Effect] = []
        self.action_effects: list[ActionEffect] = []
        self.finish_effects: list[Effect] = []
        self.added_goal: list[Formula] = []
        self.added_conditions: dict[str, list[Formula]] = {name: [] for name in task.actions}
        self.added_effects: dict[str, list[Effect]] = {name: [] for name in task.actions}
        self.observed_actions: set[str] = set()
        self.counts_steps = False
        self.safe_predicate: int | None = None
        self.slots = count(1 + max([v.slot for a in task.actions.values() for v in _list_variables(a)], default=0))
        self._clocks: dict[bool, list[int]] = {False: [], True: []}
        """The predicates ``up-to-k`` that ``observe`` (``False``) or the actions (``True``) advance."""

    def add_predicate(self, name: str, variables: Sequence[Variable] = ()) -> int:
        """Add a predicate."""
        self.predicates.append(Predicate(name, ((0,),) * len(variables), tuple([v.domain for v in variables]), None))
        return len(self.predicates) - 1

    def add_fact_of(self, name: str, formula: Formula, reading: FormulaReading) -> tuple[list[Variable], Atom]:
        """Add a predicate over a formula's free variables; returns these variables and the atom over them."""
        variables = [reading.variables[slot] for slot in sorted(free_slots(formula))]
        return variables, Atom(self.add_predicate(name, variables), tuple([variable(v.slot) for v in variables]))

    def reads_actions(self, formula: Formula) -> bool:
        """Whether a formula mentions an action."""
        return any([atom.predicate in self.action_predicates for atom in find_atoms(formula)])

    def make_violation_effects(self, variables: Iterable[Variable], condition: Formula) -> list[Effect]:
        """Make the effects that make the trace unsafe if ``condition`` holds."""
        if self.safe_predicate is None:
            self.safe_predicate = self.add_predicate("safe")
        return self.make_effects(variables, condition, (), (Atom(self.safe_predicate, ()),))

    def make_effects(
        self, variables: Iterable[Variable], condition: Formula, adds: tuple[Atom, ...], deletes: tuple[Atom, ...]
    ) -> list[Effect]:
        """Make effects for every binding under which ``condition`` holds, each with a conjunction if possible."""
        condition = fold_constants(self.source_task, self.with_fresh_variables(condition))
        used_slots = free_slots(condition) | {-1 - a for atom in (*adds, *deletes) for a in atom.arguments if a < 0}
        used_variables = tuple([v for v in variables if v.slot in used_slots])
        disjuncts = convert_to_dnf(condition)
        if disjuncts is None:
            return [Effect(used_variables, condition, adds, deletes, ())]
        effects = []
        for disjunct in disjuncts:
            literals = tuple([lit.formula if lit.positive else Not(lit.formula) for lit in disjunct.literals])
            conjunction = fold_constants(self.source_task, And(literals)) if literals else TRUE
            effects.append(Effect((*used_variables, *disjunct.variables), conjunction, adds, deletes, ()))
        return effects

    def with_fresh_variables(self, formula: Formula) -> Formula:
        """Rename the quantified variables of a formula, so that copies of it can be joined."""
        renaming = {v.slot: variable(next(self.slots)) for v in find_bound_variables(formula)}
        return substitute(formula, renaming) if renaming else formula

    def add_effects(self, reading: FormulaReading, effects: list[Effect], happens_at_end: bool = True) -> None:
        """Add effects that happen whenever a letter is read; at the last letter only with ``happens_at_end``."""
        if reading.is_read_by_actions:
            for effect in effects:
                self.action_effects.append(ActionEffect(effect, happens_at_actions=True, happens_at_end=happens_at_end))
        else:
            self.observe_effects += effects

    def is_static(self, atom: Atom) -> bool:
        """Whether an atom has a predicate of the original task that no action changes."""
        predicate, static = atom.predicate, self.source_task.static
        return predicate < len(static) and static[predicate] and predicate not in self.action_predicates

    def add_letter_fact(self, letter: int, is_read_by_actions: bool) -> Atom:
        """Return the fact, added if new, that is true while letters up to and including the given letter are read."""
        if letter > MAX_TICKS:
            raise CannotCompile(f"a bound of more than {MAX_TICKS} steps")
        clock = self._clocks[is_read_by_actions]
        while len(clock) <= letter:
            clock.append(self.add_predicate(f"up-to-{len(clock)}"))
            self.initially_true_predicates.add(clock[-1])
        return Atom(clock[letter], ())

    def advance_clocks(self) -> None:
        """Let letter k delete ``up-to-k``, the first of these facts that still holds."""
        for is_read_by_actions, clock in self._clocks.items():
            for letter, predicate in enumerate(clock):
                fact = Atom(predicate, ())
                earlier_deleted_condition: Formula = Not(Atom(clock[letter - 1], ())) if letter else TRUE
                condition = fold_constants(self.source_task, And((fact, earlier_deleted_condition)))
                reading = make_formula_reading({}, is_read_by_actions)
                self.add_effects(reading, [Effect((), condition, (), (fact,), ())])


def make_unconditional_effect(adds: tuple[Atom, ...], deletes: tuple[Atom, ...]) -> Effect:
    """Make an effect without a condition."""
    return Effect((), TRUE, adds, deletes, ())


def _list_variables(action: Action) -> list[Variable]:
    variables = list(action.parameters)
    for formula in action.start.condition:
        variables += find_bound_variables(formula)
    for effect in action.start.effects:
        variables += [*effect.variables, *find_bound_variables(effect.condition)]
    return variables
