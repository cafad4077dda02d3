"""Find the kinds of the types and objects of a task in the object table.

The class of an object is its type, or its name if the type says nothing about it (``thing bleach_25``). Types below a
classified type have its kinds too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from plansafe.domains.objects.names import resolve_name
from plansafe.domains.objects.table import CONFIRMED, FOLDER, NO_KIND, PROPOSED, ObjectTable, letters, load_table
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.sexpr import Node, parse_nodes
from plansafe.grammar.source import Source

_PARENTHESIS = re.compile(r";[^\r\n]*|[()]")
EVERYTHING = frozenset(("object", "thing", "room", "agent"))
"""Types and kinds that are not in the table: a mapping binds them itself."""


class TableView(NamedTuple):
    """How the table is read.

    For measurements of the table in a new world: ``folder`` holds other files than the shipped ones, and
    ``trust_proposals`` treats proposed kinds as confirmed.
    """

    folder: str = FOLDER
    trust_proposals: bool = False


WHOLE_TABLE = TableView()


class KindReason(NamedTuple):
    """A kind of a class, with the reason. ``status`` is ``confirmed`` or ``proposed``."""

    kind: str
    status: str
    reason: str
    source: str


class ClassifiedName(NamedTuple):
    """What the table says about the name of a type or an object.

    ``class_name`` is empty for a name that the table does not have. ``is_known``: at least one row is confirmed, also
    if it says that the class has no kind.
    """

    class_name: str
    is_known: bool
    kinds: tuple[KindReason, ...]

    def kinds_with(self, status: str) -> tuple[KindReason, ...]:
        """Return the kinds of a status."""
        return tuple([kind for kind in self.kinds if kind.status == status])


class TypeTree(NamedTuple):
    """The types of a domain: ``ancestors`` of each type, with itself; ``leaves`` are types without subtypes."""

    ancestors: dict[str, frozenset[str]]
    leaves: frozenset[str]


class ClassifiedObject(NamedTuple):
    """An object with the name that was looked up, and whether its types or the mapping already classify it.

    ``ancestors`` are its types with the types above them.
    """

    name: str
    looked_up: str
    entry: ClassifiedName
    has_classified_type: bool
    ancestors: frozenset[str]


class Classifier:
    """Looks up names for one world."""

    def __init__(self, world: str, view: TableView = WHOLE_TABLE, table: ObjectTable | None = None) -> None:
        self.world = world
        self.view = view
        self.table = load_table(view.folder) if table is None else table
        self._cache: dict[tuple[str, bool], ClassifiedName] = {}

    def classify(self, name: str, *, with_proposals: bool = True) -> ClassifiedName:
        """Return what the table says about a name.

        Without ``with_proposals``, which is faster, some proposed kinds are missing.
        """
        key = name, with_proposals or self.view.trust_proposals
        if key not in self._cache:
            self._cache[key] = self._classify(*key)
        return self._cache[key]

    def _classify(self, name: str, with_proposals: bool) -> ClassifiedName:
        table = self.table
        reasons: list[KindReason] = []
        kind = table.find_kind(name)
        if kind is not None and (self.world, letters(name)) not in table.names:
            reasons.append(KindReason(kind.name, CONFIRMED, "the name of the kind", "ontology"))
        resolved = resolve_name(table, name, self.world, with_proposals=with_proposals)
        class_name = "" if kind is None else kind.name
        is_known = bool(reasons)
        if resolved is not None:
            class_name = " + ".join(resolved.class_names)
            for part in resolved.class_names:
                rows = table.rows.get(letters(part), ())
                is_incomplete = table.rows.has_errors(letters(part))  # a kind may be missing: the class is not known
                for row in rows:
                    is_confirmed = row.status == CONFIRMED and not resolved.head_of and not is_incomplete
                    is_known = is_known or is_confirmed
                    if row.kind != NO_KIND:
                        status = CONFIRMED if is_confirmed else PROPOSED
                        reason = row.reason
                        if resolved.head_of:
                            reason = f"the words of `{resolved.head_of}` name a known class: {part}"
                        reasons.append(KindReason(row.kind, status, reason, row.source))
                kind = table.find_kind(part) if resolved.head_of and not rows else None
                if kind is not None:
                    reason = f"the words of `{resolved.head_of}` name the kind"
                    reasons.append(KindReason(kind.name, PROPOSED, reason, "ontology"))
                proposals = () if rows or not with_proposals else table.proposals.get(letters(part), ())
                reasons += [KindReason(p.kind, PROPOSED, p.evidence, "proposals.csv") for p in proposals]
        reasons = self._close(reasons)
        if self.view.trust_proposals and reasons:
            reasons = [reason._replace(status=CONFIRMED) for reason in reasons]
            is_known = True
        return ClassifiedName(class_name, is_known, tuple(reasons))

    def _close(self, reasons: Sequence[KindReason]) -> list[KindReason]:
        """Add the kinds that follow; a confirmed kind is not also proposed."""
        closed: dict[str, KindReason] = {}
        for status in (CONFIRMED, PROPOSED):
            for reason in reasons:
                if reason.status == status:
                    closed.setdefault(reason.kind, reason)
            for reason in list(closed.values()):
                for implied in self.table.kinds[letters(reason.kind)].implies if reason.status == status else ():
                    follows = f"follows from `{reason.kind}`: {reason.reason}"
                    closed.setdefault(implied, reason._replace(kind=implied, reason=follows))
        return list(closed.values())


def read_type_tree(domain: Source) -> TypeTree:
    """Read the types of a domain; an unreadable text has none."""
    parents: dict[str, set[str]] = {}
    for name, types in _read_typed(_find_section(domain, ":types")):
        parents.setdefault(name, set()).update(types)
        for parent in types:
            parents.setdefault(parent, set())
    ancestors: dict[str, frozenset[str]] = {}
    for name in parents:
        above = [name]
        for at in above:
            above += [parent for parent in parents[at] if parent not in above]
        ancestors[name] = frozenset(above)
    with_subtypes = {parent for types in parents.values() for parent in types}
    return TypeTree(ancestors, frozenset(parents.keys() - with_subtypes))


def read_objects(domain: Source, problem: Source) -> list[tuple[str, tuple[str, ...]]]:
    """Return the constants and objects of a task with their types."""
    objects: dict[str, list[str]] = {}
    for name, types in (*_read_constants(domain.text), *_read_typed(_find_section(problem, ":objects"))):
        objects.setdefault(name, []).extend(types or ["object"])
    return [(name, tuple(dict.fromkeys(types))) for name, types in objects.items()]


@lru_cache(maxsize=16)
def _read_constants(domain: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple(_read_typed(_find_section(Source("domain", domain), ":constants")))


def _find_section(source: Source, head: str) -> list[Node]:
    """Return the content of a section, in all forms of a text. Only the section is parsed: texts may be long."""
    nodes: list[Node] = []
    for match in re.finditer(rf"\({head}(?=[\s()])", source.text, re.IGNORECASE):
        line_start = source.text.rfind("\n", 0, match.start()) + 1
        if ";" in source.text[line_start : match.start()]:
            continue  # a comment
        depth = 0
        for token in _PARENTHESIS.finditer(source.text, match.start()):
            depth += {"(": 1, ")": -1}.get(token[0], 0)
            if depth == 0:
                (section,) = parse_nodes(Source(source.name, source.text[match.start() : token.end()])) or [[]]
                nodes += section[1:]
                break
    return nodes


def _read_typed(nodes: Iterable[Node]) -> list[tuple[str, tuple[str, ...]]]:
    """Read ``a b - t c - (either t u) d``."""
    typed: list[tuple[str, tuple[str, ...]]] = []
    names: list[str] = []
    items = iter(nodes)
    for item in items:
        if item == "-":
            types = next(items, "object")
            alternatives = types[1:] if isinstance(types, list) else [types]
            typed += [(name, tuple([t for t in alternatives if isinstance(t, str)])) for name in names]
            names = []
        elif isinstance(item, str):
            names.append(item)
    return typed + [(name, ()) for name in names]
