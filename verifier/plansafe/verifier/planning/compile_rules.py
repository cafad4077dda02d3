"""Compilation of rules into a task without rules whose plans are the safe plans, for planners without constraints.

What a monitor remembers becomes facts. An action ``observe`` reads the state after each step that matters (and S0), as
the monitors would, and updates those facts by conditional effects. A violation deletes the fact ``safe``, which every
action needs. The compilation is lifted: an instance of a rule is a binding of an effect's ``forall``, so the planner
does the grounding and the folding of static facts.

- Each past operator is a fact (Havelund and Rosu 2004), as in :mod:`plansafe.verifier.execution.monitors.program`.
- Operators over the trace are automata whose states are facts (compare Edelkamp, ICAPS 2006; Bonassi et al. 2021).
- A rule about a step is a precondition of that action, or an effect on ``safe``.
- A condition at the end is part of the goal.

The action of a letter is known only when it is taken: formulas that mention actions are read by the actions themselves,
each with its own action fact true and the others false, and at the last letter by an action ``finish``. Formulas that
do not distinguish a letter from its repetition are read only after actions that change the facts that they read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from plansafe.verifier.compile.normal_forms import convert_to_dnf
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.model.nodes import (
    FALSE,
    TRUE,
    Action,
    And,
    Assignment,
    Atom,
    Constant,
    Effect,
    Equal,
    Fluent,
    Formula,
    Metric,
    Not,
    Or,
    Predicate,
    Quantified,
    Snap,
    Task,
    Temporal,
    Variable,
    variable,
)
from plansafe.verifier.model.operations import (
    find_atoms_and_fluents,
    get_signed_symbol,
    map_children,
    substitute,
    substitute_in_atom,
)
from plansafe.verifier.planning.pddl_names import TOTAL_COST
from plansafe.verifier.planning.rule_parts import compile_rule_part
from plansafe.verifier.planning.simplification import fold_constants, is_simple_precondition
from plansafe.verifier.planning.task_draft import TaskDraft, make_unconditional_effect
from plansafe.verifier.planning.trace_automata import CannotCompile
from plansafe.verifier.planning.unused_functions import remove_unused_functions
from plansafe.verifier.rules.model import RulePart
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, VerdictCriteria

OBSERVE, FINISH = "observe", "finish"


class _Phases(NamedTuple):
    """The predicates of the facts that let ``observe`` follow the actions that it must observe."""

    ready: int
    watch: int


class CompiledRules(NamedTuple):
    """A task without rules. The actions named in ``bookkeeping`` are not part of the original task.

    ``observe`` is the action that reads a letter, ``watch`` the predicate of the fact that it is due, and ``safe`` the
    predicate of the fact that no rule is violated (``None`` if there is nothing to observe or to violate). ``cost`` is
    the function that counts the steps of the original task (``None`` if it counts all steps).
    """

    task: Task
    bookkeeping: frozenset[str]
    observe: str | None
    watch: int | None
    safe: int | None
    cost: int | None


def compile_rules(engine: Engine, rules: bool = True, criteria: VerdictCriteria = EVERY_VIOLATION) -> CompiledRules:
    """Compile an engine's rules that can decide (none without ``rules``) into its task.

    Raises :class:`CannotCompile`. Linear in the size of the rules, except for automata of trajectory formulas, which
    have up to :data:`.trace_automata.MAX_STATES` states and a transition for each combination of their leaves.
    """
    return _RuleCompiler(engine, rules, criteria).compile()


class _RuleCompiler:
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
                if criteria.can_be_decisive(rule):
                    self.parts += [(rule.name, part) for part in rule.parts]
        self.draft = TaskDraft(engine)
        self.observed_symbols: set[int] = set()
        """The predicates and functions that ``observe`` reads."""
        self.derived = frozenset([axiom.predicate for stratum in engine.task.axioms for axiom in stratum])

    def compile(self) -> CompiledRules:
        draft = self.draft
        for name, part in self.parts:
            try:
                compile_rule_part(draft, part)
            except CannotCompile as problem:
                raise CannotCompile(f"rule {name}: {problem}") from None
        draft.advance_clocks()
        _distribute_to_actions(draft)
        for effect in draft.observe_effects:
            for read in find_atoms_and_fluents(effect.condition):
                if isinstance(read, Atom) and read.predicate in self.derived:
                    assert self.engine.axioms is not None
                    self.observed_symbols |= self.engine.axioms.inputs  # of all axioms, since axioms read each other
                else:
                    self.observed_symbols.add(get_signed_symbol(read))
        phases = self._add_phases() if draft.observe_effects or draft.finish_effects else None
        taken_names = set(draft.source_task.actions)
        observe = None if phases is None else _find_free_name(OBSERVE, taken_names)
        task = remove_unused_functions(self._make_task(phases, observe, _find_free_name(FINISH, taken_names)))
        watch = None if phases is None else phases.watch
        bookkeeping = frozenset(task.actions.keys() - draft.source_task.actions.keys())
        cost = next((function for function, declared in enumerate(task.functions) if declared.name == TOTAL_COST), None)
        return CompiledRules(task, bookkeeping, observe, watch, draft.safe_predicate, cost)

    def _add_phases(self) -> _Phases:
        """Add the facts ``ready`` and ``watch``, which let ``observe`` follow every action that it must observe."""
        draft = self.draft
        ready, watch = draft.add_predicate("ready"), draft.add_predicate("watch")
        draft.initially_true_predicates.add(watch)
        ready_atom, watch_atom = Atom(ready, ()), Atom(watch, ())
        for name, action in draft.source_task.actions.items():
            draft.added_conditions[name].append(ready_atom)
            changes_observed_symbol = bool(_find_written_symbols(action) & self.observed_symbols)
            if draft.counts_steps or name in draft.observed_actions or changes_observed_symbol:
                draft.added_effects[name].append(make_unconditional_effect((watch_atom,), (ready_atom,)))
        draft.observe_effects.append(make_unconditional_effect((ready_atom,), (watch_atom,)))
        if draft.finish_effects:
            done_atom = Atom(draft.add_predicate("done"), ())
            draft.finish_effects.append(make_unconditional_effect((done_atom,), (ready_atom,)))
            draft.added_goal.append(done_atom)
        else:
            draft.added_goal.append(ready_atom)
        return _Phases(ready, watch)

    def _make_task(self, phases: _Phases | None, observe: str | None, finish: str) -> Task:
        """Make the task with everything that was added to the draft."""
        draft, source_task = self.draft, self.draft.source_task
        safe_literals = () if draft.safe_predicate is None else (Atom(draft.safe_predicate, ()),)
        functions = list(source_task.functions)
        fluents = [dict(values) for values in draft.initial.fluents]
        metric: Metric | None = None
        cost_effects: list[Effect] = []
        if phases is not None:
            cost = len(functions)
            functions.append(Predicate(TOTAL_COST, (), (), None))
            fluents.append({0: 0})
            metric = Metric(True, Fluent(cost, ()))
            cost_effects = [Effect((), TRUE, (), (), (Assignment("increase", cost, (), Constant(1)),))]
        actions: dict[str, Action] = {}
        for name, action in source_task.actions.items():
            condition = (*safe_literals, *action.start.condition, *draft.added_conditions[name])
            effects = (*action.start.effects, *draft.added_effects[name], *cost_effects)
            actions[name] = action._replace(start=Snap(condition, effects), preferences=())
        if phases is not None and observe is not None:
            observe_condition = (*safe_literals, Atom(phases.watch, ()))
            actions[observe] = _make_bookkeeping_action(observe, observe_condition, draft.observe_effects)
            if draft.finish_effects:
                finish_condition = (*safe_literals, Atom(phases.ready, ()))
                actions[finish] = _make_bookkeeping_action(finish, finish_condition, draft.finish_effects)
        goal = (*source_task.goal, *draft.added_goal, *safe_literals)
        written_symbols = {symbol for action in actions.values() for symbol in _find_written_symbols(action)}
        changeable_symbols = written_symbols | self.derived
        return source_task._replace(
            predicates=draft.predicates,
            functions=functions,
            actions=actions,
            initial_facts=self._make_initial_facts(),
            initial_fluents=fluents,
            timed_literals=(),
            goal=goal,
            goal_nodes=(None,) * len(goal),
            goal_preferences=(),
            metric=metric,
            static=[predicate not in changeable_symbols for predicate in range(len(draft.predicates))],
        )

    def _make_initial_facts(self) -> list[set[int]]:
        """Make the facts of the initial state, without derived facts and with the facts of the compilation."""
        draft = self.draft
        facts = [set(codes) for codes in draft.initial.facts]
        facts += [set() for _ in range(len(draft.predicates) - len(facts))]
        for predicate in self.derived:
            facts[predicate] = set()
        initially_true_predicates = set(draft.initially_true_predicates)
        if draft.safe_predicate is not None:
            initially_true_predicates.add(draft.safe_predicate)
        for predicate in initially_true_predicates:
            facts[predicate].add(0)
        return facts


def _find_written_symbols(action: Action) -> set[int]:
    """Return the predicates and functions that an action changes; function ``f`` as ``-1 - f``."""
    symbols: set[int] = set()
    for effect in action.start.effects:
        symbols |= {atom.predicate for atom in (*effect.adds, *effect.deletes)}
        symbols |= {-1 - assignment.function for assignment in effect.assignments}
    return symbols


def _make_bookkeeping_action(name: str, condition: tuple[Formula, ...], effects: list[Effect]) -> Action:
    return Action(name, (), Snap(condition, tuple(effects)))


def _find_free_name(name: str, names: set[str]) -> str:
    while name in names:
        name += "-"
    return name


# -- effects of the action of a letter --------------------------------------------------------------------------------


def _distribute_to_actions(draft: TaskDraft) -> None:
    """Give each action its effects as the action of a letter, and ``finish`` the effects of the last letter."""
    for action_effect in draft.action_effects:
        effect = action_effect.effect
        if action_effect.happens_at_end:
            draft.finish_effects += _specialize_effect(draft, effect, None)
        if not action_effect.happens_at_actions:
            continue
        for name, action in draft.source_task.actions.items():
            for specialized_effect in _specialize_effect(draft, effect, action):
                precondition = fold_constants(draft.source_task, Not(specialized_effect.condition))
                violates = any([atom.predicate == draft.safe_predicate for atom in specialized_effect.deletes])
                if violates and not specialized_effect.variables and is_simple_precondition(precondition):
                    draft.added_conditions[name].append(precondition)
                else:
                    draft.added_effects[name].append(specialized_effect)


def _specialize_effect(draft: TaskDraft, effect: Effect, action: Action | None) -> list[Effect]:
    """Make an effect for letters with one action: its action facts become equations, other action facts are false.

    ``action``: ``None`` for the last letter, which has no action. Returns several effects for a disjunctive condition.
    """
    domains = _map_slots_to_domains((*effect.variables, *(action.parameters if action else ())))
    condition = _replace_action_facts(draft, effect.condition, action, domains)
    specialized_effects = []
    for conjunctive_effect in draft.make_effects(effect.variables, condition, effect.adds, effect.deletes):
        slots = {v.slot for v in conjunctive_effect.variables}
        effect_domains = {**domains, **_map_slots_to_domains(conjunctive_effect.variables)}
        terms = _solve_equations(draft, conjunctive_effect.condition, slots, effect_domains)
        condition = fold_constants(draft.source_task, substitute(conjunctive_effect.condition, terms))
        if condition != FALSE:
            variables = tuple([v for v in conjunctive_effect.variables if v.slot not in terms])
            adds = tuple([substitute_in_atom(atom, terms) for atom in conjunctive_effect.adds])
            deletes = tuple([substitute_in_atom(atom, terms) for atom in conjunctive_effect.deletes])
            specialized_effects.append(Effect(variables, condition, adds, deletes, ()))
    return specialized_effects


def _map_slots_to_domains(variables: Iterable[Variable]) -> dict[int, int]:
    return {v.slot: v.domain for v in variables}


def _replace_action_facts(
    draft: TaskDraft, formula: Formula, action: Action | None, domains: dict[int, int]
) -> Formula:
    """Replace the facts of one action by equations of its parameters, and the facts of other actions by false."""
    match formula:
        case Atom() if formula.predicate in draft.action_predicates:
            if action is None or draft.action_by_predicate[formula.predicate] is not action:
                return FALSE
            pairs = zip(formula.arguments, action.parameters, strict=True)
            return And(tuple([Equal(argument, variable(parameter.slot)) for argument, parameter in pairs]))
        case Quantified() if draft.reads_actions(formula.body):
            body_domains = {**domains, **_map_slots_to_domains(formula.variables)}
            body = fold_constants(draft.source_task, _replace_action_facts(draft, formula.body, action, body_domains))
            return _eliminate_equations(draft, Quantified(formula.universal, formula.variables, body), body_domains)
        case Quantified() | Temporal():
            return formula
        case _:
            return map_children(formula, lambda part: _replace_action_facts(draft, part, action, domains))


def _eliminate_equations(draft: TaskDraft, formula: Quantified, domains: dict[int, int]) -> Formula:
    """Eliminate quantified variables that are equated with other terms, if the formula has a small normal form."""
    disjuncts = convert_to_dnf(formula.body, not formula.universal)
    if disjuncts is None:
        return formula
    parts: list[Formula] = []
    for disjunct in disjuncts:
        conjunction = And(tuple([lit.formula if lit.positive else Not(lit.formula) for lit in disjunct.literals]))
        variables = (*formula.variables, *disjunct.variables)
        slots = {v.slot for v in variables}
        terms = _solve_equations(draft, conjunction, slots, {**domains, **_map_slots_to_domains(disjunct.variables)})
        free_variables = tuple([v for v in variables if v.slot not in terms])
        body = substitute(conjunction, terms)
        parts.append(Quantified(False, free_variables, body) if free_variables else body)
    exists = Or(tuple(parts))
    return fold_constants(draft.source_task, Not(exists) if formula.universal else exists)


def _solve_equations(
    draft: TaskDraft, condition: Formula, open_slots: set[int], domains: dict[int, int]
) -> dict[int, int]:
    """Return terms for the variables (by slot) that the equations of a conjunction determine."""
    terms: dict[int, int] = {}
    for part in condition.parts if isinstance(condition, And) else (condition,):
        if isinstance(part, Equal):
            _solve_equation(draft, part, terms, domains, open_slots)
    return terms


def _solve_equation(
    draft: TaskDraft, equation: Equal, terms: dict[int, int], domains: dict[int, int], open_slots: set[int]
) -> None:
    """Replace a variable by the other term of an equation, if that term has no values outside the variable's domain."""
    sets = draft.source_task.domain_sets
    left, right = [terms.get(-1 - side, side) if side < 0 else side for side in equation]
    for replaced, term in ((left, right), (right, left)):
        slot = -1 - replaced
        if replaced < 0 and slot in open_slots and replaced != term:
            objects = frozenset((term,)) if term >= 0 else sets[domains[-1 - term]]
            if objects <= sets[domains[slot]]:
                for earlier_slot, value in terms.items():
                    terms[earlier_slot] = term if value == replaced else value
                terms[slot] = term
                open_slots.discard(slot)
                return
