"""The delete relaxation of a task: a lower bound and a guide for forward search.

Facts and negated facts are propositions of their own, and nothing is ever deleted (Hoffmann and Nebel 2001). Conditions
become conjunctions, with an auxiliary proposition for each disjunction; numbers and negated derived facts count as
true. What rules demand where a step is taken is part of its condition: of the state before it, of the state that it
leads to (by regression), and of the past, whose operators are propositions too (what a monitor remembers, or what some
step makes it remember). What the rules still demand of the future is part of the goal. So whatever is unreachable here
is unreachable by safe plans.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import NamedTuple, assert_never

from plansafe.verifier.compile.triggers import Extension, extension
from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.index import FactIndexes
from plansafe.verifier.execution.monitors.invariant import Invariant
from plansafe.verifier.execution.monitors.latch import LatchedCheck
from plansafe.verifier.execution.monitors.program import Program
from plansafe.verifier.execution.monitors.runtime import Runtime, StateMonitor
from plansafe.verifier.execution.monitors.stepcheck import StepCheck
from plansafe.verifier.execution.replay import Engine
from plansafe.verifier.execution.state import State
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.limits import Limited, LimitReached
from plansafe.verifier.model.nodes import (
    FALSE,
    TRUE,
    Action,
    And,
    Atom,
    Compare,
    Equal,
    Formula,
    Not,
    Or,
    Quantified,
    Temporal,
    Truth,
    Variable,
    bind,
)
from plansafe.verifier.model.operations import pushed
from plansafe.verifier.rules.model import Part, step_predicate

Binding = dict[int, int]
Fact = tuple[int, int]
Conjunction = tuple[int, ...]
MAX_OPERATORS = 60_000
MAX_NODES = 3_000_000
MAX_OPEN = 256
_OUTPUT = -1  # instead of the index of a past subformula: the whole formula


class Where(NamedTuple):
    """Which letter a formula of a rule is about: the one where the step with the action fact ``taken`` is taken.

    With ``None``, some letter still to come. The monitor with this ``number`` remembers the past, for ``binding``.
    """

    number: int
    program: Program
    binding: tuple[int, ...]
    taken: Fact | None


class Asking(NamedTuple):
    """The letter where a step is taken, for a rule that asks latches about the past."""

    check: LatchedCheck
    taken: Fact | None


class After(NamedTuple):
    """The letter after a step."""

    step: GroundAction


class Demand(NamedTuple):
    """A part of a rule about a step, with what watches it: an automaton (its number among the monitors) or a check."""

    part: Part
    number: int
    check: StepCheck | None


class Schema(NamedTuple):
    """A part of an action (its unconditional effects, or one conditional effect), or an axiom, before grounding."""

    action: Action | None
    parameters: tuple[Variable, ...]
    condition: tuple[Formula, ...]
    adds: tuple[Atom, ...]
    deletes: tuple[Atom, ...]
    search: Extension


class Lifted:
    """The schemas of an engine's task, compiled once for any number of searches. ``rules``: with the step rules."""

    def __init__(self, engine: Engine, rules: bool) -> None:
        self.engine = engine
        self._asked: set[tuple[int, tuple[int, ...]]] = set()
        self.schemas: list[Schema] = []
        for action in engine.task.actions.values():
            if action.end is None:
                self._action(action)
        for stratum in engine.task.axioms:
            for axiom in stratum:
                self._schema(None, axiom.parameters, (axiom.body,), (_head(axiom.predicate, axiom.parameters),), ())
        self.monitors: list[StateMonitor] = []
        self.demands: dict[str, list[Demand]] = {}
        self.invariants: dict[tuple[int, bool], list[Invariant]] = {}
        if rules and engine.prototype is not None:
            self._rules(engine.prototype)

    def _rules(self, prototype: Runtime) -> None:
        """Sort the rules by the actions that they are about, and by the changes that may break them."""
        plan, action_predicates = self.engine.plan, self.engine.action_predicates
        hard = frozenset([n for n, part in enumerate(plan.parts) if not plan.rules[part.rule].preference])
        names = {predicate: name for (kind, name), predicate in action_predicates.items() if kind == "start"}
        self.monitors = prototype.monitors
        checks = {check.part: check for checks in prototype.checks.values() for check in checks}
        automata = {
            m.part: n for n, m in enumerate(prototype.monitors) if isinstance(m, Automaton) and m.mode == "each"
        }
        for number in sorted(hard):
            part = plan.parts[number]
            watched = number in checks or number in automata
            if part.mode == "each" and part.step is not None and step_predicate(part.step) in names and watched:
                demand = Demand(part, automata.get(number, -1), checks.get(number))
                self.demands.setdefault(names[step_predicate(part.step)], []).append(demand)
        for monitor in prototype.monitors:
            if isinstance(monitor, Invariant) and not monitor.final and monitor.part in hard:
                for predicate, added, _ in monitor.triggers():
                    for value in (True, False) if added is None else (added,):
                        watching = self.invariants.setdefault((predicate, value), [])
                        if monitor not in watching:
                            watching.append(monitor)

    def _action(self, action: Action) -> None:
        plain = [e for e in action.start.effects if e.condition is TRUE and not e.variables]
        adds = tuple([atom for e in plain for atom in e.adds])
        deletes = tuple([atom for e in plain for atom in e.deletes])
        self._schema(action, action.parameters, action.start.condition, adds, deletes)
        for e in action.start.effects:
            if (e.condition is not TRUE or e.variables) and (e.adds or e.deletes):
                condition = (*action.start.condition, e.condition)
                self._schema(action, (*action.parameters, *e.variables), condition, e.adds, e.deletes)

    def _schema(
        self,
        action: Action | None,
        parameters: tuple[Variable, ...],
        condition: tuple[Formula, ...],
        adds: tuple[Atom, ...],
        deletes: tuple[Atom, ...],
    ) -> None:
        self.engine.emitter.asked = self._asked
        wanted = self._positive(And(condition), True)
        search = extension(self.engine.emitter, wanted, True, parameters)
        self.schemas.append(Schema(action, parameters, condition, adds, deletes, search))

    def _positive(self, formula: Formula, positive: bool) -> Formula:
        """What a condition demands of facts that only ever become true."""
        match formula:
            case Atom():
                if positive:
                    return formula
                return Not(formula) if is_static(self.engine, formula.predicate) else TRUE
            case And() | Or():
                parts = [self._positive(part, positive) for part in formula.parts]
                both = isinstance(formula, And) == positive
                parts = [p for p in parts if not (isinstance(p, Truth) and p.value == both)]
                if any([isinstance(p, Truth) for p in parts]):
                    return FALSE if both else TRUE
                return And(tuple(parts)) if both else Or(tuple(parts))
            case Quantified():
                body = self._positive(formula.body, positive)
                if isinstance(body, Truth) and body.value:
                    return TRUE
                return Quantified(formula.universal == positive, formula.variables, body)
            case Compare() | Temporal():
                return TRUE
            case _:
                return pushed(formula, positive, self._positive)

    def reachable(self, state: State) -> Iterator[tuple[Schema, tuple[int, ...]]]:
        """The bindings of each schema that are reachable from a state if nothing is deleted, each once."""
        facts = [set(f) for f in state.facts]
        task = self.engine.task
        self.engine.emitter.asked = self._asked
        indexes = FactIndexes(self.engine.emitter, self._asked)
        indexes.build(facts)
        seen: list[set[tuple[int, ...]]] = [set() for _ in self.schemas]
        grown = True
        while grown:
            grown = False
            for number, schema in enumerate(self.schemas):
                found: list[tuple[int, ...]] = []
                schema.search.all(facts, state.fluents, indexes.tables, 0, found)
                for objects in found:
                    if objects in seen[number]:
                        continue
                    seen[number].add(objects)
                    yield schema, objects
                    binding = bind(schema.parameters, objects)
                    for atom in schema.adds:
                        code = task.encode(_arguments(atom.arguments, binding))
                        if code not in facts[atom.predicate]:
                            facts[atom.predicate].add(code)
                            indexes.update([(atom.predicate, code, True)])
                            grown = True


class Relaxed:
    """The ground relaxation of a task, from one state on. Raises :class:`LimitReached`.

    An operator has ``conditions`` and ``effects``, and the ``labels`` entry says which of the ``steps`` it belongs to;
    that is -1 for those that cost nothing. ``own`` maps the operators that stand for a whole step to it.
    """

    def __init__(self, lifted: Lifted, state: State, runtime: Runtime | None, check: Callable[[], None]) -> None:
        self.engine = lifted.engine
        self.task = lifted.engine.task
        self.facts = state.facts
        self.monitors = lifted.monitors
        self.steps: list[GroundAction] = []
        self._nodes = 0
        self._propositions: dict[tuple[int, int, bool], int] = {}
        self._choices: dict[frozenset[Conjunction], int] = {}
        self._memories: dict[tuple[int, tuple[int, ...], int, bool], int] = {}
        self._plain: dict[tuple[int, tuple[int, ...]], Conjunction | None] = {}
        self._action_predicates = frozenset(self.engine.action_predicates.values())
        self.size = 0
        self.readers: list[list[int]] = []
        self.needs: list[int] = []
        self.effects: list[list[int]] = []
        self.conditions: list[Conjunction] = []
        self.labels: list[int] = []
        self.own: dict[int, int] = {}  # the operator of a step's unconditional part -> the step
        self.free: list[int] = []
        self._achievers: dict[tuple[int, int, bool], list[int]] = {}
        # What was wrong when the search began, and is not counted, may stay wrong.
        self._excused = {
            (m.part, binding)
            for m in (runtime.monitors if runtime is not None else ())
            if isinstance(m, Invariant)
            for binding in m.episodes
        }
        self._ground(lifted, state, check)
        self.goal = self.conjunction(And(self.task.goal), {}, True)

    def _ground(self, lifted: Lifted, state: State, check: Callable[[], None]) -> None:
        numbers: dict[tuple[str, tuple[int, ...]], int] = {}
        changes: list[dict[tuple[int, int, bool], None]] = []
        found: list[tuple[Schema, tuple[int, ...], int, list[tuple[int, int, bool]]]] = []
        for schema, objects in lifted.reachable(state):
            if len(found) > MAX_OPERATORS:
                raise LimitReached(Limited.GROUND_TASK)
            if len(found) % 256 == 0:
                check()
            binding = bind(schema.parameters, objects)
            encode = self.task.encode
            facts = [(a.predicate, encode(_arguments(a.arguments, binding)), True) for a in schema.adds]
            facts += [(a.predicate, encode(_arguments(a.arguments, binding)), False) for a in schema.deletes]
            label = -1
            if schema.action is not None:
                own = objects[: len(schema.action.parameters)]
                label = numbers.setdefault((schema.action.name, own), len(self.steps))
                if label == len(self.steps):
                    self.steps.append(GroundAction(schema.action, own))
                    changes.append({})
                changes[label].update(dict.fromkeys(facts))
            found.append((schema, objects, label, facts))
        demands: list[Conjunction | None] = []
        for step, changed in zip(self.steps, changes, strict=True):
            if len(demands) % 64 == 0:
                check()
            by_step = self._demanded(lifted.demands.get(step.action.name, ()), step)
            by_state = self._kept(lifted.invariants, step, changed) if by_step is not None else None
            demands.append(self._all([by_step, by_state]))
        for count, (schema, objects, label, facts) in enumerate(found):
            if count % 256 == 0:
                check()
            condition = self.conjunction(And(schema.condition), bind(schema.parameters, objects), True)
            if label >= 0:
                condition = self._all([condition, demands[label]])
            if condition is None:
                continue
            number = self._operator(condition, label)
            for fact in facts:
                self._achieves(number, fact)
            if schema.action is not None and schema.condition is schema.action.start.condition:
                self.own[number] = label
                action_fact = self.engine.action_fact("start", self.steps[label])
                if action_fact is not None:
                    self._achieves(number, (*action_fact, True))

    # -- grounding ----------------------------------------------------------------------------------------------------

    def _achieves(self, operator: int, fact: tuple[int, int, bool]) -> None:
        self._achievers.setdefault(fact, []).append(operator)
        known = self._propositions.get(fact)
        if known is not None:
            self.effects[operator].append(known)

    def conjunction(
        self, formula: Formula, binding: Binding, positive: bool, where: Where | Asking | After | None = None
    ) -> Conjunction | None:
        """The propositions that a condition needs; ``None`` if it is never true."""
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise LimitReached(Limited.GROUND_TASK)
        match formula:
            case Truth():
                return () if formula.value == positive else None
            case Not():
                return self.conjunction(formula.body, binding, not positive, where)
            case Equal():
                left, right = _arguments((formula.left, formula.right), binding)
                return () if (left == right) == positive else None
            case Atom():
                return self._literal(formula, binding, positive, where)
            case And() | Or():
                parts = (self.conjunction(part, binding, positive, where) for part in formula.parts)
                return self._all(parts) if isinstance(formula, And) == positive else self._any(parts)
            case Quantified():
                slots = [v.slot for v in formula.variables]
                every = product(*[self.task.domains[v.domain] for v in formula.variables])
                parts = (
                    self.conjunction(
                        formula.body, {**binding, **dict(zip(slots, objects, strict=True))}, positive, where
                    )
                    for objects in every
                )
                return self._all(parts) if formula.universal == positive else self._any(parts)
            case Temporal() if isinstance(where, Where) and id(formula) in where.program._past_index:
                return self._past(formula, binding, positive, where)
            case Temporal() if isinstance(where, Asking):
                asked = where.check._asked[id(formula)]
                latch = self.monitors[asked.monitor]
                assert isinstance(latch, Automaton)
                own = tuple([binding[slot] for slot in asked.slots])
                there = Where(asked.monitor, latch.program, own, where.taken)
                value = self.conjunction(latch.program._alive, binding, positive, there)
                if latch.acting:
                    return value
                # It has read the present letter already: what it stores is about the next ones.
                return self._any([(self._latched(asked.monitor, own, positive),), value])
            case Compare() | Temporal():
                return ()  # not looked at by the relaxation
            case _:
                assert_never(formula)

    def _past(self, formula: Temporal, binding: Binding, positive: bool, where: Where) -> Conjunction | None:
        """A past formula: what is remembered of it, and what this letter says."""
        first, last = formula.operands[0], formula.operands[-1]
        stored = (self._memory(formula, binding, positive, where),)
        if formula.operator in ("yesterday", "weak-yesterday"):
            return stored
        now = self.conjunction(first, binding, positive, where)
        if formula.operator in ("once", "historically"):
            either = (formula.operator == "once") == positive
            return self._any([stored, now]) if either else self._all([stored, now])
        starts = self.conjunction(last, binding, positive, where)
        if positive:
            return self._any([starts, self._all([now, stored])])
        return self._all([starts, self._any([now, stored])])

    def _latched(self, number: int, binding: tuple[int, ...], value: bool) -> int:
        """The proposition that a monitor has a value at the letter read last."""
        key = (number, binding, _OUTPUT, value)
        known = self._memories.get(key)
        if known is None:
            known = self._memories[key] = self._fresh()
        return known

    def _memory(self, formula: Temporal, binding: Binding, value: bool, where: Where) -> int:
        """The proposition that a monitor remembers a value of a past formula."""
        index = where.program._past_index[id(formula)]
        key = (where.number, where.binding, index, value)
        known = self._memories.get(key)
        if known is None:
            known = self._memories[key] = self._fresh()
            first, last = formula.operands[0], formula.operands[-1]
            later = where._replace(taken=None)
            match formula.operator:
                case "once" | "historically":
                    # Once true, or once false, it stays so.
                    lasting = (formula.operator == "once") == value
                    comes = self.conjunction(first, binding, value, later) if lasting else None
                case "since" if value:
                    comes = self.conjunction(last, binding, True, later)
                case "since":
                    ends = [self.conjunction(part, binding, False, later) for part in (first, last)]
                    comes = self._all(ends)
                case _:
                    comes = self.conjunction(first, binding, value, later)
            if comes is not None:
                self.effects[self._operator(comes, -1)].append(known)
        return known

    def _literal(
        self, atom: Atom, binding: Binding, positive: bool, where: Where | Asking | After | None
    ) -> Conjunction | None:
        predicate = atom.predicate
        code = self.task.encode(_arguments(atom.arguments, binding))
        if is_static(self.engine, predicate):
            return () if (code in self.facts[predicate]) == positive else None
        if predicate in self._action_predicates:
            if not isinstance(where, Where | Asking) or (where.taken is None and not positive):
                return ()
            if where.taken is not None:
                return () if ((predicate, code) == where.taken) == positive else None
        if isinstance(where, After):
            return self._regressed(atom, binding, positive, where.step)
        if not positive and self.engine.axioms is not None and predicate in self.engine.axioms.derived:
            return ()
        return (self._proposition((predicate, code, positive)),)

    def _regressed(self, atom: Atom, binding: Binding, positive: bool, step: GroundAction) -> Conjunction | None:
        """What makes a literal true after a step."""
        if self.engine.axioms is not None and atom.predicate in self.engine.axioms.derived:
            return ()
        arguments = _arguments(atom.arguments, binding)
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
                    for objects in product(*[self.task.domains[v.domain] for v in rest]):
                        out.append(self.conjunction(effect.condition, {**matched, **bind(rest, objects)}, value))
        now = self._literal(atom, binding, positive, None)
        if positive:
            return self._any([*adds, self._all([now, *deletes])])
        return self._all([*adds, self._any([now, *deletes])])

    def _proposition(self, fact: tuple[int, int, bool]) -> int:
        known = self._propositions.get(fact)
        if known is None:
            known = self._propositions[fact] = self._fresh()
            for number in self._achievers.get(fact, ()):
                self.effects[number].append(known)
        return known

    def _fresh(self) -> int:
        self.readers.append([])
        self.size += 1
        return self.size - 1

    @staticmethod
    def _all(parts: Iterable[Conjunction | None]) -> Conjunction | None:
        out: Conjunction = ()
        for part in parts:
            if part is None:
                return None
            out = _both(out, part)
        return out

    def _any(self, parts: Iterable[Conjunction | None]) -> Conjunction | None:
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
            known = self._choices[key] = self._fresh()
            for choice in choices:
                self.effects[self._operator(choice, -1)].append(known)
        return (known,)

    def _operator(self, condition: Conjunction, label: int) -> int:
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

    def _demanded(self, demands: Iterable[Demand], step: GroundAction) -> Conjunction | None:
        """What the rules about a step demand where it is taken."""
        return self._all([self._demand(demand, step) for demand in demands])

    def _demand(self, demand: Demand, step: GroundAction) -> Conjunction | None:
        part = demand.part
        assert part.step is not None
        atom = part.step.body if isinstance(part.step, Quantified) else part.step
        assert isinstance(atom, Atom)
        declared = {v.slot: v for v in part.parameters}
        binding: Binding = {}
        for argument, given in zip(atom.arguments, step.objects, strict=True):
            slot = -1 - argument
            if argument >= 0:
                if argument != given:
                    return ()
            elif slot in declared:
                variable = declared[slot]
                if given not in self.task.domain_sets[variable.domain] or binding.setdefault(slot, given) != given:
                    return ()
        rest = [v for v in part.parameters if v.slot not in binding]
        total = 1
        for variable in rest:
            total *= len(self.task.domains[variable.domain])
        if total > MAX_OPEN:
            return ()
        guard = TRUE if part.guard is None else part.guard
        action_fact = self.engine.action_fact("start", step)
        out: list[Conjunction | None] = []
        for values in product(*[self.task.domains[v.domain] for v in rest]):
            full = {**binding, **bind(rest, values)}
            if demand.check is not None:
                where: Asking | After | None = After(step) if part.after else None
                if isinstance(demand.check, LatchedCheck):
                    where = Asking(demand.check, action_fact)
                unguarded = self.conjunction(guard, full, False)
                out.append(self._any([unguarded, self.conjunction(part.body, full, True, where)]))
            elif not part.after:
                monitor = self.monitors[demand.number]
                assert isinstance(monitor, Automaton)
                objects = tuple([full[v.slot] for v in part.parameters])
                own = Where(demand.number, monitor.program, objects, action_fact)
                out.append(self.conjunction(monitor.program._alive, full, True, own))
        return self._all(out)

    def _kept(
        self,
        invariants: dict[tuple[int, bool], list[Invariant]],
        step: GroundAction,
        changes: Iterable[tuple[int, int, bool]],
    ) -> Conjunction | None:
        """What the rules about single states demand, before a step, of the state after it."""
        out: list[Conjunction | None] = []
        seen: set[tuple[int, tuple[int, ...]]] = set()
        for predicate, code, value in changes:
            for monitor in invariants.get((predicate, value), ()):
                for objects in self._concerned(monitor, predicate, code):
                    key = (monitor.part, objects)
                    if key in seen or key in self._excused:
                        continue
                    seen.add(key)
                    binding = dict(zip(monitor.holds.slots, objects, strict=True))
                    if key not in self._plain:
                        self._plain[key] = self.conjunction(monitor.holds.formula, binding, True)
                    if self._plain[key] != ():
                        out.append(self.conjunction(monitor.holds.formula, binding, True, After(step)))
        return self._all(out)

    def _concerned(self, monitor: Invariant, predicate: int, code: int) -> Iterator[tuple[int, ...]]:
        """The bindings of a rule that read a fact; none where there are too many to look at each."""
        domains = [self.task.domains[v.domain] for v in self.engine.plan.parts[monitor.part].parameters]
        for number in monitor.readers.by_predicate.get(predicate, ()):
            pattern = monitor.readers.patterns[number]
            found = pattern.key(code)
            if found is None:
                continue
            known = dict(zip(pattern.parameters, found, strict=True))
            choices = [(known[i],) if i in known else domain for i, domain in enumerate(domains)]
            total = 1
            for choice in choices:
                total *= len(choice)
            if total <= MAX_OPEN:
                yield from product(*choices)

    # -- states -------------------------------------------------------------------------------------------------------

    def _remembered(self, runtime: Runtime) -> Iterator[int]:
        """The propositions of memory that hold now."""
        for (monitor, binding, index, value), number in self._memories.items():
            automaton = runtime.monitors[monitor]
            assert isinstance(automaton, Automaton)
            instance = automaton.instances.get(binding)
            if instance is None and (automaton.closed or binding in automaton.done):
                yield number  # decided for good
                continue
            state = automaton.default.state if instance is None else instance.state
            stored, _, output = automaton.program._states[state]
            if (output if index == _OUTPUT else bool(stored >> index & 1)) == value:
                yield number

    def holding(self, state: State, runtime: Runtime | None) -> list[int]:
        """The propositions that hold now."""
        facts = state.facts
        out = [n for (predicate, code, value), n in self._propositions.items() if (code in facts[predicate]) == value]
        if runtime is not None and self._memories:
            out += self._remembered(runtime)
        return out


def is_static(engine: Engine, predicate: int) -> bool:
    """Whether no action changes a predicate."""
    return predicate < len(engine.task.static) and engine.task.static[predicate]


def _head(predicate: int, parameters: tuple[Variable, ...]) -> Atom:
    return Atom(predicate, tuple([-1 - v.slot for v in parameters]))


def _arguments(arguments: tuple[int, ...], binding: Binding) -> tuple[int, ...]:
    return tuple([binding[-1 - a] if a < 0 else a for a in arguments])


def _both(one: Conjunction, other: Conjunction) -> Conjunction:
    return tuple(sorted({*one, *other})) if one and other else one or other


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
