"""The whole of the elaboration: a domain and a problem become a task."""

from __future__ import annotations

from typing import NamedTuple, assert_never

from plansafe.grammar.codes import SC
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate import dialects
from plansafe.verifier.elaborate.actions import ActionReader, top_conjuncts
from plansafe.verifier.elaborate.conditions import ConditionReader
from plansafe.verifier.elaborate.context import Context, Place, is_name, is_object_name, token_text
from plansafe.verifier.elaborate.declarations import declare_functions, declare_objects, declare_predicates
from plansafe.verifier.elaborate.derived import find_derived_predicates, read_axiom, stratify
from plansafe.verifier.elaborate.problem import PROBLEM_SECTIONS, InitialStateReader, read_metric
from plansafe.verifier.elaborate.sections import (
    DOMAIN_SECTIONS,
    REPEATED_SECTIONS,
    UNSUPPORTED_SECTIONS,
    Sections,
    check_requirements,
    split_sections,
)
from plansafe.verifier.elaborate.symbols import Scope, Symbols
from plansafe.verifier.elaborate.types import TypeTable, parse_typed_list
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import Formula, Preference, Variable
from plansafe.verifier.model.operations import children


class TaskConstraint(NamedTuple):
    """One conjunct of a ``:constraints`` section; a preference has a name."""

    preference: str | None
    variables: tuple[Variable, ...]
    formula: Formula
    at: Place
    slots: list[Variable]


class ElaboratedTask(NamedTuple):
    """A task with what the rules still need: the symbols and the constraints of domain and problem."""

    task: model.Task
    symbols: Symbols
    constraints: tuple[TaskConstraint, ...]


def elaborate_task(context: Context, domain_top: list[Node], problem_top: list[Node]) -> ElaboratedTask | None:
    """Check a domain and a problem.

    ``None`` if one of them is not even a definition; otherwise see ``context.errors``.
    """
    in_domain = split_sections(context, domain_top, "domain", DOMAIN_SECTIONS, REPEATED_SECTIONS, UNSUPPORTED_SECTIONS)
    in_problem = split_sections(context, problem_top, "problem", PROBLEM_SECTIONS, frozenset(), UNSUPPORTED_SECTIONS)
    if in_domain is None or in_problem is None:
        return None
    required = in_domain.single.get(":requirements")
    factored = required is not None and ":factored-privacy" in required.node
    for found in (in_domain, in_problem):
        for section in dialects.PRIVATE & found.single.keys():
            found.single[section] = dialects.without_privacy(context, found.single[section], factored)
    check_requirements(context, in_domain)
    check_requirements(context, in_problem)
    types = TypeTable(context)
    if ":types" in in_domain.single:
        types.declare(parse_typed_list(context, in_domain.single[":types"].node, 1, is_name, "a type"))
    symbols = Symbols(context, types)
    constants = 0
    for found, section in ((in_domain, ":constants"), (in_problem, ":objects")):
        if section in found.single:
            declare_objects(
                symbols, parse_typed_list(context, found.single[section].node, 1, is_object_name, "an object")
            )
        if section == ":constants":
            constants = len(symbols.objects)
    types.set_objects(symbols.object_types)
    symbols.constants = constants
    if ":predicates" in in_domain.single:
        declare_predicates(symbols, in_domain.single[":predicates"])
    if ":functions" in in_domain.single:
        declare_functions(symbols, in_domain.single[":functions"])
    symbols.derived = derived = find_derived_predicates(symbols, in_domain.many)
    actions = ActionReader(symbols, derived)
    axioms = []
    axiom_at = []
    for kind, at in in_domain.many:
        if kind == ":derived":
            found_axiom = read_axiom(symbols, at)
            if found_axiom is not None:
                axioms.append(found_axiom)
                axiom_at.append(at)
        else:
            actions.read(kind, at)
    symbols.constants = float("inf")
    strata = stratify(context, symbols, axioms, axiom_at)
    _names_match(context, in_domain, in_problem)
    initial = InitialStateReader(symbols, derived, (domain_top, problem_top))
    if ":init" in in_problem.single:
        initial.read(in_problem.single[":init"].node)
    _free_cost(symbols, initial, (domain_top, problem_top))
    goal, nodes, preferences = _goal(context, symbols, in_problem, problem_top)
    constraints = _constraints(symbols, (in_domain, in_problem))
    metric = None
    if ":metric" in in_problem.single:
        named = {p.name for p in preferences} | {c.preference for c in constraints if c.preference}
        named |= {p.name for a in symbols.actions.values() for p in a.preferences}
        metric = read_metric(symbols, in_problem.single[":metric"].node, frozenset(named))
    changed = set(derived) | {t.predicate for t in initial.timed if not t.fluent}
    for action in symbols.actions.values():
        for snap in (action.start, action.end):
            for effect in snap.effects if snap else ():
                changed |= {atom.predicate for atom in (*effect.adds, *effect.deletes)}
    task = model.Task(
        in_domain.name,
        in_problem.name,
        tuple(symbols.objects),
        symbols.object_index,
        tuple(symbols.object_types),
        tuple(types.names),
        types.domains,
        types.domain_sets,
        types.domain_types,
        symbols.predicates,
        symbols.functions,
        symbols.actions,
        strata,
        initial.facts,
        initial.fluents,
        tuple(sorted(initial.timed, key=lambda literal: literal.time)),
        goal,
        nodes,
        preferences,
        metric,
        [p not in changed for p in range(len(symbols.predicates))],
        initial.unknowns,
        frozenset(initial.denied),
    )
    return ElaboratedTask(task, symbols, constraints)


def _free_cost(symbols: Symbols, initial: InitialStateReader, tops: tuple[list[Node], list[Node]]) -> None:
    """Let ``total-cost`` begin at 0 where that is all that its missing value can mean."""
    function = symbols.function_index.get(dialects.TOTAL_COST)
    if function is None or initial.fluents[function] or dialects.free_cost(symbols, tops) is None:
        return
    initial.fluents[function][0] = 0
    declared = symbols.functions[function].node
    if isinstance(declared, list):
        message = "`(total-cost)` has no initial value"
        help = "write `(= (total-cost) 0)` in `:init`"
        symbols.context.dialect("cost", message, Place(declared), "read as 0", help=help)


def _names_match(context: Context, in_domain: Sections, in_problem: Sections) -> None:
    at = in_problem.single.get(":domain")
    if at is None:
        return
    if len(at.node) != 2 or not is_object_name(at.node[1]):
        context.error(SC.STRUCTURE, "expected `(:domain name)`", at, "expected one name")
    elif at.node[1] != in_domain.name:
        context.warning(
            SC.OTHER_DOMAIN,
            f"the problem is for domain `{at.node[1]}`, the domain is `{in_domain.name}`",
            Place(at.node, 1),
            "another name",
        )


def _goal(
    context: Context, symbols: Symbols, found: Sections, top: list[Node]
) -> tuple[tuple[Formula, ...], tuple[object, ...], tuple[Preference, ...]]:
    at = found.single.get(":goal")
    if at is None:
        context.error(SC.STRUCTURE, "the problem has no `:goal`", Place(top, 0), "expected a section `(:goal ..)`")
        return (), (), ()
    if len(at.node) != 2:
        context.error(SC.STRUCTURE, "`:goal` takes one condition", at, "expected `(:goal condition)`")
        return (), (), ()
    conditions = ConditionReader(symbols, Scope())
    conditions.preferences = []
    goal = top_conjuncts(conditions.formula(at.node[1], Place(at.node, 1)))
    return goal, (at.node[1],) * len(goal), tuple(conditions.preferences)


def _constraints(symbols: Symbols, split_sections: tuple[Sections, ...]) -> tuple[TaskConstraint, ...]:
    out: list[TaskConstraint] = []
    for found in split_sections:
        at = found.single.get(":constraints")
        if at is None:
            continue
        if len(at.node) != 2:
            symbols.context.error(
                SC.STRUCTURE, "`:constraints` takes one formula", at, "expected `(:constraints formula)`"
            )
            continue
        _constraint(symbols, at.node[1], Place(at.node, 1), (), Scope(), out)
    return tuple(out)


def _constraint(
    symbols: Symbols, node: Node, at: Place, around: tuple[Variable, ...], scope: Scope, out: list[TaskConstraint]
) -> None:
    """Conjuncts become constraints of their own, below the ``forall`` around them."""
    context = symbols.context
    if not isinstance(node, list):
        context.error(
            SC.STRUCTURE, f"expected a constraint, found `{node}`", at, "expected a constraint in parentheses"
        )
        return
    conditions = ConditionReader(symbols, scope, "constraints")
    head = node[0] if node else "and"
    if head == "and":
        for child in range(1, len(node)):
            _constraint(symbols, node[child], Place(node, child), around, scope, out)
    elif head == "forall" and len(node) == 3 and _has_preference(node):
        inner = Scope()
        inner.visible, inner.slots = dict(scope.visible), list(scope.slots)
        bound = tuple(ConditionReader(symbols, inner, "constraints").bind(node[1], Place(node, 1)))
        _constraint(symbols, node[2], Place(node, 2), (*around, *bound), inner, out)
    elif head == "preference":
        named = len(node) == 3
        if len(node) not in (2, 3) or (named and not is_object_name(node[1])):
            context.error(
                SC.STRUCTURE, "a preference is `(preference [name] constraint)`", at, "expected a name and a constraint"
            )
            return
        name = token_text(node[1]) if named else "preference"
        own = Scope()
        own.visible, own.slots = dict(scope.visible), list(scope.slots)
        formula = ConditionReader(symbols, own, "constraints").formula(node[-1], Place(node, len(node) - 1))
        out.append(TaskConstraint(name, around, _whole(context, formula, at), at, own.slots))
    else:
        own = Scope()
        own.visible, own.slots = dict(scope.visible), list(scope.slots)
        conditions = ConditionReader(symbols, own, "constraints")
        formula = conditions.formula(node, at)
        variables = around
        while isinstance(formula, model.Quantified) and formula.universal:
            variables, formula = (*variables, *formula.variables), formula.body
        out.append(TaskConstraint(None, variables, _whole(context, formula, at), at, own.slots))


def _has_preference(node: Node) -> bool:
    stack = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, list):
            if part and part[0] == "preference":
                return True
            stack.extend(part)
    return False


def _whole(context: Context, formula: Formula, at: Place) -> Formula:
    """A constraint must say when: a bare condition is a mistake."""
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
                    context.error(
                        SC.MISPLACED_OPERATOR,
                        "a constraint needs a temporal operator",
                        at,
                        "no temporal operator",
                        help="write `(always ..)` or `(at end ..)`",
                    )
                    break
            case _:
                assert_never(part)
    return formula
