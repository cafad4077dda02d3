"""Write what the object table says about a task as a mapping that extends the mapping of its world.

A mapping with ``(:kinds object-table)`` has its kinds here. The generated text binds each kind of the ontology to types
of the domain, gives kinds to objects whose types say nothing, and lists proposed kinds. An entry such as ``(freezer)``
of the extended mapping, which says that the world has nothing of this kind, is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from plansafe.domains.objects.classification import (
    EVERYTHING,
    WHOLE_TABLE,
    ClassifiedName,
    ClassifiedObject,
    Classifier,
    KindReason,
    TableView,
    TypeTree,
    read_objects,
    read_type_tree,
)
from plansafe.domains.objects.table import BEINGS, CONFIRMED, PROPOSED, letters, load_table
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.sexpr import Node, parse_nodes, quote_text
from plansafe.grammar.source import Source

MARKER = "(:kinds object-table)"
"""The section of a mapping whose kinds are in the object table."""
_PREFIX = "kinds of objects for "


class ExtendedMapping(NamedTuple):
    """The mapping that is extended: its own types, the kinds that it declares to be empty, and its world.

    ``thing_types`` are the types of everything that can be handled. A kind of things is bound only to types below
    them, because predicates about things do not take others. ``places_and_agents`` are the types of rooms and agents,
    which have no kinds.
    """

    name: str
    world: str
    own_types: frozenset[str]
    empty_kinds: frozenset[str]
    thing_types: frozenset[str]
    places_and_agents: frozenset[str]

    def can_have(self, kind: str, ancestors: frozenset[str]) -> bool:
        """Whether a type with these ancestors can have a kind."""
        return kind not in self.empty_kinds and (kind in BEINGS or not self.thing_types.isdisjoint(ancestors))


class TypeKinds(NamedTuple):
    """The types of a domain in the object table.

    ``types_of_kind`` are the confirmed types of each kind, ``plain`` the types without a kind, ``classified`` all types
    that have a kind or none for a reason, in the table or in the extended mapping.
    """

    tree: TypeTree
    classifier: Classifier
    types_of_kind: dict[str, list[str]]
    plain: list[str]
    classified: frozenset[str]


def add_kinds(
    domain: Source, problem: Source, specs: Sequence[Source], view: TableView = WHOLE_TABLE
) -> tuple[Source, ...]:
    """Return specifications with the kinds of the task's objects, if one of them is a mapping that needs them.

    Kinds that were added for another problem are replaced. ``view`` is for measurements of the table itself.
    """
    own_specs = [spec for spec in specs if not spec.name.startswith(_PREFIX)]
    added = [write_mapping(domain, problem, spec, view) for spec in own_specs if is_extensible(spec)]
    return (*own_specs, *added)


def is_extensible(spec: Source) -> bool:
    """Whether a specification is a mapping whose kinds are in the object table."""
    return MARKER in spec.text


def write_mapping(domain: Source, problem: Source, extended: Source, view: TableView = WHOLE_TABLE) -> Source:
    """Return the mapping that extends ``extended`` with the kinds of the types and objects of a task."""
    mapping = _read_extended(extended)
    types = _classify_types(domain, extended, view)
    lines = [f"(define (mapping {mapping.name}-objects)", f"  (:extends {mapping.name})", "  (:types"]
    for kind in types.classifier.table.kinds.values():
        names = types.types_of_kind.get(kind.name, [])
        if kind.name not in mapping.empty_kinds:
            lines.append(f"    ({kind.name} (either {' '.join(names)}))" if names else f"    ({kind.name})")
    lines.append("  )")
    if types.plain:
        lines.append(f"  (:plain {' '.join(types.plain)})")
    object_lines: list[str] = []
    proposed: list[str] = []
    for classified in classify_objects(domain, problem, extended, view):
        usable = [kind for kind in classified.entry.kinds if mapping.can_have(kind.kind, classified.ancestors)]
        confirmed = [kind.kind for kind in usable if kind.status == CONFIRMED]
        if classified.entry.is_known and not classified.has_classified_type:
            object_lines.append(f"    ({' '.join([classified.name, *confirmed])})")
        proposed += [
            f"    ({classified.name} {kind.kind} {quote_text(kind.reason)})"
            for kind in usable
            if kind.status == PROPOSED
        ]
    for head, entries in ((":objects", object_lines), (":proposed", proposed)):
        if entries:
            lines += [f"  ({head}", *entries, "  )"]
    lines.append(")")
    return Source(f"{_PREFIX}{mapping.name}", "\n".join(lines))


def classify_objects(
    domain: Source, problem: Source, extended: Source, view: TableView = WHOLE_TABLE
) -> list[ClassifiedObject]:
    """Return what the table says about the objects of a task, in the order of their declarations."""
    types = _classify_types(domain, extended, view)
    tree, classifier = types.tree, types.classifier
    objects = []
    for name, own_types in read_objects(domain, problem):
        if any([t in ("room", "agent") for t in own_types]):
            continue
        above = frozenset().union(*[tree.ancestors.get(t, frozenset([t])) for t in own_types])
        has_classified_type = not types.classified.isdisjoint(above)
        specific = [t for t in own_types if t in tree.leaves and t not in EVERYTHING]
        entries = [classifier.classify(looked_up) for looked_up in specific or [name]]
        looked_up_name = " ".join(specific) or name
        objects.append(ClassifiedObject(name, looked_up_name, _join(entries), has_classified_type, above))
    return objects


def _join(entries: list[ClassifiedName]) -> ClassifiedName:
    if len(entries) == 1:
        return entries[0]
    kinds: dict[tuple[str, str], KindReason] = {}
    for status in (CONFIRMED, PROPOSED):
        for name in entries:
            for kind in name.kinds_with(status):
                if (kind.kind, CONFIRMED) not in kinds:
                    kinds.setdefault((kind.kind, status), kind)
    class_name = " + ".join([name.class_name for name in entries if name.class_name])
    return ClassifiedName(class_name, any([name.is_known for name in entries]), tuple(kinds.values()))


def _classify_types(domain: Source, extended: Source, view: TableView) -> TypeKinds:
    return _classify_types_of_text(domain.text, extended.text, view)


@lru_cache(maxsize=16)
def _classify_types_of_text(domain: str, extended: str, view: TableView) -> TypeKinds:
    """Look up the types of a domain; equal texts share the result."""
    mapping = _read_extended(Source("mapping", extended))
    tree = read_type_tree(Source("domain", domain))
    classifier = Classifier(mapping.world, view)
    types_of_kind: dict[str, list[str]] = {}
    plain: list[str] = []
    classified = set(mapping.own_types)
    for name in tree.ancestors:
        if name in EVERYTHING or "room" in tree.ancestors[name] or name in mapping.places_and_agents:
            continue
        entry = classifier.classify(name, with_proposals=False)
        confirmed = [kind.kind for kind in entry.kinds_with(CONFIRMED)]
        kinds = [kind for kind in confirmed if mapping.can_have(kind, tree.ancestors[name])]
        for kind in kinds:
            types_of_kind.setdefault(kind, []).append(name)
        if kinds:
            classified.add(name)
        elif entry.is_known and name in tree.leaves and mapping.empty_kinds.issuperset(confirmed):
            plain.append(name)
            classified.add(name)
    return TypeKinds(tree, classifier, types_of_kind, plain, frozenset(classified))


@lru_cache(maxsize=32)
def _read_extended(extended: Source) -> ExtendedMapping:
    name, world = "", ""
    types: set[str] = set()
    empty: set[str] = set()
    groups: dict[str, list[str]] = {}
    thing_types: set[str] = set()
    places_and_agents: set[str] = set()
    kind_names = {letters(kind.name): kind.name for kind in load_table().kinds.values()}
    for form in parse_nodes(extended) or []:
        header = form[1] if isinstance(form, list) and len(form) > 1 else None
        if not isinstance(form, list) or not isinstance(header, list) or [":kinds", "object-table"] not in form:
            continue
        name = str(header[1])
        for section in form[2:]:
            if not isinstance(section, list) or not section:
                continue
            if section[0] == ":domain":
                world = str(section[1])
            elif section[0] == ":types":
                for entry in section[1:]:
                    if isinstance(entry, list) and len(entry) == 1:
                        empty.add(kind_names.get(letters(str(entry[0])), str(entry[0])))
                    elif isinstance(entry, list) and entry[0] not in EVERYTHING:
                        types.update(_list_names(entry[1:]))
                    elif isinstance(entry, list) and entry[0] == "thing":
                        thing_types.update(_list_names(entry[1:]))
                    elif isinstance(entry, list):
                        places_and_agents.update(_list_names(entry[1:]))
            elif section[0] == ":plain":
                types.update(_list_names(section[1:]))
            elif section[0] == ":groups":
                for entry in section[1:]:
                    names = _list_names(entry[1:]) if isinstance(entry, list) else []
                    groups[str(entry[0])] = [member for name in names for member in groups.get(name, [name])]
    own_types = {member for name in types for member in groups.get(name, [name])}
    handled_types = frozenset(thing_types or {"thing"})
    return ExtendedMapping(
        name, world, frozenset(own_types - {"either"}), frozenset(empty), handled_types, frozenset(places_and_agents)
    )


def _list_names(nodes: list[Node]) -> list[str]:
    return [name for node in nodes for name in (_list_names(node) if isinstance(node, list) else [node])]
