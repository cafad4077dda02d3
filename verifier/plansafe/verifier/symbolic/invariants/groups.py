"""Which facts of S0 exclude each other: inferred groups where they restrict open predicates, and declared ones.

An inferred group is an assumption: no action can break it, and nothing says that S0 keeps it. It is made for a binding
of the group's parameters if an open predicate has an instance there, unless the given facts break it. At most one
instance is then true. That exactly one is, is assumed only if no action can change that, *and* it is so for every
binding that has no open instance, of which there is at least one: each other item is in one place, so this one is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import product, repeat
from math import prod
from typing import NamedTuple

from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.nodes import OpenPredicate, Task, Variable, WorldInvariant
from plansafe.verifier.symbolic.invariants.inference import COUNTED, GroupAtom, InferredInvariant, infer_invariants
from plansafe.verifier.symbolic.worlds.initial_state import (
    MAX_OPEN_FACTS,
    FactGroup,
    find_opened_codes,
    iterate_open_facts,
)

Fact = tuple[int, int]


class AssumedInvariant(NamedTuple):
    """An inferred invariant with the groups of S0 that it is assumed for, all of one kind.

    ``broken`` counts the bindings with open instances whose given facts break it.
    """

    invariant: InferredInvariant
    groups: tuple[FactGroup, ...]
    exactly_one: bool
    broken: int


class Restrictions(NamedTuple):
    """Groups that restrict S0, and a line of text for each invariant that they come from."""

    groups: tuple[FactGroup, ...]
    texts: tuple[str, ...]


def find_restrictions(
    task: Task,
    openings: Sequence[OpenPredicate],
    declared: Sequence[WorldInvariant],
    inferring: bool = True,
    deadline: float | None = None,
    lenient_types: bool = False,
) -> Restrictions:
    """All groups of S0, declared and (if ``inferring``) inferred. Raises :class:`LimitReached`.

    The work on inference ends at ``deadline`` (of ``time.monotonic``).
    """
    groups = ground_declared(task, openings, declared)
    texts = [describe_declared(task, invariant) for invariant in declared]
    if inferring and openings:
        inferred = infer_invariants(task, deadline, {opening.predicate for opening in openings}, lenient_types)
        for assumed in ground_inferred(task, openings, inferred):
            groups += assumed.groups
            texts.append(describe_assumed(task, assumed))
    return Restrictions(tuple(groups), tuple(texts))


# ---- inferred groups ------------------------------------------------------------------------------------------------


def ground_inferred(
    task: Task, openings: Sequence[OpenPredicate], inferred: Iterable[InferredInvariant]
) -> list[AssumedInvariant]:
    """The groups of S0 that inferred invariants restrict open predicates with.

    Facts that ``:init`` leaves open by name are in no group. Linear in the open and the given facts of the predicates.
    Raises :class:`LimitReached`.
    """
    named = task.unknowns.facts if task.unknowns is not None else [set[int]() for _ in task.predicates]
    opened = find_opened_codes(task, openings)
    out: list[AssumedInvariant] = []
    for invariant in inferred:
        if any([opened.get(atom.predicate) for atom in invariant.atoms]):
            out += _assumed(task, opened, named, invariant)
    return out


def _assumed(
    task: Task, opened: dict[int, list[int]], named: Sequence[set[int]], invariant: InferredInvariant
) -> Iterator[AssumedInvariant]:
    groups: dict[int, list[Fact]] = defaultdict(list)
    given: dict[int, list[Fact]] = defaultdict(list)
    by_name: set[int] = set()
    for atom in invariant.atoms:
        predicate = atom.predicate
        _gather(task, atom, opened.get(predicate, ()), groups)
        _gather(task, atom, sorted(task.initial_facts[predicate]), given)
        by_name.update(_keys(task, atom, named[predicate]))
    exactly = invariant.exact and _is_so_elsewhere(task, invariant, given, groups.keys() | by_name)
    kinds: dict[bool, list[FactGroup]] = {True: [], False: []}
    broken = 0
    for key in sorted(groups):
        known = given.get(key, [])
        exactly_here = exactly and key not in by_name
        facts = tuple(dict.fromkeys([*known, *groups[key]]))
        if len(dict.fromkeys(known)) > 1:
            broken += 1
        elif len(facts) > 1 or exactly_here:
            kinds[exactly_here].append(FactGroup(facts, exactly_here))
    for kind, found in kinds.items():
        if found:
            yield AssumedInvariant(invariant, tuple(found), kind, broken)


def _is_so_elsewhere(
    task: Task, invariant: InferredInvariant, given: dict[int, list[Fact]], left_open: set[int]
) -> bool:
    """Whether exactly one instance is true wherever none is open, and there is such a binding."""
    every = prod([len(members) for members in parameter_objects(task, invariant)]) - len(left_open)
    closed = [known for key, known in given.items() if key not in left_open]
    return every > 0 and every == len(closed) and all([len(dict.fromkeys(known)) == 1 for known in closed])


def parameter_objects(task: Task, invariant: InferredInvariant) -> list[frozenset[int]]:
    """For each parameter, the objects that it may stand for: those of some atom's type."""
    out = [frozenset[int]()] * invariant.parameters
    for atom in invariant.atoms:
        for number, domain in zip(atom.arguments, task.predicates[atom.predicate].domains, strict=True):
            if number != COUNTED:
                out[number] |= task.domain_sets[domain]
    return out


def _gather(task: Task, atom: GroupAtom, codes: Sequence[int], groups: dict[int, list[Fact]]) -> None:
    for fact, key in zip(zip(repeat(atom.predicate), codes), _keys(task, atom, codes), strict=False):
        groups[key].append(fact)


def _keys(task: Task, atom: GroupAtom, codes: Iterable[int]) -> Iterable[int]:
    """For each fact the values of the group's parameters, as one number."""
    arguments = atom.arguments
    places = {number: place for place, number in enumerate(arguments) if number != COUNTED}
    return argument_keys(task, len(arguments), [places[number] for number in range(len(places))], codes)


def argument_keys(task: Task, arity: int, places: list[int], codes: Iterable[int]) -> Iterable[int]:
    """The arguments in some places of facts with these codes, as the digits of one number."""
    size = max(len(task.objects), 1)
    weights = [size ** (arity - 1 - place) for place in places]
    if not weights:
        return [0 for _ in codes]
    if len(weights) == 1:
        weight = weights[0]
        return [code // weight % size for code in codes]
    out = []
    for code in codes:
        key = 0
        for weight in weights:
            key = key * size + code // weight % size
        out.append(key)
    return out


# ---- declared groups ------------------------------------------------------------------------------------------------


def ground_declared(
    task: Task, openings: Sequence[OpenPredicate], declared: Iterable[WorldInvariant]
) -> list[FactGroup]:
    """The groups that declared invariants ask for, those of kind ``holds`` left out.

    Of basic predicates only facts that can be true in S0 are listed, of derived ones all instances. A group without
    facts of which exactly one is true stands for what no completion satisfies. Linear in the facts, times the values of
    parameters that an atom does not mention. Raises :class:`LimitReached`.
    """
    counting = [invariant for invariant in declared if invariant.kind != "holds"]
    if not counting:
        return []
    derived = {axiom.predicate for stratum in task.axioms for axiom in stratum}
    possible: dict[int, set[int]] = {p: set(codes) for p, codes in enumerate(task.initial_facts)}
    for literal in task.timed_literals:
        if literal.time == 0 and not literal.fluent:
            possible[literal.predicate].add(task.encode(literal.arguments))
    for predicate, code in iterate_open_facts(task, openings):
        possible[predicate].add(code)
    out: list[FactGroup] = []
    for invariant in counting:
        out += _declared(task, invariant, possible, derived)
    return out


def _declared(
    task: Task, invariant: WorldInvariant, possible: dict[int, set[int]], derived: set[int]
) -> Iterator[FactGroup]:
    exactly = invariant.kind == "exactly-one"
    members = {-1 - v.slot: task.domain_sets[v.domain] for v in (*invariant.parameters, *invariant.counted)}
    parameters = [-1 - v.slot for v in invariant.parameters]
    groups: dict[tuple[int, ...], list[Fact]] = defaultdict(list)
    total = 0
    for atom in invariant.atoms:
        predicate, arguments = atom.predicate, atom.arguments
        codes: Iterable[int] = sorted(possible[predicate])
        if predicate in derived:
            codes = _instances(task, arguments, members)
        for code in codes:
            binding = _unified(arguments, task.decode(code, len(arguments)), members)
            if binding is None:
                continue
            choices = [(binding[p],) if p in binding else sorted(members[p]) for p in parameters]
            total += prod([len(choice) for choice in choices])
            if total > MAX_OPEN_FACTS:
                raise LimitReached(LimitKind.OPEN_FACTS)
            for key in product(*choices):
                groups[key].append((predicate, code))
    for _, facts in sorted(groups.items()):
        once = tuple(dict.fromkeys(facts))
        if exactly or len(once) > 1:
            yield FactGroup(once, exactly)
    if exactly and len(groups) < prod([len(members[p]) for p in parameters]):
        yield FactGroup((), True)


def _instances(task: Task, arguments: tuple[int, ...], members: dict[int, frozenset[int]]) -> list[int]:
    variables = sorted({a for a in arguments if a < 0})
    domains = [sorted(members[v]) for v in variables]
    if prod([len(domain) for domain in domains]) > MAX_OPEN_FACTS:
        raise LimitReached(LimitKind.OPEN_FACTS)
    out = []
    for objects in product(*domains):
        binding = dict(zip(variables, objects, strict=True))
        out.append(task.encode(tuple([binding.get(a, a) for a in arguments])))
    return out


def _unified(
    arguments: tuple[int, ...], objects: tuple[int, ...], members: dict[int, frozenset[int]]
) -> dict[int, int] | None:
    binding: dict[int, int] = {}
    for argument, found in zip(arguments, objects, strict=True):
        if argument >= 0:
            if argument != found:
                return None
        elif binding.setdefault(argument, found) != found or found not in members[argument]:
            return None
    return binding


# ---- in words -------------------------------------------------------------------------------------------------------


def describe_assumed(task: Task, assumed: AssumedInvariant) -> str:
    """One line of a report on an inferred invariant."""
    count = "exactly one" if assumed.exactly_one else "at most one"
    why = "no action can break it"
    if assumed.exactly_one:
        why = "no action can change that, and it is so wherever nothing is open"
    if assumed.broken:
        other = f"{assumed.broken} other{'s' if assumed.broken > 1 else ''}"
        why += f"; given facts break it for {other}"
    return f"{_statement(task, assumed.invariant, count)} ({why}; assumed of S0)"


def _statement(task: Task, invariant: InferredInvariant, count: str) -> str:
    types = _parameter_types(task, invariant)
    if len(invariant.atoms) == 1:
        atom = invariant.atoms[0]
        name = task.predicates[atom.predicate].name
        counted = [place for place, number in enumerate(atom.arguments) if number == COUNTED]
        kind = _type(task, atom, counted[0])
        if atom.arguments == (0, COUNTED):
            return f"{_a(types[0])} is `{name}` {count} {kind}"
        if atom.arguments == (COUNTED, 0):
            return f"{count} {kind} is `{name}` {_a(types[0])}"
        if atom.arguments == (COUNTED,):
            return f"{count} {kind} is `{name}`"
    names = _names(types)
    shown = ", ".join([_atom_text(task, atom, names) for atom in invariant.atoms])
    each = " and ".join([f"{kind} `{name}`" for kind, name in zip(types, names, strict=True)])
    return f"{f'for each {each}, ' if each else ''}{count} of {shown} is true"


def _atom_text(task: Task, atom: GroupAtom, names: list[str]) -> str:
    words = [task.predicates[atom.predicate].name, *["*" if n == COUNTED else names[n] for n in atom.arguments]]
    return f"`({' '.join(words)})`"


def _names(types: list[str]) -> list[str]:
    """Variables after their types: ``?item``, and ``?item-2`` where there are two."""
    names: list[str] = []
    for kind in types:
        name = "?" + kind.split()[0]
        same = [known for known in names if known == name or known.startswith(name + "-")]
        names.append(f"{name}-{len(same) + 1}" if same else name)
    return names


def _parameter_types(task: Task, invariant: InferredInvariant) -> list[str]:
    """For each parameter the types it has in some atom, those left out whose objects another one has, too."""
    out = []
    for number in range(invariant.parameters):
        found: dict[str, frozenset[int]] = {}
        for atom in invariant.atoms:
            place = atom.arguments.index(number)
            domain = task.predicates[atom.predicate].domains[place]
            found[_type(task, atom, place)] = task.domain_sets[domain]
        kept = [text for text, own in found.items() if not any([own < other for other in found.values()])]
        out.append(" or ".join(sorted(kept)))
    return out


def _type(task: Task, atom: GroupAtom, place: int) -> str:
    return " or ".join([task.type_names[t] for t in task.predicates[atom.predicate].types[place]])


def _a(noun: str) -> str:
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"


def describe_declared(task: Task, invariant: WorldInvariant) -> str:
    """One line of a report on a declared invariant."""
    variables = (*invariant.parameters, *invariant.counted)
    names = {-1 - v.slot: v.name for v in variables}
    if invariant.kind == "holds":
        return f"`{invariant.name}` holds{_for_each(invariant.parameters)} (declared of S0)"
    shown = []
    for atom in invariant.atoms:
        arguments = [names[a] if a < 0 else task.objects[a] for a in atom.arguments]
        shown.append(f"`({' '.join([task.predicates[atom.predicate].name, *arguments])})`")
    count = invariant.kind.replace("-", " ")
    return (
        f"`{invariant.name}`: {count} of {', '.join(shown)} is true{_for_each(invariant.parameters)} (declared of S0)"
    )


def _for_each(parameters: tuple[Variable, ...]) -> str:
    return f" for each {' and '.join([f'`{v.name}`' for v in parameters])}" if parameters else ""
