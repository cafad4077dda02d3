"""Mappings as they are written: which word of a specification is replaced by what."""

from __future__ import annotations

from collections.abc import Container
from typing import NamedTuple, TypeGuard

from plansafe.grammar.codes import SC
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate.context import Context, Place, did_you_mean, is_object_name, token_text
from plansafe.verifier.rules.tree_copies import TreeCopier

WordName = tuple[str, str]
"""A name with its name space: ``type``, ``constant``, ``predicate``, ``function`` or ``action``."""

_REPLACED = frozenset((":types", ":predicates", ":functions", ":actions", ":constants"))
_SECTIONS = _REPLACED | {":specification", ":domain", ":groups", ":plain", ":without"}


def unbound_name(name: str) -> str:
    """What stands in an expanded rule for a word that the domain has nothing for, whatever the domain calls so."""
    return f"~{name}"


def kind_type_name(kind: str) -> str:
    """The type of objects that are given a kind by name (docs/worlds.md, "Objects of no known kind")."""
    return f"kind--{kind}"


def is_unbound(node: Node) -> bool:
    """Whether a node of an expanded rule is a word that the domain has nothing for."""
    return isinstance(node, str) and node.startswith("~")


class Mapping(NamedTuple):
    """A mapping: replacements of atoms, terms, types and steps; where each entry stands, and its ``:domain``.

    ``nothing`` are the names that it says the domain has nothing for; they are among the entries, too. ``groups`` are
    its own names for several types of the domain; in the replacements they are replaced already. ``without`` are the
    rules that it leaves out, each with the reason. ``plain`` are types of the domain that are known to have no
    kind. ``filled`` are the types of opened kinds that are empty otherwise.
    """

    atoms: dict[str, tuple[list[str], Node]]
    names: dict[str, Node]
    types: dict[str, Node]
    steps: dict[str, tuple[list[str], Node]]
    entries: dict[WordName, Place]
    nothing: set[WordName]
    groups: dict[str, Place]
    domain: list[Place]
    without: dict[str, tuple[str, Place]]
    plain: dict[str, Place]
    filled: set[WordName]

    def has_nothing_for(self, *names: WordName) -> bool:
        """Whether it says that the domain has nothing for one of these."""
        return not self.nothing.isdisjoint(names)

    def type(self, name: str) -> Node:
        """What a type of the specification is in the domain."""
        return unbound_name(name) if ("type", name) in self.nothing else self.types.get(name, name)

    def constant(self, name: str) -> Node:
        """What a constant of the specification is in the domain; any other term stays what it is."""
        return unbound_name(name) if ("constant", name) in self.nothing else self.names.get(name, name)


def read_mapping(context: Context, form: list[Node], opened: Container[str] = ()) -> tuple[str | None, Mapping]:
    """Read ``(define (mapping name) ..)``; returns the specification that it names, ``None`` after a diagnostic.

    Each kind in ``opened`` is also bound to the type :func:`kind_type_name`, and so is a group that a kind is bound to.
    """
    wanted = None
    mapping = Mapping({}, {}, {}, {}, {}, set(), {}, [], {}, {}, set())
    reader = _Reader(context, mapping, opened)
    if opened:
        reader.open_groups(form)
    for child in range(2, len(form)):
        section = form[child]
        head = token_text(section[0]) if isinstance(section, list) and section else ""
        if not isinstance(section, list) or head not in _SECTIONS:
            help = did_you_mean(head, _SECTIONS)
            context.error(
                SC.STRUCTURE, "expected a section of a mapping", Place(form, child), "not a section", help=help
            )
        elif head == ":specification":
            wanted = section[1] if len(section) > 1 else None
        elif head in _REPLACED or head == ":groups":
            for position in range(1, len(section)):
                reader.entry(head, section[position], Place(section, position))
        elif head == ":plain":
            for position in range(1, len(section)):
                reader.plain(section[position], Place(section, position))
        elif head == ":without":
            for position in range(1, len(section)):
                reader.left_out(section[position], Place(section, position))
        elif len(section) != 2 or not is_object_name(section[1]):
            context.error(SC.STRUCTURE, "`:domain` takes one name", Place(section), "expected `(:domain name)`")
        else:
            mapping.domain.append(Place(section, 1))
    if isinstance(wanted, str):
        return wanted, mapping
    context.error(
        SC.STRUCTURE, "a mapping must name its specification", Place(form, 1), "expected `(:specification name)`"
    )
    return None, mapping


class _Reader:
    """Reads the entries of one mapping."""

    def __init__(self, context: Context, mapping: Mapping, opened: Container[str]) -> None:
        self.context = context
        self.mapping = mapping
        self.opened = opened
        self.groups: dict[str, Node] = {}
        self.kinds_of_groups: dict[str, list[str]] = {}
        self._made = TreeCopier(context).made

    def entry(self, head: str, entry: Node, at: Place) -> None:
        """One ``(theirs ours)``, or ``(theirs)``."""
        context, mapping = self.context, self.mapping
        if not isinstance(entry, list) or len(entry) not in ((2,) if head == ":groups" else (1, 2)):
            context.error(SC.STRUCTURE, "expected `(theirs ours)`", at, "not a pair")
            return
        theirs, flat = entry[0], head in (":types", ":constants", ":groups")
        if not (isinstance(theirs, str) if flat else _is_head(theirs)):
            context.error(SC.STRUCTURE, "expected `((name ?x ..) replacement)`", at, "not a replacement")
            return
        name = theirs if isinstance(theirs, str) else token_text(theirs[0])
        if len(entry) == 2 and head != ":constants":
            ours = self._types(entry[1]) if flat else self._formula(entry[1])
            entry = entry if ours is entry[1] else self._made([theirs, ours], entry)
        if head == ":types" and name in self.opened:
            entry = self._opened(entry, [name])
        elif name in self.kinds_of_groups and head == ":groups":
            entry = self._opened(entry, self.kinds_of_groups[name])
        key = (head[1:-1], name)
        first = mapping.groups.get(name) if head == ":groups" else mapping.entries.get(key)
        if first is not None:
            context.error(
                SC.DECLARED_TWICE, f"{key[0]} `{name}` is bound twice", at, "again here", other=(first, "first here")
            )
        if head == ":groups":
            mapping.groups[name] = Place(entry)
            self.groups[name] = entry[1]
            return
        mapping.entries[key] = Place(entry)
        if len(entry) == 1:
            mapping.nothing.add(key)
        elif flat:
            (mapping.types if head == ":types" else mapping.names)[name] = entry[1]
        else:
            target = mapping.steps if head == ":actions" else mapping.atoms
            target[name] = ([token_text(token) for token in theirs[1:]], entry[1])

    def open_groups(self, form: list[Node]) -> None:
        """Note which opened kinds are bound to which groups."""
        for section in form[2:]:
            if _is_head(section) and section[0] == ":types":
                for entry in section[1:]:
                    if _is_head(entry) and len(entry) == 2 and isinstance(entry[1], str) and entry[0] in self.opened:
                        self.kinds_of_groups.setdefault(entry[1], []).append(token_text(entry[0]))

    def _opened(self, entry: list[Node], kinds: list[str]) -> list[Node]:
        """An entry that is also bound to the types of opened kinds."""
        if len(entry) == 1:
            self.mapping.filled.update([("type", kind_type_name(kind)) for kind in kinds])
        bound = entry[1] if len(entry) == 2 else ["either"]
        types = bound[1:] if isinstance(bound, list) else [bound]
        more = [name for kind in kinds if (name := kind_type_name(kind)) not in types]
        return self._made([entry[0], self._made(["either", *types, *more], entry)], entry)

    def plain(self, node: Node, at: Place) -> None:
        """One type of ``:plain``, or a group."""
        types = self._types(node)
        for name in types[1:] if isinstance(types, list) else [types]:
            if isinstance(name, str):
                self.mapping.plain.setdefault(name, at)

    def left_out(self, entry: Node, at: Place) -> None:
        """One ``(rule "reason")`` of ``:without``."""
        if not (
            isinstance(entry, list)
            and len(entry) == 2
            and is_object_name(entry[0])
            and isinstance(entry[1], str)
            and entry[1].startswith('"')
        ):
            self.context.error(SC.STRUCTURE, 'expected `(rule "reason")`', at, "not a rule with a reason")
            return
        name, without = token_text(entry[0]), self.mapping.without
        if name in without:
            message = f"rule `{name}` is left out twice"
            self.context.error(SC.DECLARED_TWICE, message, at, "again here", other=(without[name][1], "first here"))
        reason = entry[1][1:-1].replace('\\"', '"').replace("\\\\", "\\")
        without[name] = (reason, Place(entry, 0))

    def _types(self, node: Node) -> Node:
        """A type or ``(either ..)`` with groups replaced by their types, each of which keeps its place."""
        if isinstance(node, str):
            return self.groups.get(node, node)
        if not any([child in self.groups for child in node if isinstance(child, str)]):
            return node
        made: list[Node] = []
        places: list[Place] = []
        known: set[str] = set()
        for position, child in enumerate(node):
            group = self.groups.get(child, child) if isinstance(child, str) else child
            names = [(Place(group, at), group[at]) for at in range(1, len(group))] if isinstance(group, list) else []
            for place, name in names or [(Place(node, position), group)]:
                if not (isinstance(name, str) and name in known):
                    known.update([name] if isinstance(name, str) else [])
                    made.append(name)
                    places.append(place)
        self.context.replaced.update({(id(made), at): place for at, place in enumerate(places)})
        return self._made(made, node)

    def _formula(self, node: Node) -> Node:
        """A replacement with the groups in its quantifiers replaced."""
        if not isinstance(node, list) or not self.groups:
            return node
        if len(node) == 3 and node[0] in ("forall", "exists") and isinstance(node[1], list):
            typed: list[Node] = []
            for position, child in enumerate(node[1]):
                typed.append(self._types(child) if position and node[1][position - 1] == "-" else child)
            return self._made([node[0], self._made(typed, node[1]), self._formula(node[2])], node)
        return self._made([self._formula(child) for child in node], node)


def _is_head(node: Node) -> TypeGuard[list[Node]]:
    """Whether a node is ``(name ..)``."""
    return isinstance(node, list) and len(node) > 0 and isinstance(node[0], str)
