"""Conditions as propositions of facts, of the memory of monitors, and of the state after a step (by regression)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, assert_never

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.latch import LatchedCheck
from plansafe.verifier.execution.monitors.monitor_summary import StateMonitor
from plansafe.verifier.execution.monitors.program import Program
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.nodes import (
    And,
    Atom,
    Binding,
    Compare,
    Equal,
    Formula,
    Not,
    Or,
    Quantified,
    Temporal,
    Truth,
    bind,
    ground,
    match_arguments,
)
from plansafe.verifier.model.operations import past_operator
from plansafe.verifier.planning.lifted_relaxation import is_static

MAX_NODES = 3_000_000
"""Nodes of formulas that are compiled."""
_OUTPUT = -1
"""Stands for the whole formula where the index of a past subformula is expected."""


class MonitorLetter(NamedTuple):
    """The letter at which the step with the ``action_fact`` is taken (``None``: some later letter).

    The ``monitor`` with this number remembers the past, for ``binding``.
    """

    monitor: int
    program: Program
    binding: tuple[int, ...]
    action_fact: tuple[int, int] | None


class LatchLetter(NamedTuple):
    """The letter at which a step is taken, for a rule whose past formulas are monitored by latches."""

    check: LatchedCheck
    action_fact: tuple[int, int] | None


class StateAfterStep(NamedTuple):
    """The letter after a step."""

    step: GroundAction


class RelaxedConditions:
    """Compiles the conditions of one task into conjunctions over a network.

    Raises :class:`LimitReached` beyond :data:`MAX_NODES` nodes of formulas in all.
    """

    def __init__(
        self, engine: Engine, facts: list[set[int]], monitors: list[StateMonitor], network: PropositionNetwork
    ) -> None:
        self.engine = engine
        self.task = engine.task
        self.facts = facts
        self.monitors = monitors
        self.network = network
        self._nodes = 0
        self._memories: dict[tuple[int, tuple[int, ...], int, bool], int] = {}
        self._action_predicates = frozenset(engine.action_predicates.values())

    def compile_conjunction(
        self,
        formula: Formula,
        binding: Binding,
        positive: bool,
        letter: MonitorLetter | LatchLetter | StateAfterStep | None = None,
    ) -> Conjunction | None:
        """Compile the propositions that a condition (negated unless ``positive``) needs; ``None`` if it is never true.

        ``letter``: the letter at which the condition is read; ``None``: the present state.
        """
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise LimitReached(LimitKind.GROUND_TASK)
        match formula:
            case Truth():
                return () if formula.value == positive else None
            case Not():
                return self.compile_conjunction(formula.body, binding, not positive, letter)
            case Equal():
                left, right = ground((formula.left, formula.right), binding)
                return () if (left == right) == positive else None
            case Atom():
                return self._compile_literal(formula, binding, positive, letter)
            case And() | Or():
                parts = (self.compile_conjunction(part, binding, positive, letter) for part in formula.parts)
                return conjoin(parts) if isinstance(formula, And) == positive else self.network.disjoin(parts)
            case Quantified():
                instances = self.task.bindings(formula.variables, binding)
                parts = (
                    self.compile_conjunction(formula.body, full_binding, positive, letter) for full_binding in instances
                )
                return conjoin(parts) if formula.universal == positive else self.network.disjoin(parts)
            case Temporal() if isinstance(letter, MonitorLetter) and id(formula) in letter.program.past_index:
                return self._compile_past(formula, binding, positive, letter)
            case Temporal() if isinstance(letter, LatchLetter):
                query = letter.check.latch_references[id(formula)]
                latch = self.monitors[query.monitor]
                assert isinstance(latch, Automaton)
                objects = tuple([binding[slot] for slot in query.slots])
                monitor_letter = MonitorLetter(query.monitor, latch.program, objects, letter.action_fact)
                latch_binding = bind(latch.parameters, objects)
                value = self.compile_conjunction(latch.program.formula, latch_binding, positive, monitor_letter)
                if latch.reads_actions:
                    return value
                # The latch has already read the present letter, so its memory is about the next letters.
                return self.network.disjoin([(self._find_output_proposition(query.monitor, objects, positive),), value])
            case Compare() | Temporal():
                return ()  # ignored by the relaxation
            case _:
                assert_never(formula)

    def _compile_past(
        self, formula: Temporal, binding: Binding, positive: bool, letter: MonitorLetter
    ) -> Conjunction | None:
        first, last = formula.operands[0], formula.operands[-1]
        memory = (self._find_memory_proposition(formula, binding, positive, letter),)
        operator = past_operator(formula)
        match operator:
            case "yesterday" | "weak-yesterday":
                return memory
            case "once" | "historically":
                present_value = self.compile_conjunction(first, binding, positive, letter)
                is_disjunction = (operator == "once") == positive
                return (
                    self.network.disjoin([memory, present_value])
                    if is_disjunction
                    else conjoin([memory, present_value])
                )
            case "since":
                present_value = self.compile_conjunction(first, binding, positive, letter)
                starts = self.compile_conjunction(last, binding, positive, letter)
                if positive:
                    return self.network.disjoin([starts, conjoin([present_value, memory])])
                return conjoin([starts, self.network.disjoin([present_value, memory])])
            case _:
                assert_never(operator)

    def _find_output_proposition(self, monitor: int, binding: tuple[int, ...], value: bool) -> int:
        key = (monitor, binding, _OUTPUT, value)
        if key not in self._memories:
            self._memories[key] = self.network.add_proposition()
        return self._memories[key]

    def _find_memory_proposition(self, formula: Temporal, binding: Binding, value: bool, letter: MonitorLetter) -> int:
        index = letter.program.past_index[id(formula)]
        key = (letter.monitor, letter.binding, index, value)
        proposition = self._memories.get(key)
        if proposition is None:
            proposition = self._memories[key] = self.network.add_proposition()
            first, last = formula.operands[0], formula.operands[-1]
            later = letter._replace(action_fact=None)
            operator = past_operator(formula)
            match operator:
                case "once" | "historically":
                    # Once true, or once false, it stays so.
                    is_permanent = (operator == "once") == value
                    precondition = self.compile_conjunction(first, binding, value, later) if is_permanent else None
                case "since" if value:
                    precondition = self.compile_conjunction(last, binding, True, later)
                case "since":
                    ends = [self.compile_conjunction(part, binding, False, later) for part in (first, last)]
                    precondition = conjoin(ends)
                case "yesterday" | "weak-yesterday":
                    precondition = self.compile_conjunction(first, binding, value, later)
                case _:
                    assert_never(operator)
            if precondition is not None:
                self.network.effects[self.network.add_operator(precondition)].append(proposition)
        return proposition

    def _compile_literal(
        self, atom: Atom, binding: Binding, positive: bool, letter: MonitorLetter | LatchLetter | StateAfterStep | None
    ) -> Conjunction | None:
        predicate = atom.predicate
        code = self.task.code_of(atom.arguments, binding)
        if is_static(self.engine, predicate):
            return () if (code in self.facts[predicate]) == positive else None
        if predicate in self._action_predicates:
            if not isinstance(letter, MonitorLetter | LatchLetter) or (letter.action_fact is None and not positive):
                return ()
            if letter.action_fact is not None:
                return () if ((predicate, code) == letter.action_fact) == positive else None
        if isinstance(letter, StateAfterStep):
            return self._regress_literal(atom, binding, positive, letter.step)
        if not positive and self.engine.axioms is not None and predicate in self.engine.axioms.derived:
            return ()
        return (self.network.find_proposition((predicate, code, positive)),)

    def _regress_literal(self, atom: Atom, binding: Binding, positive: bool, step: GroundAction) -> Conjunction | None:
        """Compile the condition before a step for a literal to be true after it."""
        if self.engine.axioms is not None and atom.predicate in self.engine.axioms.derived:
            return ()
        arguments = ground(atom.arguments, binding)
        adds: list[Conjunction | None] = []
        deletes: list[Conjunction | None] = []
        parameters = step.binding
        for effect in step.action.start.effects:
            domains = {v.slot: self.task.domain_sets[v.domain] for v in effect.variables}
            for changes, conditions, value in ((effect.adds, adds, positive), (effect.deletes, deletes, not positive)):
                for change in [change for change in changes if change.predicate == atom.predicate]:
                    unifier = match_arguments(change.arguments, arguments, domains, parameters)
                    if unifier is None:
                        continue
                    free_variables = [v for v in effect.variables if v.slot not in unifier]
                    for full_binding in self.task.bindings(free_variables, unifier):
                        conditions.append(self.compile_conjunction(effect.condition, full_binding, value))
        present_value = self._compile_literal(atom, binding, positive, None)
        if positive:
            return self.network.disjoin([*adds, conjoin([present_value, *deletes])])
        return conjoin([*adds, self.network.disjoin([present_value, *deletes])])

    def list_remembered(self, runtime: Runtime) -> Iterator[int]:
        """List the propositions of the memory that hold now."""
        for (monitor, binding, index, value), number in self._memories.items():
            automaton = runtime.monitors[monitor]
            assert isinstance(automaton, Automaton)
            instance = automaton.instances.get(binding)
            if instance is None and (automaton.default_retired or binding in automaton.retired):
                yield number  # both values, as the instance is decided permanently
                continue
            state = automaton.default_instance.state if instance is None else instance.state
            stored, _, output = automaton.program.states[state]
            if (output if index == _OUTPUT else bool(stored >> index & 1)) == value:
                yield number


Fact = tuple[int, int, bool]
"""A predicate, the code of its arguments, and whether it is true."""
Conjunction = tuple[int, ...]


class PropositionNetwork:
    """Numbered propositions, and operators with ``conditions`` and ``effects`` but without deletes.

    ``labels``: the step of each operator; -1 for an operator without cost. ``readers``: the operators whose conditions
    contain a proposition. ``unconditional_operators``: operators without condition.
    """

    def __init__(self) -> None:
        self.size = 0
        self.readers: list[list[int]] = []
        self.condition_sizes: list[int] = []
        self.effects: list[list[int]] = []
        self.conditions: list[Conjunction] = []
        self.labels: list[int] = []
        self.unconditional_operators: list[int] = []
        self.facts: dict[Fact, int] = {}
        self._choices: dict[frozenset[Conjunction], int] = {}
        self._achievers: dict[Fact, list[int]] = {}

    def add_proposition(self) -> int:
        """Add a proposition."""
        self.readers.append([])
        self.size += 1
        return self.size - 1

    def find_proposition(self, fact: Fact) -> int:
        """Return the proposition of a fact, which is added if it is new."""
        proposition = self.facts.get(fact)
        if proposition is None:
            proposition = self.facts[fact] = self.add_proposition()
            for number in self._achievers.get(fact, ()):
                self.effects[number].append(proposition)
        return proposition

    def add_operator(self, condition: Conjunction, label: int = -1) -> int:
        """Add an operator."""
        number = len(self.condition_sizes)
        self.condition_sizes.append(len(condition))
        self.conditions.append(condition)
        self.effects.append([])
        self.labels.append(label)
        for proposition in condition:
            self.readers[proposition].append(number)
        if not condition:
            self.unconditional_operators.append(number)
        return number

    def add_effect(self, operator: int, fact: Fact) -> None:
        """Let an operator make a fact true."""
        self._achievers.setdefault(fact, []).append(operator)
        proposition = self.facts.get(fact)
        if proposition is not None:
            self.effects[operator].append(proposition)

    def disjoin(self, parts: Iterable[Conjunction | None]) -> Conjunction | None:
        """Return a conjunction for a disjunction (``None``: never true), with a new proposition if needed."""
        choices: set[Conjunction] = set()
        for part in parts:
            if part == ():
                return ()
            if part is not None:
                choices.add(part)
        if len(choices) < 2:
            return choices.pop() if choices else None
        key = frozenset(choices)
        proposition = self._choices.get(key)
        if proposition is None:
            proposition = self._choices[key] = self.add_proposition()
            for choice in choices:
                self.effects[self.add_operator(choice)].append(proposition)
        return (proposition,)


def conjoin(parts: Iterable[Conjunction | None]) -> Conjunction | None:
    """Return the conjunction of conjunctions (``None``: never true)."""
    conjunction: Conjunction = ()
    for part in parts:
        if part is None:
            return None
        conjunction = tuple(sorted({*conjunction, *part})) if conjunction and part else conjunction or part
    return conjunction
