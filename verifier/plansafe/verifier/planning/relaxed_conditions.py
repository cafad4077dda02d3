"""Conditions as propositions: of facts, of what monitors remember, and of the state after a step (by regression)."""

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
    ground,
)
from plansafe.verifier.model.operations import past_operator
from plansafe.verifier.planning.lifted_relaxation import is_static

MAX_NODES = 3_000_000
_OUTPUT = -1  # instead of the index of a past subformula: the whole formula


class MonitorLetter(NamedTuple):
    """Which letter a formula of a rule is about: the one where the step with the action fact ``taken`` is taken.

    With ``None``, some letter still to come. The monitor with this ``number`` remembers the past, for ``binding``.
    """

    number: int
    program: Program
    binding: tuple[int, ...]
    taken: tuple[int, int] | None


class LatchLetter(NamedTuple):
    """The letter where a step is taken, for a rule that asks latches about the past."""

    check: LatchedCheck
    taken: tuple[int, int] | None


class StateAfterStep(NamedTuple):
    """The letter after a step."""

    step: GroundAction


class RelaxedConditions:
    """The conditions of one task as conjunctions over a network, whose operators say what else makes them true.

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

    def conjunction(
        self,
        formula: Formula,
        binding: Binding,
        positive: bool,
        where: MonitorLetter | LatchLetter | StateAfterStep | None = None,
    ) -> Conjunction | None:
        """The propositions that a condition needs; ``None`` if it is never true."""
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise LimitReached(LimitKind.GROUND_TASK)
        match formula:
            case Truth():
                return () if formula.value == positive else None
            case Not():
                return self.conjunction(formula.body, binding, not positive, where)
            case Equal():
                left, right = ground((formula.left, formula.right), binding)
                return () if (left == right) == positive else None
            case Atom():
                return self._literal(formula, binding, positive, where)
            case And() | Or():
                parts = (self.conjunction(part, binding, positive, where) for part in formula.parts)
                return conjoin(parts) if isinstance(formula, And) == positive else self.network.any(parts)
            case Quantified():
                every = self.task.bindings(formula.variables, binding)
                parts = (self.conjunction(formula.body, inner, positive, where) for inner in every)
                return conjoin(parts) if formula.universal == positive else self.network.any(parts)
            case Temporal() if isinstance(where, MonitorLetter) and id(formula) in where.program.past_index:
                return self._past(formula, binding, positive, where)
            case Temporal() if isinstance(where, LatchLetter):
                asked = where.check.latch_references[id(formula)]
                latch = self.monitors[asked.monitor]
                assert isinstance(latch, Automaton)
                own = tuple([binding[slot] for slot in asked.slots])
                there = MonitorLetter(asked.monitor, latch.program, own, where.taken)
                value = self.conjunction(latch.program.formula, binding, positive, there)
                if latch.reads_actions:
                    return value
                # It has read the present letter already: what it stores is about the next ones.
                return self.network.any([(self._latched(asked.monitor, own, positive),), value])
            case Compare() | Temporal():
                return ()  # not looked at by the relaxation
            case _:
                assert_never(formula)

    def _past(self, formula: Temporal, binding: Binding, positive: bool, where: MonitorLetter) -> Conjunction | None:
        """A past formula: what is remembered of it, and what this letter says."""
        first, last = formula.operands[0], formula.operands[-1]
        stored = (self._memory(formula, binding, positive, where),)
        operator = past_operator(formula)
        match operator:
            case "yesterday" | "weak-yesterday":
                return stored
            case "once" | "historically":
                now = self.conjunction(first, binding, positive, where)
                either = (operator == "once") == positive
                return self.network.any([stored, now]) if either else conjoin([stored, now])
            case "since":
                now = self.conjunction(first, binding, positive, where)
                starts = self.conjunction(last, binding, positive, where)
                if positive:
                    return self.network.any([starts, conjoin([now, stored])])
                return conjoin([starts, self.network.any([now, stored])])
            case _:
                assert_never(operator)

    def _latched(self, number: int, binding: tuple[int, ...], value: bool) -> int:
        """The proposition that a monitor has a value at the letter read last."""
        key = (number, binding, _OUTPUT, value)
        known = self._memories.get(key)
        if known is None:
            known = self._memories[key] = self.network.fresh()
        return known

    def _memory(self, formula: Temporal, binding: Binding, value: bool, where: MonitorLetter) -> int:
        """The proposition that a monitor remembers a value of a past formula."""
        index = where.program.past_index[id(formula)]
        key = (where.number, where.binding, index, value)
        known = self._memories.get(key)
        if known is None:
            known = self._memories[key] = self.network.fresh()
            first, last = formula.operands[0], formula.operands[-1]
            later = where._replace(taken=None)
            operator = past_operator(formula)
            match operator:
                case "once" | "historically":
                    # Once true, or once false, it stays so.
                    lasting = (operator == "once") == value
                    comes = self.conjunction(first, binding, value, later) if lasting else None
                case "since" if value:
                    comes = self.conjunction(last, binding, True, later)
                case "since":
                    ends = [self.conjunction(part, binding, False, later) for part in (first, last)]
                    comes = conjoin(ends)
                case "yesterday" | "weak-yesterday":
                    comes = self.conjunction(first, binding, value, later)
                case _:
                    assert_never(operator)
            if comes is not None:
                self.network.effects[self.network.operator(comes)].append(known)
        return known

    def _literal(
        self, atom: Atom, binding: Binding, positive: bool, where: MonitorLetter | LatchLetter | StateAfterStep | None
    ) -> Conjunction | None:
        predicate = atom.predicate
        code = self.task.code_of(atom.arguments, binding)
        if is_static(self.engine, predicate):
            return () if (code in self.facts[predicate]) == positive else None
        if predicate in self._action_predicates:
            if not isinstance(where, MonitorLetter | LatchLetter) or (where.taken is None and not positive):
                return ()
            if where.taken is not None:
                return () if ((predicate, code) == where.taken) == positive else None
        if isinstance(where, StateAfterStep):
            return self._regressed(atom, binding, positive, where.step)
        if not positive and self.engine.axioms is not None and predicate in self.engine.axioms.derived:
            return ()
        return (self.network.fact((predicate, code, positive)),)

    def _regressed(self, atom: Atom, binding: Binding, positive: bool, step: GroundAction) -> Conjunction | None:
        """What makes a literal true after a step."""
        if self.engine.axioms is not None and atom.predicate in self.engine.axioms.derived:
            return ()
        arguments = ground(atom.arguments, binding)
        adds: list[Conjunction | None] = []
        deletes: list[Conjunction | None] = []
        parameters = step.binding
        for effect in step.action.start.effects:
            for changes, out, value in ((effect.adds, adds, positive), (effect.deletes, deletes, not positive)):
                for change in changes:
                    matched = _matched(change, atom.predicate, arguments, parameters)
                    if matched is None:
                        continue
                    bound = [v for v in effect.variables if v.slot in matched]
                    if any([matched[v.slot] not in self.task.domain_sets[v.domain] for v in bound]):
                        continue
                    rest = [v for v in effect.variables if v.slot not in matched]
                    for inner in self.task.bindings(rest, matched):
                        out.append(self.conjunction(effect.condition, inner, value))
        now = self._literal(atom, binding, positive, None)
        if positive:
            return self.network.any([*adds, conjoin([now, *deletes])])
        return conjoin([*adds, self.network.any([now, *deletes])])

    def remembered(self, runtime: Runtime) -> Iterator[int]:
        """The propositions of memory that hold now."""
        for (monitor, binding, index, value), number in self._memories.items():
            automaton = runtime.monitors[monitor]
            assert isinstance(automaton, Automaton)
            instance = automaton.instances.get(binding)
            if instance is None and (automaton.default_retired or binding in automaton.retired):
                yield number  # decided for good
                continue
            state = automaton.default.state if instance is None else instance.state
            stored, _, output = automaton.program.states[state]
            if (output if index == _OUTPUT else bool(stored >> index & 1)) == value:
                yield number


def _matched(atom: Atom, predicate: int, arguments: tuple[int, ...], known: Binding) -> Binding | None:
    """The binding under which an effect changes a fact."""
    if atom.predicate != predicate:
        return None
    binding = dict(known)
    for argument, wanted in zip(atom.arguments, arguments, strict=True):
        if argument >= 0:
            if argument != wanted:
                return None
        elif binding.setdefault(-1 - argument, wanted) != wanted:
            return None
    return binding


Fact = tuple[int, int, bool]
"""A predicate, the code of its arguments, and whether it is true."""
Conjunction = tuple[int, ...]


class PropositionNetwork:
    """Propositions, numbered, and operators with ``conditions`` and ``effects``.

    The ``labels`` entry of an operator says which step it belongs to: -1 for those that cost nothing.
    """

    def __init__(self) -> None:
        self.size = 0
        self.readers: list[list[int]] = []
        self.needs: list[int] = []
        self.effects: list[list[int]] = []
        self.conditions: list[Conjunction] = []
        self.labels: list[int] = []
        self.free: list[int] = []
        self.facts: dict[Fact, int] = {}
        self._choices: dict[frozenset[Conjunction], int] = {}
        self._achievers: dict[Fact, list[int]] = {}

    def fresh(self) -> int:
        """A new proposition."""
        self.readers.append([])
        self.size += 1
        return self.size - 1

    def fact(self, fact: Fact) -> int:
        """The proposition of a fact."""
        known = self.facts.get(fact)
        if known is None:
            known = self.facts[fact] = self.fresh()
            for number in self._achievers.get(fact, ()):
                self.effects[number].append(known)
        return known

    def operator(self, condition: Conjunction, label: int = -1) -> int:
        """A new operator."""
        number = len(self.needs)
        self.needs.append(len(condition))
        self.conditions.append(condition)
        self.effects.append([])
        self.labels.append(label)
        for proposition in condition:
            self.readers[proposition].append(number)
        if not condition:
            self.free.append(number)
        return number

    def achieves(self, operator: int, fact: Fact) -> None:
        """Let an operator make a fact true."""
        self._achievers.setdefault(fact, []).append(operator)
        known = self.facts.get(fact)
        if known is not None:
            self.effects[operator].append(known)

    def any(self, parts: Iterable[Conjunction | None]) -> Conjunction | None:
        """A proposition for a disjunction; ``None`` is never true."""
        choices: set[Conjunction] = set()
        for part in parts:
            if part == ():
                return ()
            if part is not None:
                choices.add(part)
        if len(choices) < 2:
            return choices.pop() if choices else None
        key = frozenset(choices)
        known = self._choices.get(key)
        if known is None:
            known = self._choices[key] = self.fresh()
            for choice in choices:
                self.effects[self.operator(choice)].append(known)
        return (known,)


def conjoin(parts: Iterable[Conjunction | None]) -> Conjunction | None:
    """A conjunction; ``None`` is never true."""
    out: Conjunction = ()
    for part in parts:
        if part is None:
            return None
        out = tuple(sorted({*out, *part})) if out and part else out or part
    return out
