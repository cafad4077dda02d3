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
from plansafe.verifier.planning.simplification import fold_constants, is_simple_precondition, remove_unused_functions
from plansafe.verifier.planning.task_draft import TaskDraft, make_unconditional_effect
from plansafe.verifier.planning.trace_automata import CannotCompile
from plansafe.verifier.rules.model import RulePart
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, VerdictCriteria

OBSERVE, FINISH = "observe", "finish"


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
    have up to :data:`MAX_STATES` states and a transition for each combination of their leaves.
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
        for effect in draft.observed:
            for read in find_atoms_and_fluents(effect.condition):
                if isinstance(read, Atom) and read.predicate in self.derived:
                    assert self.engine.axioms is not None
                    self.observed_symbols |= self.engine.axioms.inputs  # of all axioms, since axioms read each other
                else:
                    self.observed_symbols.add(get_signed_symbol(read))
        phases = self._add_phases() if draft.observed or draft.finishing else None
        taken_names = set(draft.source.actions)
        observe = None if phases is None else _find_free_name(OBSERVE, taken_names)
        task = remove_unused_functions(self._make_task(phases, observe, _find_free_name(FINISH, taken_names)))
        bookkeeping = frozenset(task.actions.keys() - draft.source.actions.keys())
        cost = next((function for function, declared in enumerate(task.functions) if declared.name == TOTAL_COST), None)
        return CompiledRules(task, bookkeeping, observe, phases and phases[1], draft.safe, cost)

    def _add_phases(self) -> tuple[int, int]:
        """Add the facts ``ready`` and ``watch``, which let ``observe`` follow every action that it must observe."""
        draft = self.draft
        ready, watch = draft.add_predicate("ready"), draft.add_predicate("watch")
        draft.true_at_start.add(watch)
        is_ready, is_due = Atom(ready, ()), Atom(watch, ())
        for name, action in draft.source.actions.items():
            draft.conditions[name].append(is_ready)
            if (
                draft.counts_steps
                or name in draft.observed_actions
                or _find_written_symbols(action) & self.observed_symbols
            ):
                draft.effects[name].append(make_unconditional_effect((is_due,), (is_ready,)))
        draft.observed.append(make_unconditional_effect((is_ready,), (is_due,)))
        if draft.finishing:
            done = Atom(draft.add_predicate("done"), ())
            draft.finishing.append(make_unconditional_effect((done,), (is_ready,)))
            draft.goal.append(done)
        else:
            draft.goal.append(is_ready)
        return ready, watch

    def _make_task(self, phases: tuple[int, int] | None, observe: str | None, finish: str) -> Task:
        draft, source = self.draft, self.draft.source
        safe = [] if draft.safe is None else [Atom(draft.safe, ())]
        functions = list(source.functions)
        fluents = [dict(values) for values in draft.initial.fluents]
        metric, cost_effects = None, list[Effect]()
        if phases is not None:
            cost = len(functions)
            functions.append(Predicate(TOTAL_COST, (), (), None))
            fluents.append({0: 0})
            metric = Metric(True, Fluent(cost, ()))
            cost_effects = [Effect((), TRUE, (), (), (Assignment("increase", cost, (), Constant(1)),))]
        actions: dict[str, Action] = {}
        for name, action in source.actions.items():
            condition = (*safe, *action.start.condition, *draft.conditions[name])
            effects = (*action.start.effects, *draft.effects[name], *cost_effects)
            actions[name] = action._replace(start=Snap(condition, effects), preferences=())
        if phases is not None and observe is not None:
            ready, watch = phases
            actions[observe] = _make_bookkeeping_action(observe, (*safe, Atom(watch, ())), draft.observed)
            if draft.finishing:
                actions[finish] = _make_bookkeeping_action(finish, (*safe, Atom(ready, ())), draft.finishing)
        if draft.safe is not None:
            draft.true_at_start.add(draft.safe)
        facts = [set(codes) for codes in draft.initial.facts]
        facts += [set() for _ in range(len(draft.predicates) - len(facts))]
        for predicate in self.derived:
            facts[predicate] = set()
        for predicate in draft.true_at_start:
            facts[predicate].add(0)
        goal = (*source.goal, *draft.goal, *safe)
        changed_symbols = {
            symbol for action in actions.values() for symbol in _find_written_symbols(action)
        } | self.derived
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
            static=[predicate not in changed_symbols for predicate in range(len(draft.predicates))],
        )


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
        if action_effect.at_end:
            draft.finishing += _specialize(draft, effect, None)
        for name, action in draft.source.actions.items() if action_effect.at_actions else ():
            for specialized_effect in _specialize(draft, effect, action):
                precondition = fold_constants(draft.source, Not(specialized_effect.condition))
                violates = any([atom.predicate == draft.safe for atom in specialized_effect.deletes])
                if violates and not specialized_effect.variables and is_simple_precondition(precondition):
                    draft.conditions[name].append(precondition)
                else:
                    draft.effects[name].append(specialized_effect)


def _specialize(draft: TaskDraft, effect: Effect, action: Action | None) -> list[Effect]:
    """An effect for letters with one action: its action facts become equations, other action facts are false."""
    domains = _map_slots_to_domains((*effect.variables, *(action.parameters if action else ())))
    condition = _replace_action_facts(draft, effect.condition, action, domains)
    specialized_effects = []
    for conjunctive_effect in draft.make_effects(effect.variables, condition, effect.adds, effect.deletes):
        slots = {v.slot for v in conjunctive_effect.variables}
        terms = _solve_equations(
            draft,
            conjunctive_effect.condition,
            slots,
            {**domains, **_map_slots_to_domains(conjunctive_effect.variables)},
        )
        condition = fold_constants(draft.source, substitute(conjunctive_effect.condition, terms))
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
    match formula:
        case Atom() if formula.predicate in draft.action_predicates:
            if action is None or draft.action_of[formula.predicate] is not action:
                return FALSE
            pairs = zip(formula.arguments, action.parameters, strict=True)
            return And(tuple([Equal(argument, variable(parameter.slot)) for argument, parameter in pairs]))
        case Quantified() if draft.reads_actions(formula.body):
            body_domains = {**domains, **_map_slots_to_domains(formula.variables)}
            body = fold_constants(draft.source, _replace_action_facts(draft, formula.body, action, body_domains))
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
    return fold_constants(draft.source, Not(exists) if formula.universal else exists)


def _solve_equations(
    draft: TaskDraft, condition: Formula, open_slots: set[int], domains: dict[int, int]
) -> dict[int, int]:
    """Terms for the variables that the equations of a conjunction determine."""
    terms: dict[int, int] = {}
    for part in condition.parts if isinstance(condition, And) else (condition,):
        if isinstance(part, Equal):
            _solve_equation(draft, part, terms, domains, open_slots)
    return terms


def _solve_equation(
    draft: TaskDraft, equation: Equal, terms: dict[int, int], domains: dict[int, int], open_slots: set[int]
) -> None:
    """Replace a variable by the other term of an equation, if that term has no values outside the variable's domain."""
    sets = draft.source.domain_sets
    sides = [terms.get(-1 - side, side) if side < 0 else side for side in equation]
    for replaced, term in (sides, reversed(sides)):
        if replaced < 0 and -1 - replaced in open_slots and replaced != term:
            objects = frozenset((term,)) if term >= 0 else sets[domains[-1 - term]]
            if objects <= sets[domains[-1 - replaced]]:
                for slot, value in terms.items():
                    terms[slot] = term if value == replaced else value
                terms[-1 - replaced] = term
                open_slots.discard(-1 - replaced)
                return
