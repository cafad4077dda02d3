"""The meaning of a domain and a problem as a value: equal for texts that elaborate to the same task."""

from __future__ import annotations

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.model.nodes import (
    Action,
    And,
    Atom,
    Compare,
    Equal,
    Formula,
    Not,
    Number,
    Or,
    Quantified,
    Task,
    Truth,
)

Meaning = dict[str, object]


def meaning(domain: Source, problem: Source) -> Meaning | None:
    """The meaning of a task; ``None`` if it has mistakes. The order of declarations and conjuncts does not matter."""
    checker = Checker(domain, problem)
    if not checker.ok:
        return None
    task, symbols = checker.compiled.task, checker.compiled.symbols
    table = symbols.types

    def kinds(types: tuple[int, ...]) -> tuple[str, ...]:
        return tuple(sorted([table.names[t] for t in types]))

    return {
        "types": {name: kinds(tuple(table.parents[number])) or ("object",) for name, number in table.index.items()},
        "objects": {name: kinds(symbols.object_types[number]) for name, number in symbols.object_index.items()},
        "predicates": {p.name: tuple([kinds(t) for t in p.types]) for p in symbols.predicates},
        "functions": {f.name: tuple([kinds(t) for t in f.types]) for f in symbols.functions},
        "actions": {
            name: _action(task, a, [kinds(t) for t in symbols.parameter_types[name]])
            for name, a in task.actions.items()
        },
        "init": frozenset([task.fact_text(p, code) for p, codes in enumerate(task.initial_facts) for code in codes]),
        "values": frozenset([v for f, values in enumerate(task.initial_fluents) for v in _values(task, f, values)]),
        "goal": _formula(task, And(task.goal), {}),
    }


def difference(first: Meaning, second: Meaning) -> list[str]:
    """Describe the differences for people."""
    differences = []
    for key in first:
        a, b = first[key], second[key]
        if a == b:
            continue
        if isinstance(a, dict) and isinstance(b, dict):
            differences += [
                f"{key} {name}: {a.get(name)} / {b.get(name)}"
                for name in sorted({*a, *b})
                if a.get(name) != b.get(name)
            ]
        elif isinstance(a, frozenset) and isinstance(b, frozenset):
            differences.append(f"{key}: lost {sorted(map(str, a - b))}, new {sorted(map(str, b - a))}")
        else:
            differences.append(f"{key}: {a} / {b}")
    return differences


def _action(task: Task, action: Action, types: list[tuple[str, ...]]) -> object:
    slots = {v.slot: f"?{number}" for number, v in enumerate(action.parameters)}
    effects = []
    for effect in action.start.effects:
        effect_slots = dict(slots)
        for variable in effect.variables:
            effect_slots[variable.slot] = f"?{len(effect_slots)}"
        condition = _formula(task, effect.condition, effect_slots)
        bound = tuple([_domain(task, v.domain) for v in effect.variables])
        for sign, atoms in (("+", effect.adds), ("-", effect.deletes)):
            effects += [(sign, bound, condition, _formula(task, atom, effect_slots)) for atom in atoms]
        effects += [("=", bound, condition, str(assignment)) for assignment in effect.assignments]
    gone = {(b, c, a) for sign, b, c, a in effects if sign == "+"}
    effects = [e for e in effects if not (e[0] == "-" and (e[1], e[2], e[3]) in gone)]  # an added fact stays true
    return tuple(types), _formula(task, And(action.start.condition), slots), tuple(sorted(effects, key=repr))


def _formula(task: Task, formula: Formula, slots: dict[int, str]) -> object:
    def term(argument: int) -> str:
        return task.objects[argument] if argument >= 0 else slots.get(-1 - argument, "?")

    match formula:
        case Truth():
            return formula.value
        case Atom():
            return (task.predicates[formula.predicate].name, *[term(a) for a in formula.arguments])
        case Equal():
            return ("=", *sorted([term(formula.left), term(formula.right)]))
        case Not():
            return ("not", _formula(task, formula.body, slots))
        case And() | Or():
            head = "and" if isinstance(formula, And) else "or"
            parts: list[object] = []
            for part in formula.parts:
                inner = _formula(task, part, slots)
                parts += inner[1:] if isinstance(inner, tuple) and inner[:1] == (head,) else [inner]
            parts = sorted(set(parts), key=repr)
            return parts[0] if len(parts) == 1 else (head, *parts)
        case Quantified():
            inner_slots = dict(slots)
            for variable in formula.variables:
                inner_slots[variable.slot] = f"?{len(inner_slots)}"
            domains = tuple([_domain(task, v.domain) for v in formula.variables])
            return ("forall" if formula.universal else "exists", domains, _formula(task, formula.body, inner_slots))
        case Compare():
            return str(formula)
        case _:
            raise AssertionError("a temporal formula in a task")


def _domain(task: Task, number: int) -> tuple[str, ...]:
    return tuple(sorted([task.objects[o] for o in task.domains[number]]))


def _values(task: Task, function: int, values: dict[int, Number]) -> list[str]:
    declared = task.functions[function]
    names = {code: " ".join(task.names(task.decode(code, len(declared.types)))) for code in values}
    return [f"({declared.name} {names[code]}) = {value}" for code, value in values.items()]
