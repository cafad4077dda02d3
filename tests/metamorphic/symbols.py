"""The declared names of a task: types, objects, predicates, functions and actions."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

from metamorphic_task import List, Task, Tree, field, section, words_of


def typed_pairs(words: List) -> list[tuple[str, Tree]]:
    """The (name, type) pairs of a typed list; the type of an untyped name is ``object``."""
    out: list[tuple[str, Tree]] = []
    names: list[str] = []
    remaining = list(words)
    while remaining:
        word = remaining.pop(0)
        if word == "-":
            kind = remaining.pop(0)
            out += [(name, kind) for name in names]
            names = []
        else:
            names.append(word)
    return [*out, *[(name, "object") for name in names]]


def typed_list(pairs: list[tuple[str, Tree]]) -> List:
    """The typed list of (name, type) pairs."""
    return tuple(word for name, kind in pairs for word in (name, "-", kind))


def alternatives(kind: Tree) -> tuple[str, ...]:
    """The types in ``t`` or ``(either t u)``."""
    return (kind,) if isinstance(kind, str) else tuple(str(name) for name in kind[1:])


class Symbols(NamedTuple):
    """Declared names. ``parents`` are the direct supertypes of each type, ``objects`` the types of each object."""

    parents: dict[str, tuple[str, ...]]
    objects: dict[str, tuple[str, ...]]
    constants: frozenset[str]
    predicates: dict[str, list[Tree]]
    functions: dict[str, list[Tree]]
    actions: dict[str, list[Tree]]
    durative: frozenset[str]
    derived: frozenset[str]

    def supertypes(self, kind: str) -> set[str]:
        """A type and all types above it."""
        reached, queue = {"object"}, [kind]
        while queue:
            name = queue.pop()
            if name not in reached or name == kind:
                reached.add(name)
                queue += [parent for parent in self.parents.get(name, ()) if parent not in reached]
        return reached

    def objects_of(self, kind: Tree) -> list[str]:
        """The objects that a variable of this type ranges over."""
        accepted = set(alternatives(kind))
        return [
            name
            for name, types in self.objects.items()
            if any(self.supertypes(type_name) & accepted for type_name in types)
        ]

    def is_related(self, kind: Tree, accepted_kind: Tree) -> bool:
        """True if a variable of type ``kind`` fits a parameter of type ``accepted_kind``."""
        return all(
            any(b in self.supertypes(a) or a in self.supertypes(b) for b in alternatives(accepted_kind))
            for a in alternatives(kind)
        )

    def fits(self, term: str, kind: Tree, variables: dict[str, Tree]) -> bool:
        """True if a variable or object is well typed for a parameter of this type."""
        if term == "_":
            return True
        if term in variables:
            return self.is_related(variables[term], kind)
        return term in self.objects and term in self.objects_of(kind)

    def is_well_typed(self, tree: Tree, variables: dict[str, Tree]) -> bool:
        """True if all atoms, fluents and steps in a formula or effect are well typed."""
        if isinstance(tree, str) or not tree:
            return True
        if tree[0] in ("forall", "exists") and len(tree) == 3 and isinstance(tree[1], tuple):
            return self.is_well_typed(tree[2], {**variables, **dict(typed_pairs(tree[1]))})
        terms = tree[1:]
        if all(isinstance(term, str) for term in terms):
            for declared in (self.predicates, self.functions, self.actions):
                kinds = declared.get(str(tree[0]))
                if kinds is not None and len(kinds) == len(terms):
                    return all(self.fits(str(term), kind, variables) for term, kind in zip(terms, kinds, strict=True))
        return all(self.is_well_typed(part, variables) for part in tree)

    def bindings(self, pairs: list[tuple[str, Tree]]) -> list[dict[str, str]]:
        """All bindings of typed variables to objects."""
        ranges = [self.objects_of(kind) for _, kind in pairs]
        return [dict(zip([name for name, _ in pairs], chosen, strict=True)) for chosen in product(*ranges)]


def symbols_of(task: Task) -> Symbols:
    """The declared names of a task."""
    parents: dict[str, tuple[str, ...]] = {}
    for name, kind in typed_pairs(section(task.domain, ":types")):
        parents[name] = (*parents.get(name, ()), *alternatives(kind))
        for above in alternatives(kind):
            parents.setdefault(above, ())
    constants = typed_pairs(section(task.domain, ":constants"))
    objects = {name: alternatives(kind) for name, kind in [*constants, *typed_pairs(section(task.problem, ":objects"))]}
    structures = [part for part in task.domain[2:] if part[0] in (":action", ":durative-action")]
    functions = [part for part in section(task.domain, ":functions") if isinstance(part, tuple)]
    return Symbols(
        parents,
        objects,
        frozenset(name for name, _ in constants),
        {head[0]: [kind for _, kind in typed_pairs(head[1:])] for head in section(task.domain, ":predicates")},
        {head[0]: [kind for _, kind in typed_pairs(head[1:])] for head in functions},
        {part[1]: [kind for _, kind in typed_pairs(field(part, ":parameters"))] for part in structures},
        frozenset(part[1] for part in structures if part[0] == ":durative-action"),
        frozenset(part[1][0] for part in task.domain[2:] if part[0] == ":derived"),
    )


def fresh_name(task: Task, stem: str) -> str:
    """A name that begins with ``stem`` and occurs nowhere in the task."""
    used = {word for tree in (task.domain, task.problem, task.specs, task.plans) for word in words_of(tree)}
    number = 1
    while f"{stem}{number}" in used:
        number += 1
    return f"{stem}{number}"
