"""Safety specifications and PDDL constraints as rules, and their parts (docs/language.md, section 5)."""

from collections.abc import Iterator
from typing import NamedTuple

from .conditions import Conditions
from .formulas import (
    FUTURE,
    NOTHING,
    STEP_PREDICATES,
    WHOLE,
    Connective,
    Count,
    Domains,
    Fact,
    Need,
    Node,
    Quantified,
    Temporal,
    Unary,
    needs,
    negated,
    operators,
)
from .reader import NAME, Sexp, definition, keywords, need, number, read_expressions
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
META = " :hazard :target :severity :message :rationale :fix :parameters"
ABOUT = {":on": "action", ":at-end": "action-end", ":during": "action-during"}
COUNTS = {":exactly-one": (1,), ":at-most-one": (0, 1)}  # how many atoms of an invariant are true
DUAL = {"and": "or", "or": "and", "forall": "exists", "exists": "forall"}
OCCURRENCE, MATCH, AT_END, WHOLE_TRACE = "occurrence", "match", "end", "whole"


class Part(NamedTuple):
    """A part of a rule: what a finding of it is (one of four kinds), all its parameters, and what is to hold."""

    kind: str
    params: Domains
    formula: Node
    violation: tuple[Need, ...]  # what has to be so for the formula not to be true


class Rule(NamedTuple):
    """A rule; a pattern is one of ``STEP_PREDICATES``, an action and its terms."""

    name: str
    params: Domains
    patterns: list[Fact]
    parts: list[Part]
    severity: str = SEVERITIES[1]


class Specification(NamedTuple):
    """What a safety specification says."""

    rules: list[Rule]
    opened: list[Fact]  # the facts of open predicates
    invariants: list[Node]


def _part(kind: str, params: Domains, f: Node) -> Part:
    return Part(kind, params, f, needs(f, False))


def plain(f: Node) -> Node:
    """The formula with connectives inside their like counted as one, and those of a single part as that part."""
    match f:
        case Unary("not", Unary("not", part)):
            return plain(part)
        case Unary(operator, part):
            return Unary(operator, plain(part))
        case Temporal("always", bounds, (part,)):
            return Temporal("always", bounds, (plain(part),))
        case Quantified(operator, v, objects, part):
            return Quantified(operator, v, objects, plain(part))
        case Connective(operator, members) if operator in DUAL:
            parts = [x for g in map(plain, members) for x in (g.parts() if g.operator == operator else (g,))]
            return parts[0] if len(parts) == 1 else Connective(operator, tuple(parts))
        case Connective(operator, members):
            return Connective(operator, tuple(map(plain, members)))
    return f


def split(f: Node, params: Domains, in_trajectory: bool = False) -> Iterator[tuple[Domains, Node]]:
    """*Parts*: those of a required (plain) formula, each with its parameters."""
    match f:
        case Connective("and", members):
            for part in members:
                yield from split(part, params, in_trajectory)
        case Quantified("forall", v, objects, part) if v not in dict(params):
            yield from split(part, (*params, (v, objects)), in_trajectory)
        case Temporal("always", _, (part,)) if in_trajectory:
            yield from ((inner, Temporal("always", (), (g,))) for inner, g in split(part, params))
        case Unary("not", part) if (turned := _turned(part)) is not None:
            yield from split(turned, params, in_trajectory)
        case _:
            yield params, f


def _turned(f: Node) -> Node | None:
    """A negated formula, turned over."""
    match f:
        case Unary("not", part):
            return part
        case Connective("imply", (left, right)):
            return Connective("and", (left, negated(right)))
        case Connective(("and" | "or") as operator, members):
            return Connective(DUAL[operator], tuple([negated(part) for part in members]))
        case Quantified(operator, v, objects, part):
            return Quantified(DUAL[operator], v, objects, negated(part))
    return None


def trajectory(name: str, params: Domains, f: Node) -> Rule:
    """``:trajectory``, and a constraint: f at letter 0. ``(always f)`` with a past formula f has occurrences."""
    parts = list[Part]()
    for inner, g in split(plain(f), params, True):
        if isinstance(g, Temporal) and g.operator == "always" and not operators(g.members[0]) & {*FUTURE, *WHOLE}:
            parts.append(_part(OCCURRENCE, inner, g.members[0]))
        else:
            parts.append(_part(WHOLE_TRACE, inner, g))
    return Rule(name, params, [], parts)


def constraints(task: Task) -> list[Rule]:
    """The conjuncts of the PDDL constraints are rules, domain first; preferences are none."""
    found = [pair for f in task.constraints for pair in _conjuncts(f, ())]
    return [trajectory(f"constraint-{i}", params, f) for i, (params, f) in enumerate(found, 1)]


def _conjuncts(f: Node, params: Domains) -> Iterator[tuple[Domains, Node]]:
    match f:
        case Connective("and", members) if not params or "preference" in operators(f):
            for part in members:
                yield from _conjuncts(part, params)
        case Quantified("forall", v, objects, part) if v not in dict(params):
            yield from _conjuncts(part, (*params, (v, objects)))
        case _ if f.operator != "preference":
            yield params, f


def specification(task: Task, text: str) -> Specification:
    """The rules, open predicates and invariants of an expanded specification. Raises ``KernelRejects``."""
    result = Specification([], [], [])
    names = set[str]()
    sections = definition(read_expressions(text, True), "safety", ":domain :vocabulary", " ".join((*KEYS, ":open")))
    for body in sections.pop(":open", []):
        for e in body:
            result.opened.extend(task.opened(e))
    for kind in KEYS:
        for body in sections.get(kind, []):
            need(body and isinstance(body[0], str) and NAME.fullmatch(body[0]), "a rule without name")
            need(body[0] not in names, "a rule declared twice")
            names.add(body[0])
            keys = keywords(body[1:], KEYS[kind] + META)
            if kind == ":invariant":
                result.invariants.append(_invariant(task, keys))
            else:
                severity = keys.get(":severity", SEVERITIES[1])
                need(severity in SEVERITIES, "not a severity")
                result.rules.append(READ[kind](task, body[0], keys)._replace(severity=severity))
    return result


def _invariant(task: Task, keys: dict[str, Sexp]) -> Node:
    """``:invariant`` (docs/worlds.md, section 1), for all values of its parameters."""
    params = keys.pop(":parameters", ())
    need(len(keys) == 1, "not one thing is said")
    [(kind, e)] = keys.items()

    def said(env: Params) -> Node:
        if kind == ":holds":
            return task.conditions.formula(e, env)
        return Count(COUNTS[kind], tuple([task.vocabulary.instances(atom, env, []) for atom in e]))

    return task.conditions.quantified("forall", params, {}, said)


def _parameters(task: Task, keys: dict[str, Sexp]) -> Params:
    return task.vocabulary.declared(keys.get(":parameters", ()))


def _trajectory(task: Task, name: str, keys: dict[str, Sexp]) -> Rule:
    env = _parameters(task, keys)
    return trajectory(name, task.domains(env), task.conditions.formula(keys.get(":formula", ""), env, "top"))


def _obligation(task: Task, name: str, keys: dict[str, Sexp]) -> Rule:
    """``(sometime-after when then)``, or with ``:within t`` ``(always-within t when then)``."""
    env = _parameters(task, keys)
    both = tuple([task.conditions.formula(keys.get(k, ""), env, "past") for k in (":when", ":then")])
    if ":within" in keys:
        f = Temporal("always-within", (number(keys[":within"]),), both)
    else:
        f = Temporal("sometime-after", (), both)
    domains = task.domains(env)
    return Rule(name, domains, [], [_part(WHOLE_TRACE, domains, f)])


def _termination(task: Task, name: str, keys: dict[str, Sexp]) -> Rule:
    env = _parameters(task, keys)
    return Rule(name, task.domains(env), [], _asked(task.conditions, keys, env, task.domains(env), AT_END))


def _process(task: Task, name: str, keys: dict[str, Sexp]) -> Rule:
    env = _parameters(task, keys)
    about = [(ABOUT[k], keys[k]) for k in keys if k in ABOUT]
    need(len(about) < 2, "a rule about two steps")
    patterns = list[Fact]()
    for mode, step in about:
        need(isinstance(step, tuple), "not a step")
        steps = step[1:] if step[:1] == ("or",) and any(isinstance(x, tuple) for x in step[1:]) else (step,)
        patterns += [(STEP_PREDICATES[mode], *terms) for terms in _steps(task, steps, env)]
    after = about and about[0][0] != "action-during"
    need(after or not any(k.endswith("after") for k in keys), "nothing to come after")
    domains = task.domains(env)
    parts = _asked(task.conditions, keys, env, domains, MATCH if about else OCCURRENCE)
    return Rule(name, domains, patterns, parts)


def _steps(task: Task, steps: tuple[Sexp, ...], env: Params) -> list[Fact]:
    """The STEPs of a rule; variables that are no parameters become some, typed as any of the actions' parameters."""
    declared, table = {*env}, task.conditions.actions
    need(all(isinstance(s, tuple) and s and isinstance(s[0], str) for s in steps), "not a step")
    for s in steps:
        for x, types in zip(s[1:], table.get(s[0], {}).values(), strict=False):
            if x[:1] == "?" and x not in declared:
                env[x] = env.get(x, ()) + types
    known = {x: types if x in declared else () for x, types in env.items()}  # others fit: the steps type them
    return [task.vocabulary.step(s, table, known) for s in steps]


def _asked(conditions: Conditions, keys: dict[str, Sexp], env: Params, domains: Domains, kind: str) -> list[Part]:
    """``:when g`` implies ``:require r`` and not ``:forbid f``; the same one letter later for ``-after``."""
    when = conditions.formula(keys[":when"], env, "past") if ":when" in keys else NOTHING
    asks = [k for k in keys if k.startswith((":forbid", ":require"))]
    need(asks, "a rule that asks nothing")
    parts = list[Part]()
    for key in asks:
        f = conditions.formula(keys[key], env, "past")
        for params, g in split(plain(negated(f) if key.startswith(":forbid") else f), domains):
            then = Temporal("next", (), (g,)) if key.endswith("after") else g
            parts.append(_part(kind, params, Connective("imply", (when, then))))
    return parts


READ = {":process": _process, ":trajectory": _trajectory, ":termination": _termination, ":obligation": _obligation}
