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

from typing import NamedTuple

from plansafe.verifier.compile.normal_forms import dnf
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import (
    FALSE,
    TRUE,
    Action,
    And,
    Assignment,
    Atom,
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
    variable,
)
from plansafe.verifier.model.operations import (
    atoms_and_fluents,
    map_children,
    substitute,
    substitute_in_atom,
    symbol_index,
)
from plansafe.verifier.planning.pddl_names import TOTAL_COST
from plansafe.verifier.planning.rule_parts import compile_rule_part
from plansafe.verifier.planning.simplification import fold_constants, is_simple_precondition, remove_unused_functions
from plansafe.verifier.planning.task_draft import TaskDraft, unconditional_effect
from plansafe.verifier.planning.trace_automata import CannotCompile
from plansafe.verifier.rules.model import RulePart
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, VerdictCriteria

OBSERVE, FINISH = "observe", "finish"


class CompiledRules(NamedTuple):
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


def compile_rules(engine: Engine, rules: bool = True, criteria: VerdictCriteria = EVERY_VIOLATION) -> CompiledRules:
    """Compile an engine's rules (with ``rules`` false: none; else those that can decide) into its task.

    Raises :class:`CannotCompile`. Linear in the size of the rules but for automata of trajectory formulas, which have
    up to :data:`MAX_STATES` states and a transition for each way their leaves can differ.
    """
    return _Compiler(engine, rules, criteria).compiled()


class _Compiler:
    def __init__(self, engine: Engine, rules: bool, criteria: VerdictCriteria) -> None:
        self.engine = engine
        if engine.refusal is not None:
            raise CannotCompile(engine.refusal.message)
        if any([action.end is not None for action in engine.task.actions.values()]):
            raise CannotCompile("durative actions")
        if any([literal.time > 0 for literal in engine.task.timed_literals]):
            raise CannotCompile("timed initial literals")
        self.parts: list[tuple[str, RulePart]] = []
        if rules:
            if engine.limit is not None:
                raise CannotCompile(engine.limit.message)
            for rule in engine.rules:
                if criteria.can_decide(rule):
                    self.parts += [(rule.name, part) for part in rule.parts]
        self.draft = TaskDraft(engine)
        self.source = self.draft.source
        self.relevant: set[int] = set()
        self.observe: str | None = None
        self.derived = frozenset([axiom.predicate for stratum in engine.task.axioms for axiom in stratum])

    def compiled(self) -> CompiledRules:
        """The compiled task."""
        for name, part in self.parts:
            try:
                compile_rule_part(self.draft, part)
            except CannotCompile as problem:
                raise CannotCompile(f"rule {name}: {problem}") from None
        self.draft.tick()
        distribute(self.draft)
        for effect in self.draft.observed:
            self._reads(effect.condition)
        watch = self._phases() if self.draft.observed or self.draft.finishing else None
        task = remove_unused_functions(self._task(watch))
        bookkeeping = frozenset(task.actions.keys() - self.source.actions.keys())
        cost = next((f for f, declared in enumerate(task.functions) if declared.name == TOTAL_COST), None)
        return CompiledRules(task, bookkeeping, self.observe, watch, self.draft.safe, cost)

    def _reads(self, formula: Formula) -> None:
        for read in atoms_and_fluents(formula):
            if isinstance(read, Atom) and read.predicate in self.derived:
                assert self.engine.axioms is not None
                self.relevant |= self.engine.axioms.inputs  # the lot: axioms chain
            else:
                self.relevant.add(symbol_index(read))

    def _phases(self) -> int:
        """The facts that let ``observe`` follow every action that matters."""
        draft = self.draft
        ready, watch = draft.predicate("ready"), draft.predicate("watch")
        draft.true_at_start.add(watch)
        for name, action in self.source.actions.items():
            draft.conditions[name].append(Atom(ready, ()))
            if draft.stepwise or name in draft.touching or self._writes(action) & self.relevant:
                draft.effects[name].append(unconditional_effect((Atom(watch, ()),), (Atom(ready, ()),)))
        draft.observed.append(unconditional_effect((Atom(ready, ()),), (Atom(watch, ()),)))
        if draft.finishing:
            done = draft.predicate("done")
            draft.finishing.append(unconditional_effect((Atom(done, ()),), (Atom(ready, ()),)))
            draft.goal.append(Atom(done, ()))
        else:
            draft.goal.append(Atom(ready, ()))
        self.ready = ready
        return watch

    def _writes(self, action: Action) -> set[int]:
        out: set[int] = set()
        for effect in action.start.effects:
            out |= {atom.predicate for atom in (*effect.adds, *effect.deletes)}
            out |= {-1 - assignment.function for assignment in effect.assignments}
        return out

    def _task(self, watch: int | None) -> Task:
        draft, source = self.draft, self.source
        actions: dict[str, Action] = {}
        guard = [] if draft.safe is None else [Atom(draft.safe, ())]
        functions = list(source.functions)
        fluents = [dict(values) for values in draft.initial.fluents]
        metric = None
        paid: list[Effect] = []
        if watch is not None:
            cost = len(functions)
            functions.append(Predicate(TOTAL_COST, (), (), None))
            fluents.append({0: 0})
            metric = Metric(True, model.Fluent(cost, ()))
            paid = [Effect((), TRUE, (), (), (Assignment("increase", cost, (), model.Constant(1)),))]
        for name, action in source.actions.items():
            condition = (*guard, *action.start.condition, *draft.conditions[name])
            snap = Snap(condition, (*action.start.effects, *draft.effects[name], *paid))
            actions[name] = action._replace(start=snap, preferences=())
        taken = set(source.actions)
        if watch is not None:
            observe = self.observe = _free_name(OBSERVE, taken)
            actions[observe] = _plain(observe, (*guard, Atom(watch, ())), tuple(draft.observed))
        if draft.finishing:
            finish = _free_name(FINISH, taken)
            actions[finish] = _plain(finish, (*guard, Atom(self.ready, ())), tuple(draft.finishing))
        if draft.safe is not None:
            draft.true_at_start.add(draft.safe)
        facts = [set(codes) for codes in draft.initial.facts]
        facts += [set() for _ in range(len(draft.predicates) - len(facts))]
        for predicate in self.derived:
            facts[predicate] = set()
        for predicate in draft.true_at_start:
            facts[predicate].add(0)
        goal = (*source.goal, *draft.goal, *guard)
        changed = {p for action in actions.values() for p in self._writes(action)} | self.derived
        return source._replace(
            predicates=draft.predicates,
            functions=functions,
            actions=actions,
            initial_facts=facts,
            initial_fluents=fluents,
            timed_literals=(),
            goal=goal,
            goal_nodes=(None,) * len(goal),
            goal_preferences=(),
            metric=metric,
            static=[p not in changed for p in range(len(draft.predicates))],
        )


def _plain(name: str, condition: tuple[Formula, ...], effects: tuple[Effect, ...]) -> Action:
    return Action(name, (), Snap(condition, effects), None, (), (), (), None)


def _free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "-"
    taken.add(name)
    return name


def distribute(draft: TaskDraft) -> None:
    """Give each action the effects that it can have as the action of a letter; ``finish`` those without one."""
    for effect, taken, final in draft.acting:
        if final:
            draft.finishing += _of_action(draft, effect, None)
        for name, action in draft.source.actions.items() if taken else ():
            for own in _of_action(draft, effect, action):
                wanted = fold_constants(draft.source, Not(own.condition))
                violates = any([atom.predicate == draft.safe for atom in own.deletes])
                if violates and not own.variables and is_simple_precondition(wanted):
                    draft.conditions[name].append(wanted)
                else:
                    draft.effects[name].append(own)


def _of_action(draft: TaskDraft, effect: Effect, action: Action | None) -> list[Effect]:
    """An effect where the letter's action is the given one: its action facts are equations then, others false."""
    domains = {v.slot: v.domain for v in (*effect.variables, *(action.parameters if action else ()))}
    condition = _resolved(draft, effect.condition, action, domains)
    out = []
    for own in draft.when(effect.variables, condition, effect.adds, effect.deletes):
        known = {**domains, **{v.slot: v.domain for v in own.variables}}
        values = _solved(draft, own.condition, {v.slot for v in own.variables}, known)
        condition = fold_constants(draft.source, substitute(own.condition, values))
        if not (isinstance(condition, Truth) and not condition.value):
            variables = tuple([v for v in own.variables if v.slot not in values])
            adds = tuple([substitute_in_atom(atom, values) for atom in own.adds])
            deletes = tuple([substitute_in_atom(atom, values) for atom in own.deletes])
            out.append(Effect(variables, condition, adds, deletes, ()))
    return out


def _resolved(draft: TaskDraft, formula: Formula, action: Action | None, domains: dict[int, int]) -> Formula:
    match formula:
        case Atom() if formula.predicate in draft.action_predicates:
            if action is None or draft.action_of[formula.predicate] is not action:
                return FALSE
            pairs = zip(formula.arguments, action.parameters, strict=True)
            return And(tuple([Equal(argument, variable(own.slot)) for argument, own in pairs]))
        case Quantified() if draft.acts(formula.body):
            known = {**domains, **{v.slot: v.domain for v in formula.variables}}
            body = fold_constants(draft.source, _resolved(draft, formula.body, action, known))
            return _without_equations(draft, Quantified(formula.universal, formula.variables, body), known)
        case Quantified() | Temporal():
            return formula
        case _:
            return map_children(formula, lambda part: _resolved(draft, part, action, domains))


def _without_equations(draft: TaskDraft, formula: Quantified, domains: dict[int, int]) -> Formula:
    """An equal formula in which no quantified variable is equated with another term, where that can be had."""
    disjuncts = dnf(formula.body, not formula.universal)
    if disjuncts is None:
        return formula
    out: list[Formula] = []
    for disjunct in disjuncts:
        literals = tuple([lit.formula if lit.positive else Not(lit.formula) for lit in disjunct.literals])
        own = (*formula.variables, *disjunct.variables)
        known = {**domains, **{v.slot: v.domain for v in disjunct.variables}}
        values = _solved(draft, And(literals), {v.slot for v in own}, known)
        rest = tuple([v for v in own if v.slot not in values])
        body = substitute(And(literals), values)
        out.append(Quantified(False, rest, body) if rest else body)
    exists = Or(tuple(out))
    return fold_constants(draft.source, Not(exists) if formula.universal else exists)


def _solved(draft: TaskDraft, condition: Formula, open_slots: set[int], domains: dict[int, int]) -> dict[int, int]:
    """What the equations of a conjunction say about variables that may be replaced."""
    values: dict[int, int] = {}
    for part in condition.parts if isinstance(condition, And) else (condition,):
        if isinstance(part, Equal):
            _solve(draft, part, values, domains, open_slots)
    return values


def _solve(
    draft: TaskDraft, equation: Equal, values: dict[int, int], domains: dict[int, int], open_slots: set[int]
) -> None:
    """Add what one equation says: a variable may be replaced by a term that has no values beyond its own."""
    sets = draft.source.domain_sets
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
