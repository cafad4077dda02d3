"""Types: the hierarchy, typed lists, and which objects a set of type alternatives has."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate.context import Context, Place, did_you_mean, is_name


class TypedName(NamedTuple):
    """One entry of a typed list: the name, where it stands, and its type alternatives (``None``: none was written)."""

    name: str
    at: Place
    types: tuple[str, ...] | None
    types_at: Place | None


def parse_typed_list(
    context: Context, node: list[Node], start: int, valid: Callable[[object], bool], what: str
) -> list[TypedName]:
    """Read ``a b - t c - (either t u) d`` from child ``start`` on.

    Entries that are not ``valid`` are reported and left out.
    """
    out: list[TypedName] = []
    pending: list[tuple[str, Place]] = []
    position = start
    wrong = False
    while position < len(node):
        item = node[position]
        if valid(item):
            assert isinstance(item, str)
            pending.append((item, Place(node, position)))
            position += 1
            continue
        glued = (pending or wrong) and isinstance(item, str) and item[0] == "-" and is_name(item[1:] or None)
        if glued:
            assert isinstance(item, str)
            here = Place(node, position)
            report_missing_space(context, item, here)
            out += [TypedName(name, at, (item[1:],), here) for name, at in pending]
            pending = []
            wrong = False
            position += 1
            continue
        if item == "-":
            if not pending and not wrong:
                help = f"remove it, or write {what} before it"
                if out:
                    help += "; for an object of two types, write `(either a b)`"
                message = f"a type without {what} before it"
                context.error(SC.STRUCTURE, message, Place(node, position), "no name has this type", help=help)
            if position + 1 >= len(node):
                context.error(
                    SC.STRUCTURE, "a type is missing after `-`", Place(node, position), "expected a type after this"
                )
                position += 1
                types: tuple[str, ...] | None = None
                where = None
            else:
                where = Place(node, position + 1)
                types = _alternatives(context, node[position + 1], where)
                position += 2
            out += [TypedName(name, at, types, where) for name, at in pending]
            pending = []
            wrong = False
            continue
        wrong = True
        if isinstance(item, list):
            context.error(SC.STRUCTURE, f"expected {what}, found a list", Place(node, position), f"not {what}")
        else:
            context.error(SC.STRUCTURE, f"`{item}` is not {what}", Place(node, position), f"expected {what}")
        position += 1
    out += [TypedName(name, at, None, None) for name, at in pending]
    return out


def report_missing_space(context: Context, item: str, at: Place) -> None:
    """Say that ``-t`` is read as ``- t``."""
    help = f"write `- {item[1:]}`"
    context.dialect("hyphens", f"no space between `-` and `{item[1:]}`", at, "read as a type", help=help)


def _alternatives(context: Context, node: Node, at: Place) -> tuple[str, ...]:
    if isinstance(node, str):
        if is_name(node):
            return (node,)
        context.error(SC.STRUCTURE, f"`{node}` is not a type", at, "expected a type")
        return ()
    if len(node) > 1 and node[0] == "either":
        names = [child for child in node[1:] if is_name(child)]
        for child_index, child in enumerate(node[1:], 1):
            if not is_name(child):
                context.error(
                    SC.STRUCTURE, "`either` takes names of types", Place(node, child_index), "expected a type"
                )
        return tuple(str(n) for n in names)
    context.error(SC.STRUCTURE, "expected a type or `(either type ..)`", at, "expected a type")
    return ()


class TypeTable:
    """The hierarchy of types. ``object`` is number 0; ``ancestors[t]`` contains ``t``."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.names: list[str] = ["object"]
        self.index: dict[str, int] = {"object": 0}
        self.parents: list[dict[int, Place | None]] = [{}]
        self.declared_at: list[Place | None] = [None]
        self.ancestors: list[frozenset[int]] = [frozenset((0,))]
        self.domains: list[tuple[int, ...]] = []
        self.domain_sets: list[frozenset[int]] = []
        self.domain_types: list[tuple[int, ...]] = []
        self._domain_index: dict[tuple[int, ...], int] = {}
        self._object_types: list[tuple[int, ...]] = []
        self.added: set[int] = set()

    def declare(self, entries: list[TypedName]) -> None:
        """Add the types of a ``:types`` section, then check the hierarchy."""
        for entry in entries:
            if entry.name not in self.index:
                self._new(entry.name, entry.at)
            elif self.declared_at[self.index[entry.name]] is None:
                self.declared_at[self.index[entry.name]] = entry.at
        for entry in entries:
            own = self.index[entry.name]
            for parent in entry.types or ():
                if parent not in self.index:
                    assert entry.types_at is not None
                    self._implied(parent, entry.types_at)
                if not (own == 0 and self.index[parent] == 0):
                    self.parents[own].setdefault(self.index[parent], entry.types_at)
        self._close()

    def _new(self, name: str, at: Place | None) -> int:
        self.index[name] = len(self.names)
        self.names.append(name)
        self.parents.append({})
        self.declared_at.append(at)
        self.ancestors.append(frozenset((0, self.index[name])))
        return self.index[name]

    def add(self, name: str) -> int:
        """Add a type that no text declares: whatever is of this type may also be of any other."""
        number = self._new(name, None)
        self.added.add(number)
        return number

    def _implied(self, name: str, at: Place) -> None:
        """Declare a type that only stands behind ``-``."""
        help = did_you_mean(name, self.index) or "declare it in `:types`"
        message = f"type `{name}` is declared only as a supertype"
        self.context.dialect("supertype", message, at, "read as a subtype of `object`", help=help, name=name)
        self._new(name, at)

    def unknown(self, name: str, at: Place) -> None:
        """Report a type that is not declared."""
        help = did_you_mean(name, self.index) or "declare it in `:types`"
        self.context.error(SC.UNKNOWN_TYPE, f"unknown type `{name}`", at, "not declared", help=help)

    def _close(self) -> None:
        """Compute all ancestors; report cycles."""
        state = [0] * len(self.names)
        for root in range(len(self.names)):
            if state[root]:
                continue
            path: list[tuple[int, list[int]]] = [(root, list(self.parents[root]))]
            state[root] = 1
            while path:
                own, rest = path[-1]
                if rest:
                    parent = rest.pop()
                    if state[parent] == 1:
                        at = self.parents[own][parent] or self.declared_at[own]
                        cycle = [entry[0] for entry in path]
                        names = " -> ".join(self.names[t] for t in [*cycle[cycle.index(parent) :], parent])
                        if at is not None:
                            self.context.error(SC.CYCLE, "types form a cycle", at, names)
                    elif state[parent] == 0:
                        state[parent] = 1
                        path.append((parent, list(self.parents[parent])))
                    continue
                path.pop()
                state[own] = 2
                found = {own, 0}
                for parent in self.parents[own]:
                    found |= self.ancestors[parent]
                self.ancestors[own] = frozenset(found)

    def resolve(self, names: tuple[str, ...] | None, at: Place | None) -> tuple[int, ...]:
        """Type numbers of alternatives; unknown names are reported (or, leniently, made)."""
        if names is None:
            return (0,)
        out = []
        for name in names:
            if name in self.index:
                out.append(self.index[name])
            elif self.context.lenient_types:
                out.append(self._new(name, at))
            elif at is not None:
                self.unknown(name, at)
        return tuple(sorted(set(out))) or (0,)

    def text(self, alternatives: tuple[int, ...]) -> str:
        """Alternatives as PDDL."""
        names = [self.names[t] for t in alternatives]
        return names[0] if len(names) == 1 else f"(either {' '.join(names)})"

    def related(self, first: tuple[int, ...], second: tuple[int, ...]) -> bool:
        """Whether all types of two sets of alternatives have a common supertype below ``object``."""
        return all((self.ancestors[a] & self.ancestors[b]) - {0} for a in first for b in second)

    def object_fits(self, types: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
        """Whether an object with ``types`` may stand where ``wanted`` is asked."""
        if 0 in wanted:
            return True
        return any(w in self.ancestors[t] for t in types for w in wanted)

    def variable_fits(self, types: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
        """Whether a variable with alternatives ``types`` may: each must be related to one that is wanted."""
        if 0 in wanted or 0 in types:
            return True
        ancestors, added = self.ancestors, self.added
        return all(t in added or any(w in ancestors[t] or t in ancestors[w] for w in wanted) for t in types)

    def variable_meets(self, types: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
        """Whether something may be of one of ``types`` and one that is ``wanted``: a type below both, or an object."""
        if 0 in wanted or 0 in types or not self.added.isdisjoint(types):
            return True
        if any([not (above.isdisjoint(types) or above.isdisjoint(wanted)) for above in self.ancestors]):
            return True
        return any([self.object_fits(own, types) and self.object_fits(own, wanted) for own in set(self._object_types)])

    def set_objects(self, object_types: list[tuple[int, ...]]) -> None:
        """Fix the objects; from now on :meth:`domain` answers."""
        self._object_types = object_types

    def domain(self, alternatives: tuple[int, ...]) -> int:
        """The number of the domain (tuple of objects) of a set of alternatives."""
        found = self._domain_index.get(alternatives)
        if found is not None:
            return found
        if 0 in alternatives:
            members = tuple(range(len(self._object_types)))
        else:
            fits: dict[tuple[int, ...], bool] = {}
            for types in set(self._object_types):
                fits[types] = any([w in self.ancestors[t] for t in types for w in alternatives])
            members = tuple([o for o, types in enumerate(self._object_types) if fits[types]])
        number = self._domain_index[alternatives] = len(self.domains)
        self._add(members, alternatives)
        return number

    def _add(self, members: tuple[int, ...], alternatives: tuple[int, ...]) -> None:
        self.domains.append(members)
        self.domain_sets.append(frozenset(members))
        self.domain_types.append(alternatives)

    def alternatives(self, domain: int) -> tuple[int, ...] | None:
        """The type alternatives of a domain; ``None`` if it is no more than a set of objects."""
        return self.domain_types[domain] or None

    def subset(self, objects: tuple[int, ...]) -> int:
        """The number of a domain with these objects, in order, whether types have this name or not."""
        try:
            return self.domains.index(objects)
        except ValueError:
            self._add(objects, ())
            return len(self.domains) - 1
