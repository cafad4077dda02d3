"""The kinds of objects: bound by a mapping, given by a user, or missing (docs/worlds.md)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity
from plansafe.grammar.source import Source
from plansafe.verifier.elaborate.context import Context, did_you_mean, is_object_name
from plansafe.verifier.elaborate.symbols import Symbols
from plansafe.verifier.elaborate.types import parse_typed_list
from plansafe.verifier.rules.expanded_specs import ExpandedSpecs
from plansafe.verifier.rules.mapping import kind_type_name

EVERYTHING = frozenset(("object", "thing"))
"""Kinds of every object; they carry no information."""
_KIND_TYPE_PREFIX = kind_type_name("")
_NUMBER = re.compile(r"[_-]\d+\Z")


class ClassKinds(NamedTuple):
    """The kinds that a user gives the objects of a class; a class without kinds is assumed to be harmless.

    ``required``: the task must have the class. Otherwise the class may belong to another task of the home.
    """

    name: str
    kinds: tuple[str, ...]
    reason: str
    place: Label
    required: bool = False


class Kinds(NamedTuple):
    """The kinds that mappings bind.

    ``above`` maps each kind to itself and the kinds above it in the vocabulary. ``types`` maps each kind to its types
    of the domain, none for an empty kind. ``kindless_types`` are the types that a mapping declares to have no kind.
    """

    above: dict[str, tuple[str, ...]]
    types: dict[str, frozenset[int]]
    kindless_types: frozenset[int]

    def informative(self) -> dict[str, frozenset[int]]:
        """Return ``types`` without the kinds of everything."""
        return {kind: types for kind, types in self.types.items() if kind not in EVERYTHING}

    def possible(self, symbols: Symbols) -> tuple[str, ...]:
        """Return the kinds that an object without a kind may have: kinds below the kind of everything, or empty."""
        everything = frozenset().union(*[types for kind, types in self.types.items() if kind in EVERYTHING]) or {0}
        below = [not ancestors.isdisjoint(everything) for ancestors in symbols.types.ancestors]
        kinds = self.informative().items()
        return tuple([kind for kind, types in kinds if not types or any([below[t] for t in types])])


def bound_kinds(symbols: Symbols, expanded: ExpandedSpecs) -> Kinds:
    """Return the kinds of a task; there are none without a mapping."""
    above: dict[str, tuple[str, ...]] = {}
    types: dict[str, set[int]] = {}
    kindless_types: set[int] = set()
    index = symbols.types.index
    for applied in expanded.mappings:
        mapping = applied.mapping
        kindless_types |= {index[name] for name in mapping.kindless_types if name in index}
        parents = _parent_kinds(symbols, expanded, applied.serves)
        for section, kind in mapping.entries:
            if section == "type":
                names = mapping.domain_types(kind)
                types.setdefault(kind, set()).update([index[name] for name in names if name in index])
                bound = [name for name in _with_ancestors(kind, parents) if ("type", name) in mapping.entries]
                above[kind] = tuple(dict.fromkeys([*above.get(kind, ()), *bound]))
    return Kinds(above, {kind: frozenset(numbers) for kind, numbers in types.items()}, frozenset(kindless_types))


def _parent_kinds(symbols: Symbols, expanded: ExpandedSpecs, serves: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the direct parents of each kind, as the vocabularies declare them."""
    parents: dict[str, tuple[str, ...]] = {}
    for vocabulary in expanded.vocabularies:
        for section in vocabulary.node[1:] if vocabulary.specification in serves else ():
            if isinstance(section, list) and section and section[0] == ":types":
                for entry in parse_typed_list(symbols.context, section, 1, is_object_name, "a name"):
                    parents.setdefault(entry.name, entry.types or ())
    return parents


def _with_ancestors(kind: str, parents: dict[str, tuple[str, ...]]) -> list[str]:
    kinds = [kind]
    for name in kinds:
        kinds += [above for above in parents.get(name, ()) if above not in kinds and above not in EVERYTHING]
    return kinds


def classes(symbols: Symbols, kinds: Kinds) -> dict[str, tuple[int, ...]]:
    """Return the classes of a task with their objects.

    The class of an object is its type; if its types are kinds or carry no information, its name without the number at
    the end.
    """
    by_class: dict[str, list[int]] = {}
    names = symbols.types.names
    general = {
        t
        for t, name in enumerate(names)
        if name in EVERYTHING or t in kinds.types.get(name, ()) or name.startswith(_KIND_TYPE_PREFIX)
    }
    for number, (name, types) in enumerate(zip(symbols.objects, symbols.object_types, strict=True)):
        specific = [names[t] for t in types if t not in general]
        for name_of_class in specific or [_NUMBER.sub("", name)]:
            by_class.setdefault(name_of_class, []).append(number)
    return {name: tuple(objects) for name, objects in by_class.items()}


def unclassified_objects(
    symbols: Symbols, kinds: Kinds, entries: Iterable[ClassKinds] = ()
) -> dict[str, tuple[int, ...]]:
    """Return the classes with objects without a kind, and these objects; nothing in a task without kinds."""
    if not kinds.types:
        return {}
    bound = kinds.kindless_types.union(*kinds.informative().values())
    ancestors = symbols.types.ancestors
    without_kind = {
        number
        for number, types in enumerate(symbols.object_types)
        if all([bound.isdisjoint(ancestors[t]) for t in types])
    }
    harmless = {entry.name for entry in entries}
    by_class = {
        name: tuple([number for number in objects if number in without_kind])
        for name, objects in classes(symbols, kinds).items()
    }
    return {name: objects for name, objects in by_class.items() if objects and name not in harmless}


def kinds_of_classes(kinds: Kinds, entries: Iterable[ClassKinds]) -> frozenset[str]:
    """Return the kinds that entries give, with the kinds above them."""
    return frozenset([above for entry in entries for kind in entry.kinds for above in kinds.above.get(kind, ())])


def check_classes(symbols: Symbols, kinds: Kinds, entries: Iterable[ClassKinds]) -> None:
    """Report classes and kinds that the task does not have: errors, or notes for classes of a profile."""
    context = symbols.context
    by_class = classes(symbols, kinds)
    parents = {parent for parents in symbols.types.parents for parent in parents}
    leaf_types = {name for number, name in enumerate(symbols.types.names) if number not in parents}
    names = {*by_class, *leaf_types} - EVERYTHING
    choices = list(kinds.informative())
    unclassified = unclassified_objects(symbols, kinds)
    kindless = {name for number, name in enumerate(symbols.types.names) if number in kinds.kindless_types}

    def error(message: str, help: str, entry: ClassKinds) -> None:
        report_entry(context, SC.UNKNOWN_IN_HOME, message, entry.place, help)

    for entry in entries:
        for kind in entry.kinds:
            if kind not in choices:
                listed = f"the kinds are {', '.join(choices)}"
                if not choices:
                    listed = "no mapping assigns kinds to the objects of this task"
                error(f"no kind of this task is named `{kind}`", did_you_mean(kind, choices) or listed, entry)
        if entry.name not in names and entry.required:
            message = f"no object or type of this task has the class `{entry.name}`"
            help = did_you_mean(entry.name, names) or "a class is the type of an object, or its name without the number"
            error(message, help, entry)
        elif not entry.kinds and entry.name in by_class and entry.name not in {*unclassified, *kindless}:
            message = f"`{entry.name}` has known kinds, and is not assumed to be harmless"
            error(message, "rules about its kinds still apply; to exempt a rule, use --ignore or `[[exempt]]`", entry)
        elif entry.name not in by_class and not context.errors and not entry.required:
            message = f"no object of this task has the class `{entry.name}`: its kinds are not used"
            help = (
                did_you_mean(entry.name, by_class) or "if it belongs to another task of this home, no change is needed"
            )
            report_entry(context, SC.IDLE_EXEMPTION, message, entry.place, help, Severity.NOTE)


def report_entry(
    context: Context, code: str, message: str, place: Label, help: str, severity: Severity = Severity.ERROR
) -> None:
    """Report a mistake in an entry of a home profile, a project file or a command-line option."""
    context.diagnostics.append(Diagnostic(code, message, (place,), help=help, severity=severity))
    context.errors += severity is Severity.ERROR


def place_text(label: Label, sources: Mapping[str, Source]) -> str:
    """Return the place of an entry: an option, or a file and a line."""
    source = sources.get(label.source)
    if label.source.startswith("--") or source is None:
        return label.source
    return f"{label.source}:{source.position(label.span.start)[0]}"


def open_kinds(symbols: Symbols, kinds: Iterable[str]) -> None:
    """Declare the types of opened kinds."""
    for kind in kinds:
        name = kind_type_name(kind)
        if name not in symbols.types.index:
            symbols.types.add_undeclared(name)


def give_kinds(symbols: Symbols, kinds: Kinds, entries: Iterable[ClassKinds]) -> None:
    """Give the objects of each class the types of their opened kinds."""
    by_class, index = classes(symbols, kinds), symbols.types.index
    for entry in entries:
        kind_types = [index[kind_type_name(above)] for kind in entry.kinds for above in kinds.above[kind]]
        for number in by_class.get(entry.name, ()):
            symbols.object_types[number] = tuple(sorted({*symbols.object_types[number], *kind_types}))


def opened_kind_members(symbols: Symbols) -> dict[str, tuple[str, ...]]:
    """Return the types of opened kinds with their objects, for the kernel, which reads the text of the task."""
    names, objects = symbols.types.names, list(zip(symbols.objects, symbols.object_types, strict=True))
    return {names[t]: tuple([name for name, types in objects if t in types]) for t in sorted(symbols.types.undeclared)}
