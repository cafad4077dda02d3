"""Rules compiled away: a task whose plans are the safe plans of another task, for planners that know no constraints.

What a monitor remembers becomes facts. An action ``observe`` reads the state after each step that matters (and S0),
as the monitors would, and updates those facts by conditional effects; what it may never see takes the fact ``safe``
away, without which nothing goes on. The compilation is lifted: an instance of a rule is a binding of an effect's
``forall``, so that grounding, and the folding of static facts, are the planner's.

- past operators are a bit each (Havelund and Rosu 2004), as in :mod:`plansafe.verifier.execution.monitors.program`;
- operators over the trace are automata whose states are facts (compare Edelkamp, ICAPS 2006; Bonassi et al. 2021);
- a rule about a step is a precondition of that action, or an effect on ``safe``;
- what must hold at the end is part of the goal.

A letter's action is known only once it is taken: formulas that mention actions are read by the actions themselves, each
with its own action fact true and those of the others false, and at the last letter by an action ``finish``. Formulas
that cannot tell a letter from its repetition are read only after actions that change what they read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import count, product
from typing import NamedTuple, assert_never

from plansafe.verifier.compile.normal import dnf
from plansafe.verifier.execution.monitors.program import (
    PERMANENTLY_VIOLATED,
    PRESENTLY_SATISFIED,
    WHOLE_TRACE,
    structure,
)
from plansafe.verifier.execution.replay import Engine
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import (
    FALSE,
    TRUE,
    Action,
    And,
    Assignment,
    Atom,
    Compare,
    Effect,
    Equal,
    Formula,
    Metric,
    Not,
    Or,
    Predicate,
    Quantified,
    Snap,
    Task,
    Temporal,
    Truth,
    Variable,
    bind,
    variable,
)
from plansafe.verifier.model.operations import (
    binders,
    expression_fluents,
    free_slots,
    mapped,
    reads,
    subformulas,
    substituted,
    substituted_atom,
)
from plansafe.verifier.planning.printing import TOTAL_COST, folded
from plansafe.verifier.planning.rewriting import divides, is_conjunction, is_plain
from plansafe.verifier.planning.slicing import is_total, slice_functions
from plansafe.verifier.planning.trace_automata import MAX_TICKS, STEPWISE, Automaton, CannotCompile, Ltl, WholeTrace
from plansafe.verifier.rules.model import Part
from plansafe.verifier.rules.split import past_only

OBSERVE, FINISH = "observe", "finish"
MAX_EXPANSION = 20_000


class Compiled(NamedTuple):
    """A task without rules. Steps named in ``bookkeeping`` are no steps of the original task.

    ``observe`` is the action that reads a letter, ``watch`` the predicate of the fact that it is due, ``safe`` that of
    the fact that no rule is violated (``None`` where there is nothing to observe or to violate), and ``cost`` the
    function that counts the steps of the original task (``None``: all steps are).
    """

    task: Task
    bookkeeping: frozenset[str]
    observe: str | None
    watch: int | None
    safe: int | None
    cost: int | None


def compile_rules(engine: Engine, rules: bool = True) -> Compiled:
    """Compile an engine's rules (with ``rules`` false: none of them) into its task.

    Raises :class:`CannotCompile`. Linear in the size of the rules but for automata of trajectory formulas, which have
    up to :data:`MAX_STATES` states and a transition for each way their leaves can differ.
    """
    return _Compiler(engine, rules).compiled()


class _Reading(NamedTuple):
    """How a part's formulas are read: the domains of its variables, and whether by the actions that are taken."""

    domains: dict[int, Variable]
    acting: bool
    bits: dict[tuple[object, ...], Formula]
    """Past subformulas already compiled, by structure, with their value while a letter is read."""
    settled: dict[tuple[object, ...], Formula]
    """.. and their value afterwards."""
    early: _Reading | None = None
    """How the parts that mention no action are read, where actions read the whole."""


class _Acting(NamedTuple):
    """An effect whose condition mentions action facts: whether it happens when an action is taken, and at the end."""

    effect: Effect
    taken: bool
    final: bool


class _Compiler:
    def __init__(self, engine: Engine, rules: bool) -> None:
        task = engine.task
        self.engine = engine
        self.initial = engine.initial()
        self.source = task = task._replace(initial_fluents=self.initial.fluents)
        if engine.refused is not None:
            raise CannotCompile(engine.refused.message)
        if any([action.end is not None for action in task.actions.values()]):
            raise CannotCompile("durative actions")
        if any([literal.time > 0 for literal in task.timed_literals]):
            raise CannotCompile("timed initial literals")
        self.parts: list[tuple[str, Part]] = []
        if rules:
            if engine.limit is not None:
                raise CannotCompile(engine.limit.message)
            for rule in engine.rules:
                if not rule.preference:
                    self.parts += [(rule.name, part) for part in rule.parts]
        self.action_predicates = frozenset(engine.action_predicates.values())
        self.action_of = {
            p: task.actions[name] for (kind, name), p in engine.action_predicates.items() if kind == "start"
        }
        self.predicates = list(task.predicates)
        self.true_at_start: set[int] = set()  # new predicates without arguments that hold in the initial state
        self.observed: list[Effect] = []
        self.acting: list[_Acting] = []
        self.finishing: list[Effect] = []
        self.goal: list[Formula] = []
        self.conditions: dict[str, list[Formula]] = {name: [] for name in task.actions}
        self.effects: dict[str, list[Effect]] = {name: [] for name in task.actions}
        self.relevant: set[int] = set()
        self.touching: set[str] = set()
        self.stepwise = False
        self.observe: str | None = None
        self.safe: int | None = None
        self.slots = count(1 + max([v.slot for a in task.actions.values() for v in _bound(a)], default=0))
        self.clocks: dict[bool, list[int]] = {False: [], True: []}
        self.derived = frozenset([axiom.predicate for stratum in task.axioms for axiom in stratum])

    # -- the whole ----------------------------------------------------------------------------------------------------

    def compiled(self) -> Compiled:
        """The compiled task."""
        for name, part in self.parts:
            try:
                self._part(part)
            except CannotCompile as problem:
                raise CannotCompile(f"rule {name}: {problem}") from None
        self._tick()
        self._distribute()
        for effect in self.observed:
            self._reads(effect.condition)
        watch = self._phases() if self.observed or self.finishing else None
        task = slice_functions(self._task(watch))
        bookkeeping = frozenset(task.actions.keys() - self.source.actions.keys())
        cost = next((f for f, declared in enumerate(task.functions) if declared.name == TOTAL_COST), None)
        return Compiled(task, bookkeeping, self.observe, watch, self.safe, cost)

    def _reads(self, formula: Formula) -> None:
        for read in reads(formula):
            if isinstance(read, Atom) and read.predicate in self.derived:
                assert self.engine.axioms is not None
                self.relevant |= self.engine.axioms.inputs  # the lot: axioms chain
            else:
                self.relevant.add(read.predicate if isinstance(read, Atom) else -1 - read.function)

    def _predicate(self, name: str, variables: Sequence[Variable] = ()) -> int:
        self.predicates.append(Predicate(name, ((0,),) * len(variables), tuple([v.domain for v in variables]), None))
        return len(self.predicates) - 1

    def _phases(self) -> int:
        """The facts that let ``observe`` follow every action that matters."""
        ready, watch = self._predicate("ready"), self._predicate("watch")
        self.true_at_start.add(watch)
        for name, action in self.source.actions.items():
            self.conditions[name].append(Atom(ready, ()))
            if self.stepwise or name in self.touching or self._writes(action) & self.relevant:
                self.effects[name].append(_always((Atom(watch, ()),), (Atom(ready, ()),)))
        self.observed.append(_always((Atom(ready, ()),), (Atom(watch, ()),)))
        if self.finishing:
            done = self._predicate("done")
            self.finishing.append(_always((Atom(done, ()),), (Atom(ready, ()),)))
            self.goal.append(Atom(done, ()))
        else:
            self.goal.append(Atom(ready, ()))
        self.ready = ready
        return watch

    def _writes(self, action: Action) -> set[int]:
        out: set[int] = set()
        for effect in action.start.effects:
            out |= {atom.predicate for atom in (*effect.adds, *effect.deletes)}
            out |= {-1 - assignment.function for assignment in effect.assignments}
        return out

    def _task(self, watch: int | None) -> Task:
        source = self.source
        actions: dict[str, Action] = {}
        guard = [] if self.safe is None else [Atom(self.safe, ())]
        functions = list(source.functions)
        fluents = [dict(values) for values in self.initial.fluents]
        metric = None
        paid: list[Effect] = []
        if watch is not None:
            cost = len(functions)
            functions.append(Predicate(TOTAL_COST, (), (), None))
            fluents.append({0: 0})
            metric = Metric(True, model.Fluent(cost, ()))
            paid = [Effect((), TRUE, (), (), (Assignment("increase", cost, (), model.Constant(1)),))]
        for name, action in source.actions.items():
            condition = (*guard, *action.start.condition, *self.conditions[name])
            snap = Snap(condition, (*action.start.effects, *self.effects[name], *paid))
            actions[name] = action._replace(start=snap, preferences=())
        taken = set(source.actions)
        if watch is not None:
            observe = self.observe = _free_name(OBSERVE, taken)
            actions[observe] = _plain(observe, (*guard, Atom(watch, ())), tuple(self.observed))
        if self.finishing:
            finish = _free_name(FINISH, taken)
            actions[finish] = _plain(finish, (*guard, Atom(self.ready, ())), tuple(self.finishing))
        if self.safe is not None:
            self.true_at_start.add(self.safe)
        facts = [set(codes) for codes in self.initial.facts]
        facts += [set() for _ in range(len(self.predicates) - len(facts))]
        for predicate in self.derived:
            facts[predicate] = set()
        for predicate in self.true_at_start:
            facts[predicate].add(0)
        goal = (*source.goal, *self.goal, *guard)
        changed = {p for action in actions.values() for p in self._writes(action)} | self.derived
        return source._replace(
            predicates=self.predicates,
            functions=functions,
            actions=actions,
            initial_facts=facts,
            initial_fluents=fluents,
            timed_literals=(),
            goal=goal,
            goal_nodes=(None,) * len(goal),
            goal_preferences=(),
            metric=metric,
            static=[p not in changed for p in range(len(self.predicates))],
        )

    # -- parts --------------------------------------------------------------------------------------------------------

    def _part(self, part: Part) -> None:
        if any([not self.source.domains[v.domain] for v in part.parameters]):
            return
        variables = [*part.parameters]
        for formula in (part.body, part.step, part.guard):
            if formula is not None:
                self._defined_throughout(formula)
                variables += binders(formula)
        fresh = {v.slot: v._replace(slot=next(self.slots)) for v in variables}
        values = {old: variable(new.slot) for old, new in fresh.items()}
        domains = {new.slot: new for new in fresh.values()}
        parameters = tuple([fresh[v.slot] for v in part.parameters])
        body = substituted(part.body, values)
        if part.mode == "each":
            assert part.step is not None
            step = substituted(part.step, values)
            guard = TRUE if part.guard is None else substituted(part.guard, values)
            if not self._acting(body) and not self._acting(guard):
                self._step_rule(parameters, step, guard, body, part.after, domains)
                return
            premise: Formula = And((step, guard))
            if part.after:
                premise = Temporal("yesterday", (premise,))
            body = Or((Not(premise), body))
        acting = self._acting(body)
        reading = _Reading(domains, acting, {}, {}, _Reading(domains, False, {}, {}) if acting else None)
        if part.mode == "whole":
            self._require_at_end(parameters, self._skeleton(body, True, True, reading))
        elif part.mode == "end" and not reading.acting:
            self._require_at_end(parameters, self._settled(body, reading))
        elif part.mode == "end":
            at_end = self._violation(parameters, Not(self._now(body, reading)))
            self.acting += [_Acting(effect, False, True) for effect in at_end]
        else:
            self._emit(reading, self._violation(parameters, Not(self._now(body, reading))))

    def _defined_throughout(self, formula: Formula) -> None:
        """Refuse a formula whose numbers may be undefined, and with them its value: facts know two values only."""
        for part in subformulas(formula):
            if isinstance(part, Compare):
                for expression in (part.left, part.right):
                    if divides(expression):
                        raise CannotCompile("it divides numbers")
                    if not all([is_total(self.source, fluent.function) for fluent in expression_fluents(expression)]):
                        raise CannotCompile("it reads numbers that may be undefined")

    def _acting(self, formula: Formula) -> bool:
        return any([isinstance(read, Atom) and read.predicate in self.action_predicates for read in reads(formula)])

    def _violation(self, variables: Iterable[Variable], condition: Formula) -> list[Effect]:
        if self.safe is None:
            self.safe = self._predicate("safe")
        return self._when(variables, condition, (), (Atom(self.safe, ()),))

    def _when(
        self, variables: Iterable[Variable], condition: Formula, adds: tuple[Atom, ...], deletes: tuple[Atom, ...]
    ) -> list[Effect]:
        """Effects that happen for every binding under which ``condition`` holds, each with a conjunction."""
        condition = folded(self.source, self._apart(condition))
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
                    (*bound, *disjunct.variables), folded(self.source, And(literals)) if literals else TRUE,
                    adds, deletes, (),
                )
            )  # fmt: skip
        return out

    def _apart(self, formula: Formula) -> Formula:
        """The formula with quantified variables of its own: copies of it may be joined."""
        values = {v.slot: variable(next(self.slots)) for v in binders(formula)}
        return substituted(formula, values) if values else formula

    def _emit(self, reading: _Reading, effects: list[Effect], final: bool = True) -> None:
        """Let effects happen whenever a letter is read; unless ``final``, those at the last letter do not matter."""
        if reading.acting:
            self.acting += [_Acting(effect, True, final) for effect in effects]
        else:
            self.observed += effects

    def _distribute(self) -> None:
        """Give each action the effects that it can have as the action of a letter; ``finish`` those without one."""
        for effect, taken, final in self.acting:
            if final:
                self.finishing += self._of_action(effect, None)
            for name, action in self.source.actions.items() if taken else ():
                for own in self._of_action(effect, action):
                    wanted = folded(self.source, Not(own.condition))
                    violates = any([atom.predicate == self.safe for atom in own.deletes])
                    if violates and not own.variables and is_plain(wanted):
                        self.conditions[name].append(wanted)
                    else:
                        self.effects[name].append(own)

    def _of_action(self, effect: Effect, action: Action | None) -> list[Effect]:
        """An effect where the letter's action is the given one: its action facts are equations then, others false."""
        domains = {v.slot: v.domain for v in (*effect.variables, *(action.parameters if action else ()))}
        condition = self._actions_resolved(effect.condition, action, domains)
        out = []
        for own in self._when(effect.variables, condition, effect.adds, effect.deletes):
            known = {**domains, **{v.slot: v.domain for v in own.variables}}
            values = self._solved(own.condition, {v.slot for v in own.variables}, known)
            condition = folded(self.source, substituted(own.condition, values))
            if not (isinstance(condition, Truth) and not condition.value):
                variables = tuple([v for v in own.variables if v.slot not in values])
                adds = tuple([substituted_atom(atom, values) for atom in own.adds])
                deletes = tuple([substituted_atom(atom, values) for atom in own.deletes])
                out.append(Effect(variables, condition, adds, deletes, ()))
        return out

    def _actions_resolved(self, formula: Formula, action: Action | None, domains: dict[int, int]) -> Formula:
        match formula:
            case Atom() if formula.predicate in self.action_predicates:
                if action is None or self.action_of[formula.predicate] is not action:
                    return FALSE
                pairs = zip(formula.arguments, action.parameters, strict=True)
                return And(tuple([Equal(argument, variable(own.slot)) for argument, own in pairs]))
            case Quantified() if self._acting(formula.body):
                known = {**domains, **{v.slot: v.domain for v in formula.variables}}
                body = folded(self.source, self._actions_resolved(formula.body, action, known))
                return self._without_equations(Quantified(formula.universal, formula.variables, body), known)
            case Quantified() | Temporal():
                return formula
            case _:
                return mapped(formula, lambda part: self._actions_resolved(part, action, domains))

    def _without_equations(self, formula: Quantified, domains: dict[int, int]) -> Formula:
        """An equal formula in which no quantified variable is equated with another term, where that can be had."""
        disjuncts = dnf(formula.body, not formula.universal)
        if disjuncts is None:
            return formula
        out: list[Formula] = []
        for disjunct in disjuncts:
            literals = tuple([lit.formula if lit.positive else Not(lit.formula) for lit in disjunct.literals])
            own = (*formula.variables, *disjunct.variables)
            known = {**domains, **{v.slot: v.domain for v in disjunct.variables}}
            values = self._solved(And(literals), {v.slot for v in own}, known)
            rest = tuple([v for v in own if v.slot not in values])
            body = substituted(And(literals), values)
            out.append(Quantified(False, rest, body) if rest else body)
        exists = Or(tuple(out))
        return folded(self.source, Not(exists) if formula.universal else exists)

    def _solved(self, condition: Formula, open_slots: set[int], domains: dict[int, int]) -> dict[int, int]:
        """What the equations of a conjunction say about variables that may be replaced."""
        values: dict[int, int] = {}
        for part in condition.parts if isinstance(condition, And) else (condition,):
            if isinstance(part, Equal):
                self._solve(part, values, domains, open_slots)
        return values

    def _solve(self, equation: Equal, values: dict[int, int], domains: dict[int, int], open_slots: set[int]) -> None:
        """Add what one equation says: a variable may be replaced by a term that has no values beyond its own."""
        sets = self.source.domain_sets
        sides = [values.get(-1 - side, side) if side < 0 else side for side in equation]
        for own, other in (sides, reversed(sides)):
            if own < 0 and -1 - own in open_slots and own != other:
                objects = frozenset((other,)) if other >= 0 else sets[domains[-1 - other]]
                if objects <= sets[domains[-1 - own]]:
                    for slot, value in values.items():
                        values[slot] = other if value == own else value
                    values[-1 - own] = other
                    open_slots.discard(-1 - own)
                    return

    # -- rules about steps --------------------------------------------------------------------------------------------

    def _step_rule(
        self,
        parameters: tuple[Variable, ...],
        step: Formula,
        guard: Formula,
        body: Formula,
        after: bool,
        domains: dict[int, Variable],
    ) -> None:
        reading = _Reading(domains, False, {}, {})
        atom = step.body if isinstance(step, Quantified) else step
        assert isinstance(atom, Atom)
        action = self.action_of[atom.predicate]
        sets = self.source.domain_sets
        values: dict[int, int] = {}
        matched: list[Formula] = [self._settled(guard, reading)]
        for argument, own in zip(atom.arguments, action.parameters, strict=True):
            new = argument < 0 and -1 - argument not in values
            if new and sets[own.domain] <= sets[domains[-1 - argument].domain]:
                values[-1 - argument] = variable(own.slot)
                continue
            matched.append(Equal(variable(own.slot), values.get(-1 - argument, argument)))
        wild = step.variables if isinstance(step, Quantified) else ()
        rest = [v for v in (*parameters, *wild) if v.slot not in values]
        match = substituted(And(tuple(matched)), values)
        if after:
            about = [domains[s] for s in sorted(free_slots(body))]
            due = self._predicate("due", about)
            now = Atom(due, tuple([variable(v.slot) for v in about]))
            self.effects[action.name] += self._when(rest, match, (substituted_atom(now, values),), ())
            self.touching.add(action.name)
            self.observed += self._violation(about, And((now, Not(self._now(body, reading)))))
            self.observed.append(Effect(tuple(about), now, (), (now,), ()))
            return
        wanted = folded(self.source, Or((Not(match), substituted(self._settled(body, reading), values))))
        open_slots = free_slots(wanted)
        if not any([v.slot in open_slots for v in rest]) and is_plain(wanted):
            self.conditions[action.name].append(wanted)
        else:
            self.effects[action.name] += self._violation(rest, Not(wanted))

    # -- past formulas ------------------------------------------------------------------------------------------------

    def _now(self, formula: Formula, reading: _Reading) -> Formula:
        """The value of a past formula at the letter being read, as a condition of what reads it."""
        if reading.acting and not self._acting(formula):
            assert reading.early is not None
            return self._settled(formula, reading.early)
        if isinstance(formula, Temporal):
            return self._bit(formula, reading)
        return mapped(formula, lambda part: self._now(part, reading))

    def _static(self, atom: Atom) -> bool:
        return atom.predicate < len(self.source.static) and self.source.static[atom.predicate] and (
            atom.predicate not in self.action_predicates
        )  # fmt: skip

    def _remembered(self, name: str, formula: Formula, reading: _Reading) -> tuple[list[Variable], Atom]:
        """A new predicate over a formula's free variables."""
        about = [reading.domains[slot] for slot in sorted(free_slots(formula))]
        return about, Atom(self._predicate(name, about), tuple([variable(v.slot) for v in about]))

    def _bit(self, formula: Temporal, reading: _Reading) -> Formula:
        key = structure(formula)
        if key in reading.bits:
            return reading.bits[key]
        operator = formula.operator
        self.stepwise |= operator in STEPWISE and not reading.acting
        operands = [self._now(operand, reading) for operand in formula.operands]
        about, bit = self._remembered(operator, formula, reading)
        first = operands[0]
        value: Formula
        settled: Formula
        if operator == "once":
            changes = self._when(about, first, (bit,), ())
            value, settled = Or((bit, first)), bit
        elif operator == "historically":  # the bit: it has been false
            changes = self._when(about, Not(first), (bit,), ())
            value, settled = And((Not(bit), first)), Not(bit)
        elif operator == "since":
            changes = self._when(about, operands[1], (bit,), ())
            changes += self._when(about, And((Not(first), Not(operands[1]))), (), (bit,))
            value, settled = Or((operands[1], And((first, bit)))), bit
        else:  # the bit: the operand at the last letter, or its negation for the weak operator
            weak = operator == "weak-yesterday"
            changes = self._when(about, first, () if weak else (bit,), (bit,) if weak else ())
            changes += self._when(about, Not(first), (bit,) if weak else (), () if weak else (bit,))
            value = Not(bit) if weak else bit
            settled_at = Atom(self._predicate("had-" + operator, about), bit.arguments)
            changes += self._when(about, value, (settled_at,), ())
            changes += self._when(about, Not(value), (), (settled_at,))
            settled = settled_at
        self._emit(reading, changes, final=False)
        reading.bits[key] = value
        reading.settled[key] = settled
        return value

    def _settled(self, formula: Formula, reading: _Reading) -> Formula:
        """The value of a past formula without actions at the present letter, once ``observe`` has read it."""
        if isinstance(formula, Temporal):
            self._bit(formula, reading)
            return reading.settled[structure(formula)]
        return mapped(formula, lambda part: self._settled(part, reading))

    # -- formulas over the trace --------------------------------------------------------------------------------------

    def _skeleton(self, formula: Formula, positive: bool, fatal: bool, reading: _Reading) -> Formula:
        """What must hold at the end for a formula (or its negation) to hold of the trace.

        With ``fatal``, the trace must satisfy it: whatever makes that impossible is a violation at once.
        """
        if past_only(formula):
            return self._automaton(Ltl(self.source, formula, positive), fatal, reading)
        match formula:
            case Not():
                return self._skeleton(formula.body, not positive, fatal, reading)
            case And() | Or():
                joined = isinstance(formula, And) == positive
                parts = tuple([self._skeleton(p, positive, fatal and joined, reading) for p in formula.parts])
                return And(parts) if joined else Or(parts)
            case Quantified():
                universal = formula.universal == positive
                if any([not self.source.domains[v.domain] for v in formula.variables]):
                    return Truth(universal)
                inner = self._skeleton(formula.body, positive, fatal and universal, reading)
                return Quantified(universal, formula.variables, inner)
            case Temporal():
                if formula.operator in WHOLE_TRACE:
                    return self._automaton(
                        WholeTrace(formula, positive, partial(self._before, acting=reading.acting)), fatal, reading
                    )
                if formula.operator == "always" and positive and fatal and past_only(formula.operands[0]):
                    body = self._now(formula.operands[0], reading)
                    self._emit(reading, self._violation(reading.domains.values(), Not(body)))
                    return TRUE
                return self._automaton(Ltl(self.source, formula, positive), fatal, reading)
            case Truth() | Atom() | Equal() | Compare():
                raise AssertionError("state formulas are past formulas")
            case _:
                assert_never(formula)

    def _automaton(self, automaton: Automaton, fatal: bool, reading: _Reading) -> Formula:
        """Facts for the states of an automaton, effects for its transitions; returns when it accepts at the end."""
        self.stepwise |= automaton.stepwise and not reading.acting
        leaves = [self._now(leaf, reading) for leaf in automaton.leaves]
        slots = sorted(frozenset().union(*[free_slots(leaf) for leaf in automaton.leaves]))
        about = [reading.domains[slot] for slot in slots]
        arguments = tuple([variable(slot) for slot in slots])
        start = automaton.start
        transitions: list[tuple[object, object, Formula]] = []
        for state, phase, cube, target in automaton.transitions():
            literals = [leaves[leaf] if wanted else Not(leaves[leaf]) for leaf, wanted in cube]
            transitions.append((state, target, And((phase, *literals))))
        dead = {s for s in automaton.states if fatal and automaton.verdict(s) == PERMANENTLY_VIOLATED}
        states = [s for s in automaton.states if s != start and s not in dead]
        facts = {s: Atom(self._predicate(automaton.name, about), arguments) for s in states}
        accepting = {s for s in automaton.states if automaton.verdict(s) >= PRESENTLY_SATISFIED}
        away: Atom | None = None
        if len(states) > 3:
            away = Atom(self._predicate("left-" + automaton.name, about), arguments)
        several = start not in accepting and len(accepting) > 1
        accepts = Atom(self._predicate("accepts", about), arguments) if several else None
        at_start: Formula = Not(away) if away is not None else And(tuple([Not(fact) for fact in facts.values()]))
        for state, target, condition in transitions:
            if target == state or state in dead:
                continue
            here = And((at_start if state == start else facts[state], condition))
            if target in dead:
                self._emit(reading, self._violation(about, here))
                continue
            adds = [facts[target]] if target != start else []
            deletes = [facts[state]] if state != start else []
            if away is not None and start in (state, target):
                (adds if state == start else deletes).append(away)
            if accepts is not None and (state in accepting) != (target in accepting):
                (adds if target in accepting else deletes).append(accepts)
            self._emit(reading, self._when(about, here, tuple(adds), tuple(deletes)))
        if accepts is not None:
            return accepts
        if start in accepting:
            return And(tuple([Not(facts[s]) for s in states if s not in accepting]))
        return Or(tuple([facts[s] for s in states if s in accepting]))

    def _before(self, letter: int, acting: bool) -> Atom:
        """A fact that holds while letters up to (and with) the given one are read."""
        if letter > MAX_TICKS:
            raise CannotCompile(f"a bound of more than {MAX_TICKS} steps")
        clock = self.clocks[acting]
        while len(clock) <= letter:
            clock.append(self._predicate(f"up-to-{len(clock)}"))
            self.true_at_start.add(clock[-1])
        return Atom(clock[letter], ())

    def _tick(self) -> None:
        """Letter k takes away ``up-to-k``, the first that still holds."""
        for acting, clock in self.clocks.items():
            for letter, predicate in enumerate(clock):
                own = Atom(predicate, ())
                passed: Formula = Not(Atom(clock[letter - 1], ())) if letter else TRUE
                self._emit(
                    _Reading({}, acting, {}, {}), [Effect((), folded(self.source, And((own, passed))), (), (own,), ())]
                )

    # -- the end ------------------------------------------------------------------------------------------------------

    def _require_at_end(self, parameters: tuple[Variable, ...], formula: Formula) -> None:
        """Make a formula part of the goal for every binding: as literals where it comes to that."""
        formula = self._apart(formula)
        sizes = 1
        for v in parameters:
            sizes *= len(self.source.domains[v.domain])
        compound = sizes > MAX_EXPANSION
        if not compound:
            budget = [MAX_EXPANSION]
            literals: list[Formula] = []
            for objects in product(*[self.source.domains[v.domain] for v in parameters]):
                values = bind(parameters, objects)
                ground = self._grounded(substituted(formula, values), budget)
                if ground is None or not is_conjunction(ground):
                    compound = True
                    break
                literals += ground.parts if isinstance(ground, And) else (ground,)
            else:
                self.goal += dict.fromkeys([part for part in literals if part != TRUE])
        if compound:
            whole = Quantified(True, parameters, formula) if parameters else formula
            self.goal.append(folded(self.source, whole))

    def _grounded(self, formula: Formula, budget: list[int]) -> Formula | None:
        """A closed formula without quantifiers, static facts folded; ``None`` if that takes too many nodes."""
        budget[0] -= 1
        if budget[0] < 0:
            return None
        match formula:
            case Atom() if self._static(formula):
                code = self.source.encode(formula.arguments)
                return Truth(code in self.initial.facts[formula.predicate])
            case Not():
                inner = self._grounded(formula.body, budget)
                return None if inner is None else folded(self.source, Not(inner))
            case And() | Or():
                parts: list[Formula] = []
                for part in formula.parts:
                    ground = self._grounded(part, budget)
                    if ground is None:
                        return None
                    parts.append(ground)
                return folded(self.source, And(tuple(parts)) if isinstance(formula, And) else Or(tuple(parts)))
            case Quantified():
                copies: list[Formula] = []
                for objects in product(*[self.source.domains[v.domain] for v in formula.variables]):
                    values = bind(formula.variables, objects)
                    ground = self._grounded(substituted(formula.body, values), budget)
                    if ground is None:
                        return None
                    copies.append(ground)
                return folded(self.source, And(tuple(copies)) if formula.universal else Or(tuple(copies)))
            case Truth() | Atom() | Equal() | Compare() | Temporal():
                return folded(self.source, formula)
            case _:
                assert_never(formula)


def _bound(action: Action) -> list[Variable]:
    """All variables of an action."""
    out = list(action.parameters)
    for formula in action.start.condition:
        out += binders(formula)
    for effect in action.start.effects:
        out += [*effect.variables, *binders(effect.condition)]
    return out


def _always(adds: tuple[Atom, ...], deletes: tuple[Atom, ...]) -> Effect:
    return Effect((), TRUE, adds, deletes, ())


def _plain(name: str, condition: tuple[Formula, ...], effects: tuple[Effect, ...]) -> Action:
    return Action(name, (), Snap(condition, effects), None, (), (), (), None)


def _free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "-"
    taken.add(name)
    return name
