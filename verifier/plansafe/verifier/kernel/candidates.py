"""Candidate objects for variables: those in the facts that a formula needs.

For all other objects the formula has the value that decides nothing (``exists``: false; ``forall``: true). So
``iterate_candidate_bindings`` can replace ``iterate_bindings``, except where definitions are executed literally.
"""

from collections.abc import Iterator, Mapping, Sequence

from .formulas import Binding, Domains, Fact, Objects, Support, Supports, iterate_bindings, unify
from .trace import View


def iterate_candidate_bindings(supports: Supports, domains: Domains, binding: Binding, view: View) -> Iterator[Binding]:
    """Yield the bindings of the variables, each once, for which one of the supports is among the facts."""
    names = [name for name, _ in domains]
    outer_binding = {name: value for name, value in binding.items() if name not in names}
    if view.literal or not all(support.atoms for support in supports):
        yield from iterate_bindings(domains, outer_binding)
        return
    if not all([objects for _, objects in domains]):
        return
    single_objects = {name: next(iter(objects)) for name, objects in domains if len(objects) == 1}
    known_binding = {**outer_binding, **single_objects}
    yielded = set[Fact]()
    for support in supports:
        for candidate in iterate_supported_bindings(support, support.atoms, domains, known_binding, view):
            objects = tuple([candidate[name] for name in names])
            if objects not in yielded:
                yielded.add(objects)
                yield {**outer_binding, **dict(zip(names, objects, strict=True))}


def iterate_supported_bindings(
    support: Support, atoms: Sequence[Fact], domains: Domains, binding: Binding, view: View
) -> Iterator[Binding]:
    """Yield the bindings for which the atoms are facts; variables in no atom take every object."""
    types = dict((*support.quantified, *domains))
    if any(binding[name] not in objects for name, objects in types.items() if name in binding):
        return
    for extended in _join_atoms(atoms, binding, types, view):
        free_domains = tuple([(name, objects) for name, objects in domains if name not in extended])
        yield from iterate_bindings(free_domains, extended) if free_domains else (extended,)


def _join_atoms(atoms: Sequence[Fact], binding: Binding, types: Mapping[str, Objects], view: View) -> Iterator[Binding]:
    """Yield the bindings for which all atoms are possible facts. Joins the atom with the fewest facts first."""
    if not atoms:
        yield binding
        return
    facts = [view.possible_facts.find_matching(atom, binding) for atom in atoms]
    rarest_position = min(range(len(atoms)), key=lambda position: len(facts[position])) if len(atoms) > 1 else 0
    remaining_atoms = [atom for position, atom in enumerate(atoms) if position != rarest_position]
    new_variables = [(term, types[term]) for term in atoms[rarest_position] if term in types and term not in binding]
    view.work.spend(1 + len(facts[rarest_position]))
    for fact in facts[rarest_position]:
        extended = unify(atoms[rarest_position], fact, binding)
        if extended is not None and all([extended[name] in objects for name, objects in new_variables]):
            if remaining_atoms:
                yield from _join_atoms(remaining_atoms, extended, types, view)
            else:
                yield extended
