"""Types: typed lists, the hierarchy, and the objects of each set of type alternatives."""

from __future__ import annotations

from collections.abc import Callable

from plansafe.grammar.codes import SC
from plansafe.grammar.named_tuple import NamedTuple, make_constructor
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate.context import Context, Place, did_you_mean, is_name


class TypedName(NamedTuple):
    """An entry of a typed list: a name, its place, and its type alternatives (``None`` if no type is written)."""

    name: str
    at: Place
    types: tuple[str, ...] | None
    types_at: Place | None


_make_typed_name, _make_place = make_constructor(TypedName), make_constructor(Place)


def parse_typed_list(
    context: Context, node: list[Node], start: int, is_valid: Callable[[object], bool], kind: str
) -> list[TypedName]:
    """Read ``a b - t c - (either t u) d`` from child ``start`` on. Entries that are not valid are reported and dropped.

    ``kind`` names an entry, as in "a variable".
    """
    entries: list[TypedName] = []
    untyped: list[int] = []
    """The positions of the names in the group that the next type closes."""
    position = start
    has_invalid_entry = False
    """Whether an entry of the group that the next type closes was invalid."""
    while position < len(node):
        item = node[position]
        position += 1
        if is_valid(item):
            untyped.append(position - 1)
            continue
        at = Place(node, position - 1)
        types: tuple[str, ...] | None = None
        types_at: Place | None = None
        if (untyped or has_invalid_entry) and isinstance(item, str) and item[0] == "-" and is_name(item[1:] or None):
            report_missing_space(context, item, at)
            types, types_at = (item[1:],), at
        elif item == "-":
            if not untyped and not has_invalid_entry:
                help = f"remove it, or write {kind} before it"
                if entries:
                    help += "; for an object of two types, write `(either a b)`"
                context.report_malformed(f"a type without {kind} before it", at, "no name has this type", help=help)
            if position < len(node):
                types_at = Place(node, position)
                types = _read_alternatives(context, types_at)
                position += 1
            else:
                context.report_malformed("a type is missing after `-`", at, "expected a type after this")
        else:
            has_invalid_entry = True
            if isinstance(item, list):
                context.report_malformed(f"expected {kind}, found a list", at, f"not {kind}")
            else:
                context.report_malformed(f"`{item}` is not {kind}", at, f"expected {kind}")
            continue
        entries += _list_entries(node, untyped, types, types_at)
        untyped = []
        has_invalid_entry = False
    return entries + _list_entries(node, untyped, None, None)


def _list_entries(
    node: list[Node], positions: list[int], types: tuple[str, ...] | None, types_at: Place | None
) -> list[TypedName]:
    """Return the names at positions of a typed list as entries with the same types."""
    return [_make_typed_name((str(node[n]), _make_place((node, n)), types, types_at)) for n in positions]


def report_missing_space(context: Context, item: str, at: Place) -> None:
    """Report that ``-t`` is read as ``- t``."""
    help = f"write `- {item[1:]}`"
    context.report_dialect("hyphens", f"no space between `-` and `{item[1:]}`", at, "read as a type", help=help)


def _read_alternatives(context: Context, at: Place) -> tuple[str, ...]:
    """Return the names in ``t`` or ``(either t u)``; none after a diagnostic."""
    node = at.subtree
    if is_name(node):
        return (str(node),)
    if isinstance(node, str):
        context.report_malformed(f"`{node}` is not a type", at, "expected a type")
        return ()
    cached = context.alternatives.get(id(node))
    if cached is not None:
        return cached[1]
    if len(node) < 2 or node[0] != "either":
        context.report_malformed("expected a type or `(either type ..)`", at, "expected a type")
        return ()
    names = tuple([str(name) for name in node[1:] if is_name(name)])
    if len(names) == len(node) - 1:
        context.alternatives[id(node)] = node, names
    else:
        for child in range(1, len(node)):
            if not is_name(node[child]):
                context.report_malformed("`either` takes names of types", Place(node, child), "expected a type")
    return names


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
        self.undeclared_types: set[int] = set()

    def declare(self, entries: list[TypedName]) -> None:
        """Add the types of a ``:types`` section, then check the hierarchy."""
        for entry in entries:
            if entry.name not in self.index:
                self._add_type(entry.name, entry.at)
            elif self.declared_at[self.index[entry.name]] is None:
                self.declared_at[self.index[entry.name]] = entry.at
        for entry in entries:
            number = self.index[entry.name]
            for parent in entry.types or ():
                if parent not in self.index:
                    assert entry.types_at is not None
                    self._declare_supertype(parent, entry.types_at)
                if not (number == 0 and self.index[parent] == 0):
                    self.parents[number].setdefault(self.index[parent], entry.types_at)
        self._compute_ancestors()

    def _add_type(self, name: str, at: Place | None) -> int:
        self.index[name] = len(self.names)
        self.names.append(name)
        self.parents.append({})
        self.declared_at.append(at)
        self.ancestors.append(frozenset((0, self.index[name])))
        return self.index[name]

    def add_undeclared_type(self, name: str) -> int:
        """Add a type that no text declares: its objects may also be of any other type."""
        number = self._add_type(name, None)
        self.undeclared_types.add(number)
        return number

    def _declare_supertype(self, name: str, at: Place) -> None:
        """Declare a type that occurs only after ``-``."""
        help = did_you_mean(name, self.index) or "declare it in `:types`"
        message = f"type `{name}` is declared only as a supertype"
        self.context.report_dialect("supertype", message, at, "read as a subtype of `object`", help=help, name=name)
        self._add_type(name, at)

    def report_unknown_type(self, name: str, at: Place) -> None:
        """Report a type that is not declared."""
        help = did_you_mean(name, self.index) or "declare it in `:types` of the domain"
        self.context.error(SC.UNKNOWN_TYPE, f"unknown type `{name}`", at, "not declared", help=help)

    def _compute_ancestors(self) -> None:
        """Compute all ancestors by depth-first search; report cycles."""
        path_types, done = set[int](), set[int]()
        for root in range(len(self.names)):
            if root in done:
                continue
            path: list[tuple[int, list[int]]] = [(root, list(self.parents[root]))]
            path_types.add(root)
            while path:
                number, unvisited_parents = path[-1]
                if unvisited_parents:
                    parent = unvisited_parents.pop()
                    if parent in path_types:
                        self._report_cycle([*[entry[0] for entry in path], parent])
                    elif parent not in done:
                        path_types.add(parent)
                        path.append((parent, list(self.parents[parent])))
                    continue
                path.pop()
                path_types.remove(number)
                done.add(number)
                self.ancestors[number] = frozenset((number, 0)).union(
                    *[self.ancestors[parent_type] for parent_type in self.parents[number]]
                )

    def _report_cycle(self, path: list[int]) -> None:
        """Report a cycle that the last two types of a path close."""
        *_, child, parent = path
        at = self.parents[child][parent] or self.declared_at[child]
        if at is not None:
            names = " -> ".join([self.names[type_number] for type_number in path[path.index(parent) :]])
            self.context.error(SC.CYCLE, "types form a cycle", at, names)

    def resolve(self, names: tuple[str, ...] | None, at: Place | None) -> tuple[int, ...]:
        """Return the type numbers of alternatives; unknown names are reported or, if types are lenient, added."""
        if names is None:
            return (0,)
        numbers = set()
        for name in names:
            if name in self.index:
                numbers.add(self.index[name])
            elif self.context.lenient_types:
                numbers.add(self._add_type(name, at))
            elif at is not None:
                self.report_unknown_type(name, at)
        return tuple(sorted(numbers)) or (0,)

    def format_types(self, alternatives: tuple[int, ...]) -> str:
        """Return type alternatives as PDDL."""
        names = [self.names[type_number] for type_number in alternatives]
        return names[0] if len(names) == 1 else f"(either {' '.join(names)})"

    def are_related(self, first: tuple[int, ...], second: tuple[int, ...]) -> bool:
        """Whether all types of two sets of alternatives have a common supertype below ``object``."""
        return all((self.ancestors[a] & self.ancestors[b]) - {0} for a in first for b in second)

    def object_fits(self, types: tuple[int, ...], target_types: tuple[int, ...]) -> bool:
        """Whether an object with ``types`` is of one of the ``target_types``."""
        if 0 in target_types:
            return True
        return any(wider_type in self.ancestors[type_number] for type_number in types for wider_type in target_types)

    def variable_fits(self, types: tuple[int, ...], target_types: tuple[int, ...]) -> bool:
        """Whether each type of a variable is a subtype or supertype of a type in ``target_types``."""
        if 0 in target_types or 0 in types:
            return True
        ancestors = self.ancestors
        return all(
            t in self.undeclared_types or any(w in ancestors[t] or t in ancestors[w] for w in target_types)
            for t in types
        )

    def variable_meets(self, types: tuple[int, ...], target_types: tuple[int, ...]) -> bool:
        """Whether one of ``types`` and one of ``target_types`` have a common subtype, or an object of both."""
        if 0 in target_types or 0 in types or not self.undeclared_types.isdisjoint(types):
            return True
        if any([not (above.isdisjoint(types) or above.isdisjoint(target_types)) for above in self.ancestors]):
            return True
        return any(
            [
                self.object_fits(types_of_object, types) and self.object_fits(types_of_object, target_types)
                for types_of_object in set(self._object_types)
            ]
        )

    def set_objects(self, object_types: list[tuple[int, ...]]) -> None:
        """Fix the objects; :meth:`get_domain` may be called from now on."""
        self._object_types = object_types

    def get_domain(self, alternatives: tuple[int, ...]) -> int:
        """Return the number of the domain (tuple of objects) of a set of type alternatives."""
        number = self._domain_index.get(alternatives)
        if number is not None:
            return number
        if 0 in alternatives:
            members = tuple(range(len(self._object_types)))
        else:
            union = frozenset(alternatives)
            fits: dict[tuple[int, ...], bool] = {}
            for types in set(self._object_types):
                fits[types] = not all([union.isdisjoint(self.ancestors[type_number]) for type_number in types])
            members = tuple([number for number, types in enumerate(self._object_types) if fits[types]])
        number = self._domain_index[alternatives] = len(self.domains)
        self._add_domain(members, alternatives)
        return number

    def _add_domain(self, members: tuple[int, ...], alternatives: tuple[int, ...]) -> None:
        self.domains.append(members)
        self.domain_sets.append(frozenset(members))
        self.domain_types.append(alternatives)

    def get_alternatives(self, domain: int) -> tuple[int, ...] | None:
        """Return the type alternatives of a domain; ``None`` for a set of objects without types."""
        return self.domain_types[domain] or None

    def get_subset_domain(self, objects: tuple[int, ...]) -> int:
        """Return the number of a domain with these objects, in order; a new domain without types if there is none."""
        try:
            return self.domains.index(objects)
        except ValueError:
            self._add_domain(objects, ())
            return len(self.domains) - 1
