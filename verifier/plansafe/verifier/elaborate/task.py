"""The elaboration of a domain and a problem into a task."""

from __future__ import annotations

from typing import assert_never

from plansafe.grammar.codes import SC
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate import dialects
from plansafe.verifier.elaborate.actions import ActionReader, list_top_conjuncts
from plansafe.verifier.elaborate.conditions import ConditionReader, read_preference_name
from plansafe.verifier.elaborate.context import Context, Place, is_name, is_object_name
from plansafe.verifier.elaborate.declarations import declare_functions, declare_objects, declare_predicates
from plansafe.verifier.elaborate.derived import find_derived_predicates, read_axiom, stratify
from plansafe.verifier.elaborate.problem import PROBLEM_SECTIONS, InitialStateReader, read_metric
from plansafe.verifier.elaborate.sections import (
    DOMAIN_SECTIONS,
    REPEATABLE_SECTIONS,
    UNSUPPORTED_SECTIONS,
    Sections,
    check_requirements,
    split_sections,
)
from plansafe.verifier.elaborate.symbols import Agent, Scope, Symbols
from plansafe.verifier.elaborate.types import TypeTable, parse_typed_list
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import Axiom, Formula, Preference, Quantified, Task, Variable
from plansafe.verifier.model.operations import children


class TaskConstraint(NamedTuple):
    """One conjunct of a ``:constraints`` section; a preference has a name."""

    preference: str | None
    variables: tuple[Variable, ...]
    formula: Formula
    at: Place
    slots: list[Variable]


class ElaboratedTask(NamedTuple):
    """A task, with the symbols and constraints that the rules use."""

    task: Task
    symbols: Symbols
    constraints: tuple[TaskConstraint, ...]


def elaborate_task(context: Context, domain_top: list[Node], problem_top: list[Node]) -> ElaboratedTask | None:
    """Check a domain and a problem, given the top-level nodes of their files.

    ``None`` if one of them is not a definition; otherwise see ``context.errors``.
    """
    agents: tuple[Agent, ...] = ()
    if dialects.is_factored(domain_top):
        from plansafe.verifier.elaborate.factored import merge_parts  # noqa: PLC0415 - for several agents

        merged = merge_parts(context, domain_top, problem_top, elaborate_task)
        if merged is None:
            return None
        domain_top, problem_top, agents = merged
    definitions = _split_definitions(context, domain_top, problem_top)
    if definitions is None:
        return None
    domain, problem = definitions
    check_requirements(context, domain)
    check_requirements(context, problem)
    symbols = _declare(context, domain, problem)
    strata = _read_actions_and_axioms(symbols, domain.repeated)
    symbols.nameable_object_count = float("inf")
    symbols.agents = agents
    _check_domain_name(context, domain, problem)
    tops = (domain_top, problem_top)
    initial = InitialStateReader(symbols, tops)
    if ":init" in problem.single:
        initial.read(problem.single[":init"].node)
    _set_default_total_cost(symbols, initial, tops)
    goal = _read_goal(symbols, problem, problem_top)
    constraints = _read_constraints(symbols, (domain, problem))
    metric = None
    if ":metric" in problem.single:
        names = {preference.name for preference in goal.preferences}
        names |= {constraint.preference for constraint in constraints if constraint.preference is not None}
        names |= {preference.name for action in symbols.actions.values() for preference in action.preferences}
        metric = read_metric(symbols, problem.single[":metric"].node, frozenset(names))
    task = _make_task(definitions, symbols, strata, initial, goal, metric)
    return ElaboratedTask(task, symbols, constraints)


class _Definitions(NamedTuple):
    """The sections of a domain and a problem."""

    domain: Sections
    problem: Sections


def _split_definitions(context: Context, domain_top: list[Node], problem_top: list[Node]) -> _Definitions | None:
    """Split a domain and a problem into sections without private blocks; ``None`` if one is not a definition."""
    domain = split_sections(context, domain_top, "domain", DOMAIN_SECTIONS, REPEATABLE_SECTIONS, UNSUPPORTED_SECTIONS)
    problem = split_sections(context, problem_top, "problem", PROBLEM_SECTIONS, frozenset(), UNSUPPORTED_SECTIONS)
    if domain is None or problem is None:
        return None
    requirements = domain.single.get(":requirements")
    has_factored_privacy = requirements is not None and ":factored-privacy" in requirements.node
    for sections in (domain, problem):
        for head in dialects.PRIVATE & sections.single.keys():
            section = sections.single[head]
            sections.single[head] = dialects.inline_private_blocks(context, section, has_factored_privacy)
    return _Definitions(domain, problem)


def _declare(context: Context, domain: Sections, problem: Sections) -> Symbols:
    """Declare types, objects, predicates and functions."""
    types = TypeTable(context)
    if ":types" in domain.single:
        types.declare(parse_typed_list(context, domain.single[":types"].node, 1, is_name, "a type"))
    symbols = Symbols(context, types)
    for sections, name in ((domain, ":constants"), (problem, ":objects")):
        if name in sections.single:
            node = sections.single[name].node
            declare_objects(symbols, parse_typed_list(context, node, 1, is_object_name, "an object"))
        if name == ":constants":
            symbols.nameable_object_count = len(symbols.objects)
    types.set_objects(symbols.object_types)
    if ":predicates" in domain.single:
        declare_predicates(symbols, domain.single[":predicates"])
    if ":functions" in domain.single:
        declare_functions(symbols, domain.single[":functions"])
    return symbols


def _read_actions_and_axioms(symbols: Symbols, sections: list[tuple[str, Place]]) -> tuple[tuple[Axiom, ...], ...]:
    """Add the actions, processes and events to the symbols, and return the axioms in strata."""
    symbols.derived = find_derived_predicates(symbols, sections)
    actions = ActionReader(symbols)
    axioms: list[Axiom] = []
    axiom_places: list[Place] = []
    for kind, at in sections:
        if kind in (":process", ":event"):
            actions.read_process_or_event(kind, at)
            continue
        if kind != ":derived":
            actions.read(kind, at)
            continue
        axiom = read_axiom(symbols, at)
        if axiom is not None:
            axioms.append(axiom)
            axiom_places.append(at)
    return stratify(symbols.context, symbols, axioms, axiom_places)


def _find_static_predicates(symbols: Symbols, timed: list[model.TimedLiteral]) -> list[bool]:
    """Return, for each predicate, whether no action, event, axiom or timed literal changes it."""
    changed_predicates = set(symbols.derived) | {literal.predicate for literal in timed if not literal.fluent}
    for action in (*symbols.actions.values(), *symbols.events.values()):
        for snap in (action.start, action.end):
            for effect in snap.effects if snap else ():
                changed_predicates |= {atom.predicate for atom in (*effect.adds, *effect.deletes)}
    return [predicate not in changed_predicates for predicate in range(len(symbols.predicates))]


def _set_default_total_cost(symbols: Symbols, initial: InitialStateReader, tops: tuple[list[Node], list[Node]]) -> None:
    """Set ``total-cost`` to 0 initially if it has no value and nothing but increases and the metric reads it."""
    function = symbols.function_index.get(dialects.TOTAL_COST)
    if function is None or initial.fluents[function] or symbols.functions[function].types:
        return
    if not dialects.is_total_cost_unread(tops):
        return
    initial.fluents[function][0] = 0
    declared = symbols.functions[function].node
    if isinstance(declared, list):
        message, help = "`(total-cost)` has no initial value", "write `(= (total-cost) 0)` in `:init`"
        symbols.context.report_dialect("cost", message, Place(declared), "read as 0", help=help)


def _check_domain_name(context: Context, domain: Sections, problem: Sections) -> None:
    at = problem.single.get(":domain")
    if at is None:
        return
    if len(at.node) != 2 or not is_object_name(at.node[1]):
        context.report_malformed("expected `(:domain name)`", at, "expected one name")
    elif at.node[1] != domain.name:
        message = f"the problem is for domain `{at.node[1]}`, the domain is `{domain.name}`"
        context.warning(SC.OTHER_DOMAIN, message, Place(at.node, 1), "another name")


class _Goal(NamedTuple):
    """The conjuncts of a goal, the node of each, and the preferences."""

    conjuncts: tuple[Formula, ...] = ()
    nodes: tuple[object, ...] = ()
    preferences: tuple[Preference, ...] = ()


def _read_goal(symbols: Symbols, problem: Sections, problem_top: list[Node]) -> _Goal:
    """Read the section ``:goal``; an empty goal after a diagnostic."""
    at = problem.single.get(":goal")
    if at is None:
        message = "the problem has no `:goal`"
        symbols.context.report_malformed(message, Place(problem_top, 0), "expected a section `(:goal ..)`")
        return _Goal()
    if len(at.node) != 2:
        symbols.context.report_malformed("`:goal` takes one condition", at, "expected `(:goal condition)`")
        return _Goal()
    conditions = ConditionReader(symbols, Scope())
    conditions.preferences = []
    conjuncts = list_top_conjuncts(conditions.read_formula(Place(at.node, 1)))
    return _Goal(conjuncts, (at.node[1],) * len(conjuncts), tuple(conditions.preferences))


def _read_constraints(symbols: Symbols, definitions: tuple[Sections, ...]) -> tuple[TaskConstraint, ...]:
    constraints: list[TaskConstraint] = []
    for sections in definitions:
        at = sections.single.get(":constraints")
        if at is None:
            continue
        if len(at.node) != 2:
            symbols.context.report_malformed(
                "`:constraints` takes one formula", at, "expected `(:constraints formula)`"
            )
            continue
        _add_constraints(symbols, Place(at.node, 1), (), Scope(), constraints)
    return tuple(constraints)


def _add_constraints(
    symbols: Symbols, at: Place, outer: tuple[Variable, ...], scope: Scope, constraints: list[TaskConstraint]
) -> None:
    """Add each conjunct as a separate constraint; ``outer``: the variables of the ``forall`` around it."""
    context, node = symbols.context, at.subtree
    if not isinstance(node, list):
        message = f"expected a constraint, found `{node}`"
        context.report_malformed(message, at, "expected a constraint in parentheses")
        return
    head = node[0] if node else "and"
    quantifier_scope = Scope(scope)
    conditions = ConditionReader(symbols, quantifier_scope, "constraints")
    if head == "and":
        for child in range(1, len(node)):
            _add_constraints(symbols, Place(node, child), outer, scope, constraints)
    elif head == "forall" and len(node) == 3 and _has_preference(node):
        variables = (*outer, *conditions.bind_variables(Place(node, 1)))
        _add_constraints(symbols, Place(node, 2), variables, quantifier_scope, constraints)
    elif head == "preference":
        name = read_preference_name(node)
        if name is None:
            message = "a preference is `(preference [name] constraint)`"
            context.report_malformed(message, at, "expected a name and a constraint")
            return
        formula = conditions.read_formula(Place(node, len(node) - 1))
        _require_temporal_operator(context, formula, at)
        constraints.append(TaskConstraint(name, outer, formula, at, quantifier_scope.slots))
    else:
        formula = conditions.read_formula(at)
        variables = outer
        while isinstance(formula, Quantified) and formula.universal:
            variables, formula = (*variables, *formula.variables), formula.body
        _require_temporal_operator(context, formula, at)
        constraints.append(TaskConstraint(None, variables, formula, at, quantifier_scope.slots))


def _has_preference(node: Node) -> bool:
    stack = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, list):
            if part and part[0] == "preference":
                return True
            stack.extend(part)
    return False


def _require_temporal_operator(context: Context, formula: Formula, at: Place) -> None:
    """Report a constraint with a condition outside any temporal operator."""
    stack = [formula]
    while stack:
        part = stack.pop()
        match part:
            case model.Temporal() | model.Truth():
                pass
            case model.Not() | model.And() | model.Or() | model.Quantified():
                stack.extend(children(part))
            case model.Atom() | model.Equal() | model.Compare():
                if not context.errors:
                    message, help = "a constraint needs a temporal operator", "write `(always ..)` or `(at end ..)`"
                    context.error(SC.MISPLACED_OPERATOR, message, at, "no temporal operator", help=help)
                    return
            case _:
                assert_never(part)


def _make_task(
    definitions: _Definitions,
    symbols: Symbols,
    strata: tuple[tuple[Axiom, ...], ...],
    initial: InitialStateReader,
    goal: _Goal,
    metric: model.Metric | None,
) -> Task:
    """Make the task of definitions that were read."""
    types = symbols.types
    return Task(
        name=definitions.domain.name,
        problem=definitions.problem.name,
        objects=tuple(symbols.objects),
        object_index=symbols.object_index,
        object_types=tuple(symbols.object_types),
        type_names=tuple(types.names),
        domains=types.domains,
        domain_sets=types.domain_sets,
        domain_types=types.domain_types,
        predicates=symbols.predicates,
        functions=symbols.functions,
        actions=symbols.actions,
        axioms=strata,
        initial_facts=initial.facts,
        initial_fluents=initial.fluents,
        timed_literals=tuple(sorted(initial.timed, key=lambda literal: literal.time)),
        goal=goal.conjuncts,
        goal_nodes=goal.nodes,
        goal_preferences=goal.preferences,
        metric=metric,
        static=_find_static_predicates(symbols, initial.timed),
        unknowns=initial.unknowns,
        denied=frozenset(initial.denied),
        processes=tuple(symbols.processes.values()),
        events=tuple(symbols.events.values()),
    )
