"""Rules: what constraints and the expanded rules of a safety specification check (docs/language.md, section 5)."""
# fmt: off
# ruff: noqa: E701
from collections.abc import Iterator
from typing import NamedTuple

from .formulas import FUTURE, WHOLE, Domains, Formula, operators
from .reader import NAME, Sexp, definition, keywords, need, number, read
from .task import Task

META = " :hazard :target :severity :message :rationale :fix :parameters"
KEYS = {":process": ":on :at-end :during :when :forbid :require :forbid-after :require-after", ":trajectory": ":formula",
        ":termination": ":when :forbid :require", ":obligation": ":when :then :within"}
STEPS = {":on": "action", ":at-end": "action-end", ":during": "action-during"}

class Rule(NamedTuple):
    """A rule; its parts have a kind ("occurrence", "match", "end" or "whole"), all their parameters and a formula."""
    name: str
    params: Domains
    patterns: list[tuple[str, ...]]  # of the steps it is about: (mode, action, term ..)
    parts: list[tuple[str, Domains, Formula]]
    soft: bool = False  # a preference

def split(f: Formula, params: Domains, below: bool = False) -> Iterator[tuple[Domains, Formula]]:
    """The parts of a required formula, each with its parameters; in a trajectory also ``below`` always."""
    match f:
        case ("not", ("not", g)): yield from split(g, params, below)
        case ("not", ("and", *fs)): yield from split(("or", *(("not", g) for g in fs)), params, below)
        case ("not", ("or", *fs)): yield from split(("and", *(("not", g) for g in fs)), params, below)
        case ("not", ("exists", v, objects, g)): yield from split(("forall", v, objects, ("not", g)), params, below)
        case ("not", ("forall", v, objects, g)): yield from split(("exists", v, objects, ("not", g)), params, below)
        case ("and", *fs):
            for g in fs: yield from split(g, params, below)
        case ("forall", v, objects, g) if v not in dict(params): yield from split(g, (*params, (v, objects)), below)
        case ("always", g) if below: yield from ((inner, ("always", h)) for inner, h in split(g, params))
        case _: yield params, f

def trajectory(name: str, params: Domains, f: Formula) -> Rule:
    """The rule that ``f`` holds at letter 0."""
    parts = list[tuple[str, Domains, Formula]]()
    for inner, g in split(f, params, True):
        occurs = g[0] == "always" and not operators(g[1]) & {*FUTURE, *WHOLE}
        parts.append(("occurrence", inner, g[1]) if occurs else ("whole", inner, g))
    return Rule(name, params, [], parts)

def constraints(f: Formula, params: Domains = ()) -> Iterator[tuple[str, Domains, Formula]]:
    """The conjuncts of a PDDL constraint: preference's name ("" if hard), outer variables, formula."""
    match f:
        case ("and", *fs) if not params or "preference" in operators(f):
            for g in fs: yield from constraints(g, params)
        case ("forall", v, objects, g) if v not in dict(params): yield from constraints(g, (*params, (v, objects)))
        case ("preference", name, g): yield name, params, g
        case _: yield "", params, f

def specification(task: Task, text: str) -> Iterator[Rule]:
    """The rules of a specification that needs no expansion any more."""
    names = set[str]()
    for kind, bodies in definition(read(text, True), "safety", ":domain :vocabulary", " ".join(KEYS)).items():
        for name, *body in (body or ((),) for body in bodies) if kind in KEYS else ():
            need(isinstance(name, str) and NAME.fullmatch(name) and name not in names, "a rule without a name of its own")
            names.add(name)
            yield _rule(task, kind, name, keywords(tuple(body), KEYS[kind] + META))

def _rule(task: Task, kind: str, name: str, keys: dict[str, Sexp]) -> Rule:
    env = task.params(keys.get(":parameters", ()))
    if kind == ":trajectory":
        return trajectory(name, task.ranges(env), task.formula(keys.get(":formula", "none"), env, "top"))
    if kind == ":obligation":
        both = [task.formula(keys.get(k, "none"), env, "past") for k in (":when", ":then")]
        f = ("always-within", number(keys[":within"]), *both) if ":within" in keys else ("sometime-after", *both)
        return Rule(name, task.ranges(env), [], [("whole", task.ranges(env), f)])
    about = [(mode, keys[k]) for k, mode in STEPS.items() if k in keys]
    need(len(about) < 2, "two steps")
    patterns, table, declared = list[tuple[str, ...]](), {a: x.params for a, x in task.actions.items()}, {*env}
    for mode, step in about:
        steps = step[1:] if step[:1] == ("or",) and all(isinstance(x, tuple) for x in step[1:]) else (step,)
        for head, *terms in steps:
            for x, types in zip(terms, table.get(head, {}).values(), strict=False):
                if x[:1] == "?" and x not in declared: env[x] = env.get(x, ()) + types
        patterns += [(mode, *task.terms(x, table, env, "_")) for x in steps]
    when, parts = task.formula(keys.get(":when", ()), env, "past"), list[tuple[str, Domains, Formula]]()
    part = "match" if about else "end" if kind == ":termination" else "occurrence"
    for key in (k for k in keys if k.startswith((":forbid", ":require"))):
        after = key.endswith("after")
        need(not after or about and about[0][0] != "action-during", f"{key} without a step")
        f = task.formula(keys[key], env, "past")
        for params, g in split(("not", f) if key.startswith(":forbid") else f, task.ranges(env)):
            parts.append((part, params, ("imply", when, ("next", g) if after else g)))
    need(any(k.startswith((":forbid", ":require")) for k in keys), "a rule that asks nothing")
    return Rule(name, task.ranges(env), patterns, parts)
