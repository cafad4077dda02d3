"""Which objects are worth trying for variables: those in the facts that a formula needs.

For all others the formula has the value that decides nothing (of ``exists``: false; of ``forall``: true), so that
``candidates`` may stand wherever ``bindings`` does, and does so but where definitions are executed literally.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .formulas import Binding, Domains, Fact, Need, Objects, bindings, unify
from .trace import View


def candidates(needs: Iterable[Need], domains: Domains, b: Binding, view: View) -> Iterator[dict[str, Any]]:
    """The bindings of the variables, each once, under which what is needed is there."""
    names = [name for name, _ in domains]
    outside = {name: value for name, value in b.items() if name not in names}
    alternatives = tuple(needs)
    if view.literal or not all(need.atoms for need in alternatives):
        yield from bindings(domains, outside)
        return
    sizes = [len(objects) for _, objects in domains]
    if 0 in sizes:
        return
    only = {name: next(iter(objects)) for (name, objects), size in zip(domains, sizes, strict=True) if size == 1}
    seen = set[Fact]()
    for need in alternatives:
        for binding in supported(need, need.atoms, domains, {**outside, **only}, view):
            objects = tuple([binding[name] for name in names])
            if objects not in seen:
                seen.add(objects)
                yield {**outside, **dict(zip(names, objects, strict=True))}


def supported(need: Need, atoms: Sequence[Fact], domains: Domains, b: Binding, view: View) -> Iterator[Binding]:
    """The variables as the atoms are found among the facts, and every object for those that no atom has."""
    types = dict((*need.within, *domains))
    if any(b[name] not in objects for name, objects in types.items() if name in b):
        return
    for found in _joined(atoms, b, types, view):
        free = tuple([(name, objects) for name, objects in domains if name not in found])
        yield from bindings(free, found) if free else (found,)


def _joined(atoms: Sequence[Fact], b: Binding, types: Mapping[str, Objects], view: View) -> Iterator[Binding]:
    """The bindings under which all atoms are among the facts that are known; the rarest atom first."""
    if not atoms:
        yield b
        return
    found = [view.known.matching(atom, b) for atom in atoms]
    best = min(range(len(atoms)), key=lambda i: len(found[i])) if len(atoms) > 1 else 0
    rest = [atom for i, atom in enumerate(atoms) if i != best]
    new = [(term, types[term]) for term in atoms[best] if term in types and term not in b]
    view.work.spend(1 + len(found[best]))
    for fact in found[best]:
        bound = unify(atoms[best], fact, b)
        if bound is not None and all([bound[name] in objects for name, objects in new]):
            if rest:
                yield from _joined(rest, bound, types, view)
            else:
                yield bound
