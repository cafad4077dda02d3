"""Triggers: from one changed fact to the bindings of a condition that it may have changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from plansafe.verifier.compile.emitter import Emitter
from plansafe.verifier.compile.joins import Join
from plansafe.verifier.compile.normal_forms import (
    Disjunct,
    FormulaLiteral,
    dnf,
    drop_impossible_equations,
    slots_bound_by_literals,
)
from plansafe.verifier.model.nodes import Atom, Formula, Variable
from plansafe.verifier.model.operations import atoms_and_fluents, bound_slot_domains, free_slots, has_comparison


def emit_argument_match(
    emitter: Emitter, predicate: int, arguments: tuple[int, ...], domains: dict[int, int]
) -> tuple[list[str], frozenset[int]]:
    """Lines that match ``code`` against an argument pattern (returning on a mismatch), and the slots they bind.

    Slots without an entry in ``domains`` are quantified further inside and match anything.
    """
    lines: list[str] = []
    bound: set[int] = set()
    for place, argument in enumerate(arguments):
        value = emitter.argument_of_code(predicate, place, "code")
        if argument >= 0:
            lines.append(f"if {value} != {argument}: return")
            continue
        slot = -1 - argument
        if slot not in domains:
            continue
        if slot in bound:
            lines.append(f"if {value} != x{slot}: return")
            continue
        bound.add(slot)
        lines.append(f"x{slot} = {value}")
        if not emitter.contains_all_objects(domains[slot]):
            lines.append(f"if x{slot} not in {emitter.member_set_name(domains[slot])}: return")
    return lines, frozenset(bound)


class Trigger(NamedTuple):
    """``find(S, F, I, code, out)`` appends the bindings that a change of ``predicate`` may have made true.

    ``added`` is ``None`` for fluents and for facts read below a quantifier: any change counts.
    """

    predicate: int
    added: bool | None
    find: Callable[..., None]


class Extension(NamedTuple):
    """The bindings of ``parameters`` for which a condition holds: found in full, or from changes.

    ``all(S, F, I, 0, out)`` appends every candidate binding; candidates may be duplicates, and where the condition
    reads numbers they are to be confirmed.
    """

    parameters: tuple[Variable, ...]
    all: Callable[..., None]
    triggers: tuple[Trigger, ...]


def compile_extension(
    emitter: Emitter, condition: Formula, positive: bool, parameters: tuple[Variable, ...]
) -> Extension:
    """Compile the search for the bindings under which ``condition`` has the value ``positive``."""
    condition = drop_impossible_equations(condition, {v.slot: v.domain for v in parameters}, emitter.task.domains)
    disjuncts = dnf(condition, positive)
    if disjuncts is None:
        disjuncts = [Disjunct((), (FormulaLiteral(positive, condition),))]
    slots = [v.slot for v in parameters]
    everything: list[str] = []
    triggers: list[Trigger] = []
    inner = [f"out.append(({''.join([f'x{s},' for s in slots])}))"]
    seen: set[tuple[Any, ...]] = set()
    for disjunct in disjuncts:
        domains = {v.slot: v.domain for v in (*parameters, *disjunct.variables)}
        # Comparisons of numbers are left to the confirmation of each candidate.
        literals = [literal for literal in disjunct.literals if not has_comparison(literal.formula)]
        join = Join(emitter, domains, "S, F, I, code, out", indexed=True)
        everything += join.emit(literals, frozenset(), slots, inner)
        for literal in disjunct.literals:
            exact = isinstance(literal.formula, Atom)
            for read in atoms_and_fluents(literal.formula):
                predicate = read.predicate if isinstance(read, Atom) else len(emitter.task.predicates) + read.function
                added = literal.positive if exact else None
                key = (id(disjunct), predicate, read.arguments, added)
                if key in seen:
                    continue
                seen.add(key)
                lines, bound = emit_argument_match(emitter, predicate, read.arguments, domains)
                name = emitter.fresh_name()
                emitter.define(name, "S, F, I, code, out", lines + join.emit(literals, bound, slots, inner))
                triggers.append(Trigger(predicate, added, emitter.compile_function(name)))
    name = emitter.fresh_name()
    emitter.define(name, "S, F, I, code, out", everything or ["pass"])
    return Extension(parameters, emitter.compile_function(name), tuple(triggers))


class ReadPattern(NamedTuple):
    """An atom or fluent that a condition reads, as a pattern over the parameters of its rule.

    ``key(code)`` gives the objects at ``places`` of a changed fact's code; ``parameters`` are the positions in the
    binding that must equal them. ``match`` tests constants, repeated variables and the types of inner variables.
    """

    predicate: int
    parameters: tuple[int, ...]
    key: Callable[[int], tuple[int, ...] | None]


def compile_patterns(emitter: Emitter, condition: Formula, parameters: tuple[Variable, ...]) -> list[ReadPattern]:
    """All patterns of a condition. ``key`` returns ``None`` for facts that the condition cannot read."""
    index = {v.slot: i for i, v in enumerate(parameters)}
    inner = bound_slot_domains(condition)
    out: list[ReadPattern] = []
    seen: set[tuple[int, tuple[int, ...]]] = set()
    nothing = frozenset([d for d, members in enumerate(emitter.task.domains) if not members])
    for read in atoms_and_fluents(condition, nothing):
        predicate = read.predicate if isinstance(read, Atom) else len(emitter.task.predicates) + read.function
        if (predicate, read.arguments) in seen:
            continue
        seen.add((predicate, read.arguments))
        domains = {**{v.slot: v.domain for v in parameters}, **inner}
        lines, _ = emit_argument_match(emitter, predicate, read.arguments, domains)
        bound = list(dict.fromkeys([-1 - a for a in read.arguments if a < 0 and -1 - a in index]))
        lines = [line.replace("return", "return None") for line in lines]
        lines.append(f"return ({''.join([f'x{s},' for s in bound])})")
        name = emitter.fresh_name()
        emitter.define(name, "code", lines)
        out.append(ReadPattern(predicate, tuple([index[s] for s in bound]), emitter.compile_function(name)))
    return out


def binds_all_parameters(condition: Formula, positive: bool, parameters: tuple[Variable, ...]) -> bool:
    """Whether positive atoms give values to all parameters wherever the condition has the value ``positive``."""
    wanted = free_slots(condition) & {v.slot for v in parameters}
    disjuncts = dnf(condition, positive)
    return disjuncts is not None and all([wanted <= slots_bound_by_literals(d) for d in disjuncts])
