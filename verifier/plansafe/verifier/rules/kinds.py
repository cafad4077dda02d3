"""The kinds of objects: bound by a mapping, given by a user, or missing (docs/worlds.md, section 5).

A user may give kinds to the objects of a class. Each kind that can be given is also a type of the task
(:func:`make_kind_type_name`), and an object that is given the kind has this type in addition to its own types.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Label, Severity
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.elaborate.context import did_you_mean, is_object_name
from plansafe.verifier.elaborate.symbols import Symbols
from plansafe.verifier.elaborate.types import parse_typed_list
from plansafe.verifier.rules.expanded_specs import ExpandedSpecs
from plansafe.verifier.rules.mapping import make_kind_type_name
from plansafe.verifier.rules.profile_entries import report_entry_mistake

EVERYTHING = frozenset(("object", "thing"))
"""Kinds of every object; they carry no information."""
_KIND_TYPE_PREFIX = make_kind_type_name("")
_NUMBER = re.compile(r"[_-]\d+\Z")


class ClassKinds(NamedTuple):
    """The kinds that a user gives the objects of the class ``name``.

    If ``kinds`` is empty, the class is assumed to be harmless. ``required``: the task must have the class; otherwise
    the class may belong to another task of the home.
    """

    name: str
    kinds: tuple[str, ...]
    reason: str
    place: Label
    required: bool = False


class Kinds(NamedTuple):
    """The kinds that mappings bind.

    ``ancestors_of_kind`` maps each kind to itself and the kinds above it in the vocabulary. ``types`` maps each kind to
    the numbers of its types in the domain, which are none for an empty kind. ``kindless_types`` are the types that a
    mapping declares to have no kind, and ``kindless_objects`` such objects.
    """

    ancestors_of_kind: dict[str, tuple[str, ...]]
    types: dict[str, frozenset[int]]
    kindless_types: frozenset[int]
    kindless_objects: frozenset[int] = frozenset()

    def find_informative_kinds(self) -> dict[str, frozenset[int]]:
        """Return ``types`` without the kinds of every object (``EVERYTHING``)."""
        return {kind: types for kind, types in self.types.items() if kind not in EVERYTHING}

    def find_possible_kinds(self, symbols: Symbols) -> tuple[str, ...]:
        """Return the kinds that an object without a kind may have.

        These are the kinds without types, and the kinds with a type below the kind of everything.
        """
        everything = frozenset().union(*[types for kind, types in self.types.items() if kind in EVERYTHING]) or {0}
        below = [not ancestors.isdisjoint(everything) for ancestors in symbols.types.ancestors]
        kinds = self.find_informative_kinds().items()
        undeclared_types = symbols.types.undeclared_types  # of objects that are given a kind by name
        return tuple([k for k, types in kinds if not types - undeclared_types or any([below[t] for t in types])])


def find_bound_kinds(symbols: Symbols, expanded: ExpandedSpecs) -> Kinds:
    """Return the kinds of a task; there are none without a mapping."""
    ancestors_of_kind: dict[str, tuple[str, ...]] = {}
    types: dict[str, set[int]] = {}
    kindless_types: set[int] = set()
    kindless_objects: set[int] = set()
    index = symbols.types.index
    for applied_mapping in expanded.mappings:
        mapping = applied_mapping.mapping
        kindless_types |= {index[name] for name in mapping.kindless_types if name in index}
        for name, object_kinds in mapping.objects.items():
            if not object_kinds.kinds and name in symbols.object_index:
                kindless_objects.add(symbols.object_index[name])
        parents = _find_parent_kinds(symbols, expanded, applied_mapping.serves)
        for section, kind in mapping.entries:
            if section == "type":
                names = mapping.find_domain_types(kind)
                types.setdefault(kind, set()).update([index[name] for name in names if name in index])
                bound_kinds = [name for name in _list_ancestors(kind, parents) if ("type", name) in mapping.entries]
                ancestors_of_kind[kind] = tuple(dict.fromkeys([*ancestors_of_kind.get(kind, ()), *bound_kinds]))
    return Kinds(
        ancestors_of_kind,
        {kind: frozenset(numbers) for kind, numbers in types.items()},
        frozenset(kindless_types),
        frozenset(kindless_objects),
    )


def _find_parent_kinds(
    symbols: Symbols, expanded: ExpandedSpecs, serves: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """Return the direct parents of each kind, as the vocabularies declare them."""
    parents: dict[str, tuple[str, ...]] = {}
    for vocabulary in expanded.vocabularies:
        for section in vocabulary.node[1:] if vocabulary.specification in serves else ():
            if isinstance(section, list) and section and section[0] == ":types":
                for entry in parse_typed_list(symbols.context, section, 1, is_object_name, "a name"):
                    parents.setdefault(entry.name, entry.types or ())
    return parents


def _list_ancestors(kind: str, parents: dict[str, tuple[str, ...]]) -> list[str]:
    """Return a kind and the kinds above it, without the kinds of every object."""
    ancestors = [kind]
    for name in ancestors:  # also visits the names that are added here
        ancestors += [p for p in parents.get(name, ()) if p not in ancestors and p not in EVERYTHING]
    return ancestors


def find_classes(symbols: Symbols, kinds: Kinds) -> dict[str, tuple[int, ...]]:
    """Return the names of the classes of a task with the numbers of their objects.

    The class of an object is its type. If all its types are kinds or carry no information, the class is the name of the
    object without the number at its end (``cup`` for ``cup_2``).
    """
    objects_by_class: dict[str, list[int]] = {}
    names = symbols.types.names
    general_types = {
        type_number
        for type_number, name in enumerate(names)
        if name in EVERYTHING or type_number in kinds.types.get(name, ()) or name.startswith(_KIND_TYPE_PREFIX)
    }
    for number, (name, types) in enumerate(zip(symbols.objects, symbols.object_types, strict=True)):
        specific_types = [names[type_number] for type_number in types if type_number not in general_types]
        for name_of_class in specific_types or [_NUMBER.sub("", name)]:
            objects_by_class.setdefault(name_of_class, []).append(number)
    return {name: tuple(objects) for name, objects in objects_by_class.items()}


def find_unclassified_objects(
    symbols: Symbols, kinds: Kinds, entries: Iterable[ClassKinds] = ()
) -> dict[str, tuple[int, ...]]:
    """Return the classes with objects without a kind, each with these objects.

    The classes of ``entries`` are left out, because a user classified them. The result is empty if the task has no
    kinds.
    """
    if not kinds.types:
        return {}
    classified_types = kinds.kindless_types.union(*kinds.find_informative_kinds().values())
    ancestors = symbols.types.ancestors
    objects_without_kind = {
        number
        for number, types in enumerate(symbols.object_types)
        if number not in kinds.kindless_objects and all([classified_types.isdisjoint(ancestors[t]) for t in types])
    }
    entry_names = {entry.name for entry in entries}
    objects_by_class = {
        name: tuple([number for number in objects if number in objects_without_kind])
        for name, objects in find_classes(symbols, kinds).items()
    }
    return {name: objects for name, objects in objects_by_class.items() if objects and name not in entry_names}


def collect_given_kinds(kinds: Kinds, entries: Iterable[ClassKinds]) -> frozenset[str]:
    """Return the kinds that entries give, with the kinds above them."""
    ancestors = kinds.ancestors_of_kind
    return frozenset(
        [kind for entry in entries for given_kind in entry.kinds for kind in ancestors.get(given_kind, ())]
    )


def check_classes(symbols: Symbols, kinds: Kinds, entries: Iterable[ClassKinds]) -> None:
    """Report classes and kinds that the task does not have.

    A missing class is an error if the entry requires it, otherwise a note.
    """
    context = symbols.context
    objects_by_class = find_classes(symbols, kinds)
    parents = {parent for parents in symbols.types.parents for parent in parents}
    leaf_types = {name for number, name in enumerate(symbols.types.names) if number not in parents}
    names = {*objects_by_class, *leaf_types} - EVERYTHING
    choices = list(kinds.find_informative_kinds())
    unclassified = find_unclassified_objects(symbols, kinds)
    kindless_types = {name for number, name in enumerate(symbols.types.names) if number in kinds.kindless_types}

    def report(message: str, help: str, entry: ClassKinds) -> None:
        report_entry_mistake(context, SC.UNKNOWN_IN_HOME, message, entry.place, help)

    for entry in entries:
        for kind in entry.kinds:
            if kind not in choices:
                help = f"the kinds are {', '.join(choices)}"
                if not choices:
                    help = "no mapping assigns kinds to the objects of this task"
                report(f"no kind of this task is named `{kind}`", did_you_mean(kind, choices) or help, entry)
        if entry.name not in names and entry.required:
            message = f"no object or type of this task has the class `{entry.name}`"
            help = did_you_mean(entry.name, names) or "a class is the type of an object, or its name without the number"
            report(message, help, entry)
        elif not entry.kinds and entry.name in objects_by_class and entry.name not in {*unclassified, *kindless_types}:
            message = f"`{entry.name}` has known kinds, and is not assumed to be harmless"
            report(message, "rules about its kinds still apply; to exempt a rule, use --ignore or `[[exempt]]`", entry)
        elif entry.name not in objects_by_class and not context.errors and not entry.required:
            message = f"no object of this task has the class `{entry.name}`: its kinds are not used"
            help = (
                did_you_mean(entry.name, objects_by_class)
                or "if it belongs to another task of this home, no change is needed"
            )
            report_entry_mistake(context, SC.IDLE_EXEMPTION, message, entry.place, help, Severity.NOTE)


def declare_kind_types(symbols: Symbols, kinds: Iterable[str]) -> None:
    """Declare the types of kinds that a user may give to objects."""
    for kind in kinds:
        name = make_kind_type_name(kind)
        if name not in symbols.types.index:
            symbols.types.add_undeclared_type(name)


def give_kinds(symbols: Symbols, kinds: Kinds, entries: Iterable[ClassKinds]) -> None:
    """Give the objects of each class the declared types of its kinds, and of the kinds above them."""
    objects_by_class, index = find_classes(symbols, kinds), symbols.types.index
    for entry in entries:
        given_kinds = [kind for given_kind in entry.kinds for kind in kinds.ancestors_of_kind[given_kind]]
        kind_types = [index[make_kind_type_name(kind)] for kind in given_kinds]
        for number in objects_by_class.get(entry.name, ()):
            symbols.object_types[number] = tuple(sorted({*symbols.object_types[number], *kind_types}))


def give_mapped_kinds(symbols: Symbols, expanded: ExpandedSpecs) -> None:
    """Give objects the kinds that mappings list for them by name."""
    index = symbols.types.index
    for applied_mapping in expanded.mappings:
        objects = applied_mapping.mapping.objects
        declare_kind_types(symbols, sorted({kind for object_kinds in objects.values() for kind in object_kinds.kinds}))
        for name, object_kinds in objects.items():
            if name in symbols.object_index:
                number = symbols.object_index[name]
                kind_types = [index[make_kind_type_name(kind)] for kind in object_kinds.kinds]
                symbols.object_types[number] = tuple(sorted({*symbols.object_types[number], *kind_types}))


def list_objects_by_kind_type(symbols: Symbols) -> dict[str, tuple[str, ...]]:
    """Return the types of :func:`declare_kind_types` with their objects.

    The kernel needs them, because it reads the text of the task, which does not contain these types.
    """
    names, objects = symbols.types.names, list(zip(symbols.objects, symbols.object_types, strict=True))
    return {
        names[t]: tuple([name for name, types in objects if t in types]) for t in sorted(symbols.types.undeclared_types)
    }
