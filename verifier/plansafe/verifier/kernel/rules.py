"""Safety specifications and PDDL constraints as rules, and their parts (docs/language.md, section 5)."""

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from .formula_reader import FormulaReader
from .formulas import (
    EMPTY_AND,
    FUTURE_OPERATORS,
    STEP_PREDICATES,
    WHOLE_TRACE_OPERATORS,
    AtomCount,
    Connective,
    Domains,
    Fact,
    Node,
    Quantified,
    Supports,
    Temporal,
    Unary,
    collect_operators,
    find_supports,
    negate,
)
from .reader import NAME, Sexp, parse_number, read_definition, read_expressions, read_keywords, require
from .task import Task
from .vocabulary import Params

KEYS = {
    ":process": ":on :at-end :during :when :forbid :require :forbid-after :require-after",
    ":trajectory": ":formula",
    ":termination": ":when :forbid :require",
    ":obligation": ":when :then :within",
    ":invariant": ":holds :exactly-one :at-most-one",
}
SEVERITIES = ("critical", "high", "medium", "low")
META_KEYS = " :hazard :target :severity :message :rationale :source :fix :parameters"
STEP_KEYS = {":on": "action", ":at-end": "action-end", ":during": "action-during"}
ALLOWED_COUNTS = {":exactly-one": (1,), ":at-most-one": (0, 1)}
DUAL = {"and": "or", "or": "and", "forall": "exists", "exists": "forall"}


class PartKind(Enum):
    """When a part of a rule is violated."""

    OCCURRENCE = "occurrence"
    """Where the formula becomes false; one finding covers consecutive letters."""
    MATCH = "match"
    """At each letter at which a step matches and the formula is false."""
    AT_END = "end"
    """If the formula is false at the last letter."""
    WHOLE_TRACE = "whole"
    """If the formula is false at letter 0, from which it is about the whole trace."""


class Part(NamedTuple):
    """A part of a rule. ``violation_supports``: the facts without which an instance cannot be violated."""

    kind: PartKind
    params: Domains
    formula: Node
    violation_supports: Supports


class Rule(NamedTuple):
    """A rule; a pattern is one of ``STEP_PREDICATES``, an action and its terms."""

    name: str
    params: Domains
    patterns: list[Fact]
    parts: list[Part]
    severity: str = SEVERITIES[1]


class Specification(NamedTuple):
    """The contents of a safety specification; ``open_facts`` are the facts of its open predicates."""

    rules: list[Rule]
    open_facts: list[Fact]
    invariants: list[Node]


def _make_part(kind: PartKind, params: Domains, formula: Node) -> Part:
    return Part(kind, params, formula, find_supports(formula, False))


def simplify(formula: Node) -> Node:
    """Merge connectives with equal parents, replace connectives of one member by it, and remove double negations."""
    match formula:
        case Unary("not", Unary("not", part)):
            return simplify(part)
        case Unary(operator, part):
            return Unary(operator, simplify(part))
        case Temporal("always", bounds, (part,)):
            return Temporal("always", bounds, (simplify(part),))
        case Quantified(operator, v, objects, part):
            return Quantified(operator, v, objects, simplify(part))
        case Connective(operator, members) if operator in DUAL:
            simplified_members = map(simplify, members)
            operands = list[Node]()
            for member in simplified_members:
                operands += member.parts() if member.operator == operator else (member,)
            return operands[0] if len(operands) == 1 else Connective(operator, tuple(operands))
        case Connective(operator, members):
            return Connective(operator, tuple(map(simplify, members)))
    return formula


def split_parts(formula: Node, params: Domains, in_trajectory: bool = False) -> Iterator[tuple[Domains, Node]]:
    """Yield the *parts* of a required, simplified formula, each with its parameters."""
    match formula:
        case Connective("and", members):
            for part in members:
                yield from split_parts(part, params, in_trajectory)
        case Quantified("forall", v, objects, part) if v not in dict(params):
            yield from split_parts(part, (*params, (v, objects)), in_trajectory)
        case Temporal("always", _, (part,)) if in_trajectory:
            yield from (
                (part_params, Temporal("always", (), (body,))) for part_params, body in split_parts(part, params)
            )
        case Unary("not", part) if (negation := _push_negation(part)) is not None:
            yield from split_parts(negation, params, in_trajectory)
        case _:
            yield params, formula


def _push_negation(formula: Node) -> Node | None:
    """Return the negation of a formula with ``not`` one level deeper; ``None`` if this is not possible."""
    match formula:
        case Unary("not", part):
            return part
        case Connective("imply", (left, right)):
            return Connective("and", (left, negate(right)))
        case Connective(("and" | "or") as operator, members):
            return Connective(DUAL[operator], tuple([negate(part) for part in members]))
        case Quantified(operator, v, objects, part):
            return Quantified(DUAL[operator], v, objects, negate(part))
    return None


def make_trajectory_rule(name: str, params: Domains, formula: Node) -> Rule:
    """Make the rule of ``:trajectory`` or a constraint. ``(always f)`` with a past formula f has occurrences."""
    parts = list[Part]()
    nonpast_operators = {*FUTURE_OPERATORS, *WHOLE_TRACE_OPERATORS}
    for part_params, part_formula in split_parts(simplify(formula), params, True):
        match part_formula:
            case Temporal("always", _, (body,)) if collect_operators(body).isdisjoint(nonpast_operators):
                parts.append(_make_part(PartKind.OCCURRENCE, part_params, body))
            case _:
                parts.append(_make_part(PartKind.WHOLE_TRACE, part_params, part_formula))
    return Rule(name, params, [], parts)


def make_constraint_rules(task: Task) -> list[Rule]:
    """Make a rule of each conjunct of the PDDL constraints, except preferences; the domain's come first."""
    conjuncts = [conjunct for formula in task.constraints for conjunct in _split_conjuncts(formula, ())]
    return [make_trajectory_rule(f"constraint-{i}", params, f) for i, (params, f) in enumerate(conjuncts, 1)]


def _split_conjuncts(formula: Node, params: Domains) -> Iterator[tuple[Domains, Node]]:
    """Yield the conjuncts that are not preferences, each with the variables of the quantifiers around it."""
    match formula:
        case Connective("and", members) if not params or "preference" in collect_operators(formula):
            for part in members:
                yield from _split_conjuncts(part, params)
        case Quantified("forall", v, objects, part) if v not in dict(params):
            yield from _split_conjuncts(part, (*params, (v, objects)))
        case _ if formula.operator != "preference":
            yield params, formula


def read_specification(task: Task, text: str) -> Specification:
    """Read the rules, open predicates and invariants of an expanded specification. Raises ``KernelRejects``."""
    specification = Specification([], [], [])
    names = set[str]()
    expressions = read_expressions(text, True)
    sections = read_definition(expressions, "safety", ":domain :vocabulary", " ".join((*KEYS, ":open")))
    for body in sections.pop(":open", []):
        for expr in body:
            specification.open_facts.extend(task.read_open_facts(expr))
    for kind in KEYS:
        for body in sections.get(kind, []):
            require(body and isinstance(body[0], str) and NAME.fullmatch(body[0]), "a rule without name")
            require(body[0] not in names, "a rule declared twice")
            names.add(body[0])
            keys = read_keywords(body[1:], KEYS[kind] + META_KEYS)
            if kind == ":invariant":
                specification.invariants.append(_read_invariant(task, keys))
            else:
                severity = keys.get(":severity", SEVERITIES[1])
                require(severity in SEVERITIES, "not a severity")
                params = task.vocabulary.read_parameters(keys.get(":parameters", ()))
                rule = RULE_READERS[kind](task, body[0], keys, params)
                specification.rules.append(rule._replace(severity=severity))
    return specification


def _read_invariant(task: Task, keys: dict[str, Sexp]) -> Node:
    """Read the statement of ``:invariant`` (docs/worlds.md, section 1), for all values of its parameters."""
    params = keys.pop(":parameters", ())
    require(len(keys) == 1, "expected one of :holds, :exactly-one and :at-most-one")
    [(kind, expr)] = keys.items()

    def read_statement(scope: Params) -> Node:
        if kind == ":holds":
            return task.formulas.read_formula(expr, scope)
        atoms = tuple([task.vocabulary.read_open_atom(atom, scope, []) for atom in expr])
        return AtomCount(ALLOWED_COUNTS[kind], atoms)

    return task.formulas.quantify("forall", params, {}, read_statement)


def _read_trajectory(task: Task, name: str, keys: dict[str, Sexp], scope: Params) -> Rule:
    formula = task.formulas.read_formula(keys.get(":formula", ""), scope, "top")
    return make_trajectory_rule(name, task.vocabulary.find_domains(scope), formula)


def _read_obligation(task: Task, name: str, keys: dict[str, Sexp], scope: Params) -> Rule:
    """Make the rule ``(sometime-after when then)``, or with ``:within t`` the rule ``(always-within t when then)``."""
    members = tuple([task.formulas.read_formula(keys.get(key, ""), scope, "past") for key in (":when", ":then")])
    if ":within" in keys:
        formula = Temporal("always-within", (parse_number(keys[":within"]),), members)
    else:
        formula = Temporal("sometime-after", (), members)
    domains = task.vocabulary.find_domains(scope)
    return Rule(name, domains, [], [_make_part(PartKind.WHOLE_TRACE, domains, formula)])


def _read_termination(task: Task, name: str, keys: dict[str, Sexp], scope: Params) -> Rule:
    domains = task.vocabulary.find_domains(scope)
    return Rule(name, domains, [], _read_demands(task.formulas, keys, scope, domains, PartKind.AT_END))


def _read_process(task: Task, name: str, keys: dict[str, Sexp], scope: Params) -> Rule:
    """Read a rule about the steps of some actions, or about every state if it names no step."""
    triggers = [(STEP_KEYS[key], keys[key]) for key in keys if key in STEP_KEYS]
    require(len(triggers) < 2, "expected one of :on, :at-end and :during")
    patterns = list[Fact]()
    for mode, step in triggers:
        require(isinstance(step, tuple), "not a step")
        is_choice = step[:1] == ("or",) and any(isinstance(argument, tuple) for argument in step[1:])
        steps = step[1:] if is_choice else (step,)
        patterns += [(STEP_PREDICATES[mode], *terms) for terms in _read_steps(task, steps, scope)]
    allows_after_demands = ":on" in keys or ":at-end" in keys
    require(
        allows_after_demands or not any(key.endswith("after") for key in keys),
        ":forbid-after and :require-after need a step of :on or :at-end",
    )
    domains = task.vocabulary.find_domains(scope)
    parts = _read_demands(task.formulas, keys, scope, domains, PartKind.MATCH if triggers else PartKind.OCCURRENCE)
    return Rule(name, domains, patterns, parts)


def _read_steps(task: Task, steps: tuple[Sexp, ...], scope: Params) -> list[Fact]:
    """Read the STEPs of a rule. Undeclared variables become parameters with any of the actions' types."""
    declared, action_params = {*scope}, task.formulas.actions
    require(all(isinstance(step, tuple) and step and isinstance(step[0], str) for step in steps), "not a step")
    for step in steps:
        for term, types in zip(step[1:], action_params.get(step[0], {}).values(), strict=False):
            if term[:1] == "?" and term not in declared:
                scope[term] = scope.get(term, ()) + types
    declared_types = {term: types if term in declared else () for term, types in scope.items()}
    return [task.vocabulary.read_step(step, action_params, declared_types) for step in steps]


def _read_demands(
    formulas: FormulaReader, keys: dict[str, Sexp], scope: Params, domains: Domains, kind: PartKind
) -> list[Part]:
    """Make the parts of a rule: ``:when`` implies each ``:require`` and the negation of each ``:forbid``.

    A key with ``-after`` is about the next letter.
    """
    when = formulas.read_formula(keys[":when"], scope, "past") if ":when" in keys else EMPTY_AND
    demand_keys = [key for key in keys if key.startswith((":forbid", ":require"))]
    require(demand_keys, "a rule without :forbid or :require")
    parts = list[Part]()
    for key in demand_keys:
        formula = formulas.read_formula(keys[key], scope, "past")
        required = simplify(negate(formula) if key.startswith(":forbid") else formula)
        for params, part in split_parts(required, domains):
            demanded_formula = Temporal("next", (), (part,)) if key.endswith("after") else part
            parts.append(_make_part(kind, params, Connective("imply", (when, demanded_formula))))
    return parts


RULE_READERS = {
    ":process": _read_process,
    ":trajectory": _read_trajectory,
    ":termination": _read_termination,
    ":obligation": _read_obligation,
}
