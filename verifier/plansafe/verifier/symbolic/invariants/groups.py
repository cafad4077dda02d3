"""Groups of facts that exclude each other in S0: declared groups, and inferred groups that restrict open predicates.

An inferred group is an assumption: no action can break it, but nothing says that S0 keeps it. It is assumed for a
binding of its parameters if an open predicate has an instance there, unless given facts break it: at most one instance
is then true. "Exactly one" is assumed only if no action can change that, *and* if it holds for every binding without
open instances, and there is such a binding: for example, each other object is in one place, so this object is too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from math import prod
from typing import NamedTuple

from plansafe.grammar.diagnostics import with_article
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.nodes import OpenPredicate, Task, Variable, WorldInvariant, match_arguments, variable
from plansafe.verifier.symbolic.invariants.group_proofs import COUNTED, GroupAtom
from plansafe.verifier.symbolic.invariants.inference import InferredInvariant, infer_invariants
from plansafe.verifier.symbolic.worlds.initial_state import (
    MAX_OPEN_FACTS,
    FactGroup,
    find_opened_codes,
    iterate_open_facts,
)

Fact = tuple[int, int]


class AssumedInvariant(NamedTuple):
    """An inferred invariant with the groups of S0 that it is assumed for, all of one kind.

    ``broken_count`` is the number of bindings with open instances for which given facts break it.
    """

    invariant: InferredInvariant
    groups: tuple[FactGroup, ...]
    exactly_one: bool
    broken_count: int


class Restrictions(NamedTuple):
    """Groups that restrict S0, and a line of text for each invariant that they come from."""

    groups: tuple[FactGroup, ...]
    texts: tuple[str, ...]


def find_restrictions(
    task: Task,
    openings: Sequence[OpenPredicate],
    declared_invariants: Sequence[WorldInvariant],
    uses_inference: bool = True,
    deadline: float | None = None,
    lenient_types: bool = False,
) -> Restrictions:
    """Ground the declared groups of S0 and, if ``uses_inference``, the inferred ones. Raises :class:`LimitReached`.

    Inference ends at ``deadline`` (of ``time.monotonic``).
    """
    groups = ground_declared(task, openings, declared_invariants)
    texts = [describe_declared(task, invariant) for invariant in declared_invariants]
    if uses_inference and openings:
        inferred_invariants = infer_invariants(
            task, deadline, {opening.predicate for opening in openings}, lenient_types
        )
        for assumed in ground_inferred(task, openings, inferred_invariants):
            groups += assumed.groups
            texts.append(describe_assumed(task, assumed))
    return Restrictions(tuple(groups), tuple(texts))


# ---- inferred groups ------------------------------------------------------------------------------------------------


def ground_inferred(
    task: Task, openings: Sequence[OpenPredicate], inferred_invariants: Iterable[InferredInvariant]
) -> list[AssumedInvariant]:
    """The inferred invariants that restrict open predicates, with their groups of S0.

    Facts that ``:init`` leaves open by name are in no group. Linear in the open and the given facts of the predicates.
    Raises :class:`LimitReached`.
    """
    codes_open_by_name = task.unknowns.facts if task.unknowns is not None else [set[int]() for _ in task.predicates]
    opened_codes = find_opened_codes(task, openings)
    return [
        assumed
        for invariant in inferred_invariants
        if any([opened_codes.get(atom.predicate) for atom in invariant.atoms])
        for assumed in _ground_invariant(task, opened_codes, codes_open_by_name, invariant)
    ]


def _ground_invariant(
    task: Task, opened_codes: dict[int, list[int]], codes_open_by_name: Sequence[set[int]], invariant: InferredInvariant
) -> Iterator[AssumedInvariant]:
    """The groups of an invariant for the bindings with open facts: at most one assumption of each kind."""
    open_facts: dict[int, list[Fact]] = defaultdict(list)
    given_facts: dict[int, list[Fact]] = defaultdict(list)
    keys_open_by_name: set[int] = set()
    for atom in invariant.atoms:
        predicate = atom.predicate
        for facts_by_key, codes in (
            (open_facts, opened_codes.get(predicate, [])),
            (given_facts, sorted(task.initial_facts[predicate])),
        ):
            for code, key in zip(codes, _make_binding_keys(task, atom, codes), strict=True):
                facts_by_key[key].append((predicate, code))
        keys_open_by_name.update(_make_binding_keys(task, atom, codes_open_by_name[predicate]))
    exactly_one = invariant.exact and _has_one_elsewhere(
        task, invariant, given_facts, open_facts.keys() | keys_open_by_name
    )
    groups_by_kind: dict[bool, list[FactGroup]] = {True: [], False: []}  # exactly one, at most one
    broken_count = 0
    for key in sorted(open_facts):
        true_facts = given_facts.get(key, [])
        is_exactly_one = exactly_one and key not in keys_open_by_name
        facts = tuple(dict.fromkeys([*true_facts, *open_facts[key]]))
        if len(set(true_facts)) > 1:
            broken_count += 1
        elif len(facts) > 1 or is_exactly_one:
            groups_by_kind[is_exactly_one].append(FactGroup(facts, is_exactly_one))
    for is_exactly_one, groups in groups_by_kind.items():
        if groups:
            yield AssumedInvariant(invariant, tuple(groups), is_exactly_one, broken_count)


def _has_one_elsewhere(
    task: Task, invariant: InferredInvariant, given_facts: dict[int, list[Fact]], open_keys: set[int]
) -> bool:
    """Whether exactly one instance is true for each binding without open instances, and there is such a binding."""
    closed_binding_count = prod([len(members) for members in find_parameter_objects(task, invariant)]) - len(open_keys)
    closed_groups = [set(facts) for key, facts in given_facts.items() if key not in open_keys]
    return (
        closed_binding_count > 0
        and closed_binding_count == len(closed_groups)
        and all([len(facts) == 1 for facts in closed_groups])
    )


def find_parameter_objects(task: Task, invariant: InferredInvariant) -> list[frozenset[int]]:
    """For each parameter, the objects of the types that it has in the atoms."""
    objects = [frozenset[int]()] * invariant.parameter_count
    for atom in invariant.atoms:
        for number, domain in zip(atom.arguments, task.predicates[atom.predicate].domains, strict=True):
            if number != COUNTED:
                objects[number] |= task.domain_sets[domain]
    return objects


def _make_binding_keys(task: Task, atom: GroupAtom, codes: Iterable[int]) -> list[int]:
    """For each fact (by code), the values of the group's parameters as the digits of one number."""
    size = max(len(task.objects), 1)
    arity = len(atom.arguments)
    place_values = [size ** (arity - 1 - place) for place in atom.bind(tuple(range(arity)))]
    if len(place_values) == 1:
        place_value = place_values[0]
        return [code // place_value % size for code in codes]
    keys = []
    for code in codes:
        key = 0
        for place_value in place_values:
            key = key * size + code // place_value % size
        keys.append(key)
    return keys


# ---- declared groups ------------------------------------------------------------------------------------------------


def ground_declared(
    task: Task, openings: Sequence[OpenPredicate], declared_invariants: Iterable[WorldInvariant]
) -> list[FactGroup]:
    """The groups of declared invariants, except invariants of kind ``holds``.

    Of basic predicates, only facts that can be true in S0 are listed, of derived ones all instances. An
    exactly-one group without facts is unsatisfiable. Linear in the facts, times the values of parameters that an
    atom does not mention. Raises :class:`LimitReached`.
    """
    counting_invariants = [invariant for invariant in declared_invariants if invariant.kind != "holds"]
    if not counting_invariants:
        return []
    derived = {axiom.predicate for stratum in task.axioms for axiom in stratum}
    possible_codes: dict[int, set[int]] = {predicate: set(codes) for predicate, codes in enumerate(task.initial_facts)}
    for literal in task.timed_literals:
        if literal.time == 0 and not literal.fluent:
            possible_codes[literal.predicate].add(task.encode(literal.arguments))
    for predicate, code in iterate_open_facts(task, openings):
        possible_codes[predicate].add(code)
    return [
        group
        for invariant in counting_invariants
        for group in _ground_declaration(task, invariant, possible_codes, derived)
    ]


def _ground_declaration(
    task: Task, invariant: WorldInvariant, possible_codes: dict[int, set[int]], derived: set[int]
) -> Iterator[FactGroup]:
    """The groups of a declared invariant; ``derived``: the derived predicates."""
    exactly_one = invariant.kind == "exactly-one"
    members = {v.slot: task.domain_sets[v.domain] for v in (*invariant.parameters, *invariant.counted)}
    parameters = [v.slot for v in invariant.parameters]
    groups: dict[tuple[int, ...], list[Fact]] = defaultdict(list)
    fact_count = 0
    for atom in invariant.atoms:
        predicate, arguments = atom.predicate, atom.arguments
        codes: Iterable[int] = sorted(possible_codes[predicate])
        if predicate in derived:
            codes = _list_instance_codes(task, arguments, members)
        for code in codes:
            binding = match_arguments(arguments, task.decode(code, len(arguments)), members)
            if binding is None:
                continue
            choices = [(binding[p],) if p in binding else sorted(members[p]) for p in parameters]
            fact_count += prod([len(choice) for choice in choices])
            if fact_count > MAX_OPEN_FACTS:
                raise LimitReached(LimitKind.OPEN_FACTS)
            for key in product(*choices):
                groups[key].append((predicate, code))
    for _, repeated_facts in sorted(groups.items()):
        facts = tuple(dict.fromkeys(repeated_facts))
        if exactly_one or len(facts) > 1:
            yield FactGroup(facts, exactly_one)
    if exactly_one and len(groups) < prod([len(members[parameter]) for parameter in parameters]):
        yield FactGroup((), True)


def _list_instance_codes(task: Task, arguments: tuple[int, ...], members: dict[int, frozenset[int]]) -> list[int]:
    """The codes of all instances of an atom; ``members``: the objects of each slot. Raises :class:`LimitReached`."""
    variables = sorted({argument for argument in arguments if argument < 0})
    domains = [sorted(members[-1 - v]) for v in variables]
    if prod([len(domain) for domain in domains]) > MAX_OPEN_FACTS:
        raise LimitReached(LimitKind.OPEN_FACTS)
    bindings = [dict(zip(variables, objects, strict=True)) for objects in product(*domains)]
    return [task.encode(tuple([binding.get(argument, argument) for argument in arguments])) for binding in bindings]


# ---- texts ----------------------------------------------------------------------------------------------------------


def describe_assumed(task: Task, assumed: AssumedInvariant) -> str:
    """The line of a report about an inferred invariant."""
    count, reason = "at most one", "no action can break it"
    if assumed.exactly_one:
        count, reason = "exactly one", "no action can change that, and it is so wherever nothing is open"
    if assumed.broken_count:
        reason += f"; given facts break it for {assumed.broken_count} other{'s' if assumed.broken_count > 1 else ''}"
    return f"{_describe_group(task, assumed.invariant, count)} ({reason}; assumed of S0)"


def _describe_group(task: Task, invariant: InferredInvariant, count: str) -> str:
    """That ``count`` (such as "at most one") of the group's instances is true, as a clause."""
    types = _find_parameter_types(task, invariant)
    if len(invariant.atoms) == 1:
        atom = invariant.atoms[0]
        name = task.predicates[atom.predicate].name
        counted_type = _format_type(task, atom, atom.find_counted_places()[0])
        if atom.arguments == (0, COUNTED):
            return f"{with_article(types[0])} is `{name}` {count} {counted_type}"
        if atom.arguments == (COUNTED, 0):
            return f"{count} {counted_type} is `{name}` {with_article(types[0])}"
        if atom.arguments == (COUNTED,):
            return f"{count} {counted_type} is `{name}`"
    names = _name_variables(types)
    atoms = [
        _format_atom(task, a.predicate, ["*" if n == COUNTED else names[n] for n in a.arguments])
        for a in invariant.atoms
    ]
    parameters = " and ".join([f"{type_text} `{name}`" for type_text, name in zip(types, names, strict=True)])
    return f"{f'for each {parameters}, ' if parameters else ''}{count} of {', '.join(atoms)} is true"


def _format_atom(task: Task, predicate: int, arguments: list[str]) -> str:
    return f"`({' '.join([task.predicates[predicate].name, *arguments])})`"


def _name_variables(types: list[str]) -> list[str]:
    """Variables named after their types: ``?item``, and ``?item-2`` for a second one."""
    names: list[str] = []
    for type_text in types:
        name = "?" + type_text.split()[0]
        previous_names = [used for used in names if used == name or used.startswith(name + "-")]
        names.append(f"{name}-{len(previous_names) + 1}" if previous_names else name)
    return names


def _find_parameter_types(task: Task, invariant: InferredInvariant) -> list[str]:
    """For each parameter, its types in the atoms, without types that are contained in another one of them."""
    texts = []
    for number in range(invariant.parameter_count):
        objects: dict[str, frozenset[int]] = {}
        for atom in invariant.atoms:
            place = atom.arguments.index(number)
            domain = task.predicates[atom.predicate].domains[place]
            objects[_format_type(task, atom, place)] = task.domain_sets[domain]
        widest_texts = [
            text for text, members in objects.items() if not any([members < wider for wider in objects.values()])
        ]
        texts.append(" or ".join(sorted(widest_texts)))
    return texts


def _format_type(task: Task, atom: GroupAtom, place: int) -> str:
    return " or ".join([task.type_names[type_number] for type_number in task.predicates[atom.predicate].types[place]])


def describe_declared(task: Task, invariant: WorldInvariant) -> str:
    """The line of a report about a declared invariant."""
    for_each_text = _format_for_each(invariant.parameters)
    if invariant.kind == "holds":
        return f"`{invariant.name}` holds{for_each_text} (declared of S0)"
    names = {variable(v.slot): v.name for v in (*invariant.parameters, *invariant.counted)}
    atoms = [
        _format_atom(task, atom.predicate, [names[a] if a < 0 else task.objects[a] for a in atom.arguments])
        for atom in invariant.atoms
    ]
    count = invariant.kind.replace("-", " ")
    return f"`{invariant.name}`: {count} of {', '.join(atoms)} is true{for_each_text} (declared of S0)"


def _format_for_each(parameters: tuple[Variable, ...]) -> str:
    return f" for each {' and '.join([f'`{v.name}`' for v in parameters])}" if parameters else ""
