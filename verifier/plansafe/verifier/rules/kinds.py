"""Kinds of objects: which a mapping binds, which objects have none, and which a user gives by name (docs/worlds.md)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity
from plansafe.verifier.elaborate.context import did_you_mean, is_object_name
from plansafe.verifier.elaborate.symbols import Symbols
from plansafe.verifier.elaborate.types import parse_typed_list
from plansafe.verifier.rules.expanded_specs import ExpandedSpecs
from plansafe.verifier.rules.mapping import kind_type_name

EVERYTHING = frozenset(("object", "thing"))
"""Kinds that every object has: they say nothing about it."""
OPENED = kind_type_name("")
_NUMBER = re.compile(r"[_-]\d+\Z")


class ClassKinds(NamedTuple):
    """The kinds that a user gives the objects of a class; without kinds the class is assumed to be harmless.

    ``required``: the class must be among those of the task. Otherwise it may belong to another task of the home.
    """

    name: str
    kinds: tuple[str, ...]
    reason: str
    place: Label
    required: bool = False


class Kinds(NamedTuple):
    """The kinds that mappings bind. ``above`` gives each with the kinds above it in the vocabulary, itself included.

    ``types`` are the types of the domain that a kind is bound to, none for an empty kind. ``plain`` are the types that
    a mapping declares to have no kind.
    """

    above: dict[str, tuple[str, ...]]
    types: dict[str, frozenset[int]]
    plain: frozenset[int]

    def possible(self, symbols: Symbols) -> tuple[str, ...]:
        """The kinds that an object without a kind may have: those within the kind of everything, and empty ones."""
        everything = frozenset().union(*[types for kind, types in self.types.items() if kind in EVERYTHING]) or {0}
        ancestors = symbols.types.ancestors
        return tuple(
            [
                kind
                for kind, types in self.types.items()
                if kind not in EVERYTHING
                and (not types or any([not ancestors[t].isdisjoint(everything) for t in types]))
            ]
        )


def bound_kinds(symbols: Symbols, expanded: ExpandedSpecs) -> Kinds:
    """The kinds of a task; there are none without a mapping."""
    above: dict[str, tuple[str, ...]] = {}
    types: dict[str, set[int]] = {}
    plain: set[int] = set()
    index = symbols.types.index
    for binding in expanded.bindings:
        mapping = binding.mapping
        plain |= {index[name] for name in mapping.plain if name in index}
        parents = _parents(symbols, expanded, binding.serves)
        for section, kind in mapping.entries:
            if section == "type":
                meaning = () if ("type", kind) in mapping.nothing else mapping.type(kind)
                names = meaning[1:] if isinstance(meaning, list) else [meaning] if meaning else []
                types.setdefault(kind, set()).update([index[name] for name in names if name in index])
                bound = [name for name in _closure(kind, parents) if ("type", name) in mapping.entries]
                above[kind] = tuple(dict.fromkeys([*above.get(kind, ()), *bound]))
    return Kinds(above, {kind: frozenset(numbers) for kind, numbers in types.items()}, frozenset(plain))


def _parents(symbols: Symbols, expanded: ExpandedSpecs, serves: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The kinds right above each kind, as the vocabularies declare them."""
    parents: dict[str, tuple[str, ...]] = {}
    for vocabulary in expanded.vocabularies:
        for section in vocabulary.node[1:] if vocabulary.specification in serves else ():
            if isinstance(section, list) and section and section[0] == ":types":
                for entry in parse_typed_list(symbols.context, section, 1, is_object_name, "a name"):
                    parents.setdefault(entry.name, entry.types or ())
    return parents


def _closure(kind: str, parents: dict[str, tuple[str, ...]]) -> list[str]:
    closure = [kind]
    for name in closure:
        closure += [above for above in parents.get(name, ()) if above not in closure and above not in EVERYTHING]
    return closure


def classes(symbols: Symbols, kinds: Kinds) -> dict[str, tuple[int, ...]]:
    """The classes of a task with their objects.

    The class of an object is its type; where types are kinds or say nothing, its name without the number at the end.
    """
    by_class: dict[str, list[int]] = {}
    names = symbols.types.names
    general = {t for t, name in enumerate(names) if name in EVERYTHING or t in kinds.types.get(name, ())}
    general |= {t for t, name in enumerate(names) if name.startswith(OPENED)}
    for number, (name, types) in enumerate(zip(symbols.objects, symbols.object_types, strict=True)):
        specific = [names[t] for t in types if t not in general]
        for name_of_class in specific or [_NUMBER.sub("", name)]:
            by_class.setdefault(name_of_class, []).append(number)
    return {name: tuple(objects) for name, objects in by_class.items()}


def unclassified_objects(
    symbols: Symbols, kinds: Kinds, entries: Iterable[ClassKinds] = ()
) -> dict[str, tuple[int, ...]]:
    """The classes whose objects have no kind, with these objects; nothing in a task without kinds."""
    if not kinds.types:
        return {}
    bound = kinds.plain.union(*[types for kind, types in kinds.types.items() if kind not in EVERYTHING])
    ancestors = symbols.types.ancestors
    without = {
        number
        for number, types in enumerate(symbols.object_types)
        if all([bound.isdisjoint(ancestors[t]) for t in types])
    }
    harmless = {entry.name for entry in entries}
    result = {}
    for name, objects in classes(symbols, kinds).items():
        objects_without = tuple([number for number in objects if number in without])
        if objects_without and name not in harmless:
            result[name] = objects_without
    return result


def kinds_of_classes(kinds: Kinds, entries: Iterable[ClassKinds]) -> frozenset[str]:
    """The kinds that entries give, with those above them."""
    return frozenset([above for entry in entries for kind in entry.kinds for above in kinds.above.get(kind, ())])


def check_classes(symbols: Symbols, kinds: Kinds, entries: Iterable[ClassKinds]) -> None:
    """Report classes and kinds that the task does not have: errors, or notes for classes of a profile."""
    context = symbols.context
    by_class = classes(symbols, kinds)
    names = {*by_class, *_leaves(symbols)} - EVERYTHING
    choices = [kind for kind in kinds.types if kind not in EVERYTHING]
    without = unclassified_objects(symbols, kinds)
    plain = {name for number, name in enumerate(symbols.types.names) if number in kinds.plain}
    for entry in entries:
        for kind in entry.kinds:
            if kind not in choices:
                message = f"no kind of this task is named `{kind}`"
                help = did_you_mean(kind, choices) or _some(choices)
                _report(symbols, SC.UNKNOWN_IN_HOME, message, entry.place, help, Severity.ERROR)
        if entry.name not in names and entry.required:
            message = f"no object or type of this task has the class `{entry.name}`"
            help = did_you_mean(entry.name, names) or "a class is the type of an object, or its name without the number"
            _report(symbols, SC.UNKNOWN_IN_HOME, message, entry.place, help, Severity.ERROR)
        elif not entry.kinds and entry.name in by_class and entry.name not in {*without, *plain}:
            message = f"`{entry.name}` has known kinds, and is not assumed to be harmless"
            help = "rules about its kinds still apply; to exempt a rule, use --ignore or `[[exempt]]`"
            _report(symbols, SC.UNKNOWN_IN_HOME, message, entry.place, help, Severity.ERROR)
        elif entry.name not in by_class and not context.errors and not entry.required:
            message = f"no object of this task has the class `{entry.name}`: its kinds are not used"
            help = (
                did_you_mean(entry.name, by_class) or "if it belongs to another task of this home, no change is needed"
            )
            _report(symbols, SC.IDLE_EXEMPTION, message, entry.place, help, Severity.NOTE)


def _leaves(symbols: Symbols) -> list[str]:
    """The types without types below them."""
    above = {parent for parents in symbols.types.parents for parent in parents}
    return [name for number, name in enumerate(symbols.types.names) if number not in above]


def _some(kinds: Sequence[str]) -> str:
    return f"the kinds are {', '.join(kinds)}" if kinds else "no mapping assigns kinds to the objects of this task"


def _report(symbols: Symbols, code: str, message: str, place: Label, help: str, severity: Severity) -> None:
    symbols.context.diagnostics.append(Diagnostic(code, message, (place,), help=help, severity=severity))
    symbols.context.errors += severity is Severity.ERROR


def open_kinds(symbols: Symbols, kinds: Iterable[str]) -> None:
    """Declare the types of opened kinds."""
    table = symbols.types
    for kind in kinds:
        name = kind_type_name(kind)
        if name not in table.index:
            table.add_undeclared(name)


def give_kinds(symbols: Symbols, kinds: Kinds, entries: Iterable[ClassKinds]) -> None:
    """Give the objects of each class the types of their kinds, which are open."""
    by_class, index = classes(symbols, kinds), symbols.types.index
    for entry in entries:
        added = tuple([index[kind_type_name(above)] for kind in entry.kinds for above in kinds.above[kind]])
        for number in by_class.get(entry.name, ()):
            symbols.object_types[number] = tuple(sorted({*symbols.object_types[number], *added}))


def opened_kind_members(symbols: Symbols) -> dict[str, tuple[str, ...]]:
    """The types of opened kinds with their objects, for the kernel, which reads the text of the task."""
    names, objects = symbols.types.names, list(zip(symbols.objects, symbols.object_types, strict=True))
    return {names[t]: tuple([name for name, types in objects if t in types]) for t in sorted(symbols.types.undeclared)}
