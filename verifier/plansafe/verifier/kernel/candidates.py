"""Which objects are worth trying for variables: those in the facts that a formula needs.

For all others the formula has the value that decides nothing (of ``exists``: false; of ``forall``: true), so that
``candidates`` may stand wherever ``bindings`` does, and does so but where definitions are executed literally.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .formulas import Binding, Domains, Fact, Need, bindings, unify
from .trace import View


def candidates(needs: Iterable[Need], domains: Domains, b: Binding, view: View) -> Iterator[dict[str, Any]]:
    """The bindings of the variables, each once, under which what is needed is there."""
    names = [name for name, _ in domains]
    outside = {name: value for name, value in b.items() if name not in names}
    alternatives = tuple(needs)
    if view.literal or not all(need.atoms for need in alternatives):
        yield from bindings(domains, outside)
        return
    seen = set[Fact]()
    for need in alternatives:
        for found in joined(need.atoms, outside, view):
            for binding in completed(need, domains, found):
                objects = tuple([binding[name] for name in names])
                if objects not in seen:
                    seen.add(objects)
                    yield {**outside, **binding}


def joined(atoms: Sequence[Fact], b: Binding, view: View) -> Iterator[Binding]:
    """The bindings under which all atoms are among the facts that are known; the rarest atom first."""
    if not atoms:
        yield b
        return
    found = [view.known.matching(atom, b) for atom in atoms]
    best = min(range(len(atoms)), key=lambda i: len(found[i]))
    rest = [atom for i, atom in enumerate(atoms) if i != best]
    view.work.spend(1 + len(found[best]))
    for fact in found[best]:
        bound = unify(atoms[best], fact, b)
        if bound is not None:
            yield from joined(rest, bound, view)


def completed(need: Need, domains: Domains, found: Binding) -> Iterator[dict[str, Any]]:
    """The variables as they were found, where they are of their types, and every object for those that were not."""
    bound = [(name, objects) for name, objects in (*need.within, *domains) if name in found]
    if all(found[name] in objects for name, objects in bound):
        free = tuple([(name, {found[name]: None} if name in found else objects) for name, objects in domains])
        yield from bindings(free, {})
