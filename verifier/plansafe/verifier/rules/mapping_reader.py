"""Read the forms ``(define (mapping name) ..)`` into :class:`Mapping`."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import TypeGuard

from plansafe.grammar.codes import SC
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.sexpr import Node, unquote_text
from plansafe.verifier.elaborate.context import Context, Place, did_you_mean, format_token, is_object_name
from plansafe.verifier.rules.mapping import (
    ExcludedRule,
    Mapping,
    ObjectKinds,
    ProposedKind,
    Replacement,
    WordName,
    make_kind_type_name,
)
from plansafe.verifier.rules.tree_copies import TreeCopier

_WORD_SECTIONS = frozenset((":types", ":predicates", ":functions", ":actions", ":constants"))
_OBJECT_SECTIONS = frozenset((":objects", ":proposed"))
_OTHER_SECTIONS = frozenset((":groups", ":plain", ":without"))
_SINGLE_NAME_SECTIONS = frozenset((":specification", ":domain", ":extends", ":kinds"))
"""Sections with one name."""
_SECTIONS = _WORD_SECTIONS | _OBJECT_SECTIONS | _OTHER_SECTIONS | _SINGLE_NAME_SECTIONS
_PLAIN_WORD_SECTIONS = frozenset((":types", ":constants", ":groups"))
"""Sections whose entries are about names without parameters."""
_READING_ORDER = {":groups": 0, ":types": 1}
"""Sections that are read before the others, whose entries can use their names."""


class ReadMapping(NamedTuple):
    """A mapping and the name of the specification that it binds."""

    specification: str
    mapping: Mapping


def read_mapping(
    context: Context,
    forms: Sequence[list[Node]],
    assignable_kinds: Container[str] = (),
    domain_types: Container[str] = (),
    proposed_objects: Container[str] = (),
) -> ReadMapping | None:
    """Read ``(define (mapping name) ..)`` with the forms that extend it, which follow it.

    ``None`` if the form does not name a specification, which is reported. ``assignable_kinds`` are the kinds that a
    user may give to objects. Each of them, each kind that the mapping itself gives to objects, and each group to which
    such a kind is bound, is also bound to the type :func:`make_kind_type_name`. A name in a formula of the mapping that
    is not in ``domain_types`` may be a kind. The objects in ``proposed_objects`` also get their proposed kinds.
    """
    mapping = Mapping(
        atoms={},
        constants={},
        types={},
        steps={},
        entries={},
        empty_words=set(),
        groups={},
        domain_name_places=[],
        excluded_rules={},
        kindless_types={},
        empty_assignable_types=set(),
        objects={},
        proposed=[],
        kinds_from=[],
    )
    specification, sections = _split_sections(context, forms, mapping)
    reader = _MappingReader(context, mapping, assignable_kinds, domain_types)
    for section in sections:
        if section.head in _OBJECT_SECTIONS:
            for position in range(1, len(section.node)):
                reader.read_object_entry(section.head, section.node[position], Place(section.node, position))
    reader.give_proposed_kinds(proposed_objects)
    reader.record_assignable_groups([section.node for section in sections if section.head == ":types"])
    for section in sorted(sections, key=lambda section: _READING_ORDER.get(section.head, len(_READING_ORDER))):
        if section.head not in _OBJECT_SECTIONS:
            reader.start_form(section.form_number)
            for position in range(1, len(section.node)):
                reader.read_entry(section.head, section.node[position], Place(section.node, position))
    reader.report_unbound_kinds()
    if isinstance(specification, str):
        return ReadMapping(specification, mapping)
    label = "expected `(:specification name)`"
    context.error(SC.STRUCTURE, "a mapping must name its specification", Place(forms[0], 1), label)
    return None


class _Section(NamedTuple):
    """A section with entries, and the number of its form among the forms of a mapping."""

    head: str
    node: list[Node]
    form_number: int


def _split_sections(
    context: Context, forms: Sequence[list[Node]], mapping: Mapping
) -> tuple[Node | None, list[_Section]]:
    """Return the first value of ``:specification`` and the sections with entries.

    The places of the names in ``:domain`` and ``:kinds`` are added to the mapping.
    """
    specification: Node | None = None
    sections: list[_Section] = []
    for number, form in enumerate(forms):
        for child in range(2, len(form)):
            section = form[child]
            head = format_token(section[0]) if isinstance(section, list) and section else ""
            if not isinstance(section, list) or head not in _SECTIONS:
                message, help = "expected a section of a mapping", did_you_mean(head, _SECTIONS)
                context.error(SC.STRUCTURE, message, Place(form, child), "not a section", help=help)
            elif head == ":specification":
                specification = section[1] if len(section) > 1 and specification is None else specification
            elif head not in _SINGLE_NAME_SECTIONS:
                sections.append(_Section(head, section, number))
            elif len(section) != 2 or not is_object_name(section[1]):
                message = f"`{head}` takes one name"
                context.error(SC.STRUCTURE, message, Place(section), f"expected `({head} name)`")
            elif head == ":domain":
                mapping.domain_name_places.append(Place(section, 1))
            elif head == ":kinds":
                mapping.kinds_from.append(Place(section, 1))
    return specification, sections


class _MappingReader:
    """Reads the entries of one mapping.

    ``groups`` are the types of groups, and of kinds whose names are not types of the domain.
    """

    def __init__(
        self, context: Context, mapping: Mapping, assignable_kinds: Container[str], domain_types: Container[str]
    ) -> None:
        self.context = context
        self.mapping = mapping
        self.assignable_kinds = assignable_kinds
        self.domain_types = domain_types
        self.groups: dict[str, Node] = {}
        self.kinds_of_group: dict[str, list[str]] = {}
        """The assignable kinds that are bound to each group."""
        self.given_kinds: set[str] = set()
        """The kinds that the mapping gives to objects."""
        self._form_number_by_word: dict[WordName, int] = {}
        """The number of the form that has the last entry of a word."""
        self._form_number = 0
        self._record_origin = TreeCopier(context).record_origin

    def start_form(self, number: int) -> None:
        """Read the next entries as parts of a form; a form with a larger number extends the earlier ones."""
        self._form_number = number

    def is_assignable(self, kind: Node) -> bool:
        """Whether the user or the mapping may give a kind to objects."""
        return isinstance(kind, str) and (kind in self.given_kinds or kind in self.assignable_kinds)

    def record_assignable_groups(self, sections: list[list[Node]]) -> None:
        """Record the assignable kinds that are bound to groups."""
        for section in sections:
            for entry in section[1:]:
                if _has_head(entry) and len(entry) == 2 and isinstance(entry[1], str) and self.is_assignable(entry[0]):
                    self.kinds_of_group.setdefault(entry[1], []).append(format_token(entry[0]))

    def read_object_entry(self, head: str, entry: Node, at: Place) -> None:
        """Read ``(object kind ..)`` of ``:objects`` or ``(object kind "evidence")`` of ``:proposed``."""
        tokens = [token for token in entry if isinstance(token, str)] if isinstance(entry, list) else []
        is_proposed = head == ":proposed"
        names = tokens[:2] if is_proposed else tokens
        if (
            not isinstance(entry, list)
            or not tokens
            or len(tokens) != len(entry)
            or not all([is_object_name(name) for name in names])
            or (is_proposed and (len(tokens) != 3 or not tokens[2].startswith('"')))
        ):
            expected_form = '`(object kind "evidence")`' if is_proposed else "`(object kind ..)`"
            self.context.error(SC.STRUCTURE, f"expected {expected_form}", at, "not an object with kinds")
        elif is_proposed:
            self.mapping.proposed.append(ProposedKind(tokens[0], tokens[1], unquote_text(tokens[2]), Place(entry)))
        else:
            self._give_kinds(tokens[0], tokens[1:], Place(entry))

    def give_proposed_kinds(self, objects: Container[str]) -> None:
        """Give some objects their proposed kinds in addition to the kinds that the mapping gives them."""
        for proposed in self.mapping.proposed:
            if proposed.object in objects:
                self._give_kinds(proposed.object, [proposed.kind], proposed.place)

    def report_unbound_kinds(self) -> None:
        """Report kinds of objects that have no entry in ``:types``."""
        entries = self.mapping.entries
        for object_kinds in self.mapping.objects.values():
            for kind in object_kinds.kinds:
                if ("type", kind) not in entries:
                    help = did_you_mean(kind, [name for section, name in entries if section == "type"])
                    help = help or f"add `({kind})` to `:types`"
                    message = f"the mapping gives an object the kind `{kind}`, which its `:types` do not have"
                    self.context.error(SC.UNKNOWN_TYPE, message, object_kinds.place, "of an unknown kind", help=help)
                    return

    def _give_kinds(self, name: str, kinds: list[str], at: Place) -> None:
        """Give an object kinds in addition to the kinds that it already has."""
        earlier = self.mapping.objects.get(name, ObjectKinds((), at))
        self.mapping.objects[name] = earlier._replace(kinds=tuple(dict.fromkeys([*earlier.kinds, *kinds])))
        self.given_kinds.update(kinds)

    def read_entry(self, head: str, entry: Node, at: Place) -> None:
        """Read an entry of a section that is not about objects."""
        if head == ":plain":
            self._read_kindless_types(entry, at)
        elif head == ":without":
            self._read_excluded_rule(entry, at)
        else:
            self._read_replacement(head, entry, at)

    def _read_replacement(self, head: str, entry: Node, at: Place) -> None:
        """Read ``(word replacement)``, or ``(word)`` if the domain has nothing for it."""
        context, mapping = self.context, self.mapping
        if not isinstance(entry, list) or len(entry) not in ((2,) if head == ":groups" else (1, 2)):
            context.error(SC.STRUCTURE, "expected `(theirs ours)`", at, "not a pair")
            return
        word = entry[0]
        if not (isinstance(word, str) if head in _PLAIN_WORD_SECTIONS else _has_head(word)):
            context.error(SC.STRUCTURE, "expected `((name ?x ..) replacement)`", at, "not a replacement")
            return
        name = word if isinstance(word, str) else format_token(word[0])
        entry = self._expand_entry(head, entry)
        section = head[1:-1]
        first = mapping.groups.get(name) if head == ":groups" else mapping.entries.get((section, name))
        if first is not None and head == ":types" and self._form_number_by_word[section, name] < self._form_number:
            entry, first = self._join_types(first.node, entry), None
            mapping.empty_words.discard((section, name))
        if head == ":types" and self.is_assignable(name):
            entry = self._add_kind_types(entry, [name])
        elif head == ":groups" and name in self.kinds_of_group:
            entry = self._add_kind_types(entry, self.kinds_of_group[name])
        if first is not None:
            message = f"{section} `{name}` is bound twice"
            context.error(SC.DECLARED_TWICE, message, at, "again here", related=(first, "first here"))
        if head == ":groups":
            mapping.groups[name] = Place(entry)
            self.groups[name] = entry[1]
        else:
            mapping.entries[section, name] = Place(entry)
            self._form_number_by_word[section, name] = self._form_number
            self._add_replacement(head, name, entry)

    def _expand_entry(self, head: str, entry: list[Node]) -> list[Node]:
        """Expand the groups in a replacement; an action without a possible step becomes ``(word)``."""
        if len(entry) == 1 or head == ":constants":
            return entry
        word, replacement = entry
        if head in _PLAIN_WORD_SECTIONS:
            expanded = self._expand_groups(replacement)
        else:
            expanded = self._expand_groups_in_formula(replacement)
        if head == ":actions":
            expanded = _remove_impossible_steps(expanded)
        if expanded is replacement:
            return entry
        is_impossible = head == ":actions" and expanded == ["or"]
        return self._record_origin([word] if is_impossible else [word, expanded], entry)

    def _add_replacement(self, head: str, name: str, entry: list[Node]) -> None:
        """Add the replacement of an entry, or its word to the words for which the domain has nothing."""
        mapping, word = self.mapping, entry[0]
        if len(entry) == 1:
            mapping.empty_words.add((head[1:-1], name))
            if head == ":types" and name not in self.domain_types:
                self.groups.setdefault(name, ["either"])
        elif head == ":types":
            mapping.types[name] = entry[1]
            if name not in self.domain_types and name not in mapping.groups:
                self.groups[name] = entry[1]
        elif head == ":constants":
            mapping.constants[name] = entry[1]
        else:
            replacements = mapping.steps if head == ":actions" else mapping.atoms
            replacements[name] = Replacement([format_token(token) for token in word[1:]], entry[1])

    def _join_types(self, first: list[Node], entry: list[Node]) -> list[Node]:
        """Return the entry of a kind with the types of an extended mapping's entry and its own."""
        types: list[Node] = ["either"]
        places: list[Place] = [Place(entry, 0)]
        for node in (first, entry):
            for name, place in _list_types(node[1], Place(node, 1)) if len(node) == 2 else ():
                if name not in types:
                    types.append(name)
                    places.append(place)
        if len(types) == 1:
            return entry
        self.context.replaced.update({(id(types), number): place for number, place in enumerate(places)})
        return self._record_origin([entry[0], self._record_origin(types, entry)], entry)

    def _add_kind_types(self, entry: list[Node], kinds: list[str]) -> list[Node]:
        """Return an entry that is also bound to the type :func:`make_kind_type_name` of each kind."""
        if len(entry) == 1:
            self.mapping.empty_assignable_types.update([("type", make_kind_type_name(kind)) for kind in kinds])
        replacement = entry[1] if len(entry) == 2 else ["either"]
        types = replacement[1:] if isinstance(replacement, list) else [replacement]
        kind_types = [name for kind in kinds if (name := make_kind_type_name(kind)) not in types]
        return self._record_origin([entry[0], self._record_origin(["either", *types, *kind_types], entry)], entry)

    def _read_kindless_types(self, node: Node, at: Place) -> None:
        """Read types that have no kind: ``t`` or ``(either t ..)``."""
        types = self._expand_groups(node)
        for name in types[1:] if isinstance(types, list) else [types]:
            if isinstance(name, str):
                self.mapping.kindless_types.setdefault(name, at)

    def _read_excluded_rule(self, entry: Node, at: Place) -> None:
        """Read ``(rule "reason")``."""
        if not (
            isinstance(entry, list)
            and len(entry) == 2
            and is_object_name(entry[0])
            and isinstance(entry[1], str)
            and entry[1].startswith('"')
        ):
            self.context.error(SC.STRUCTURE, 'expected `(rule "reason")`', at, "not a rule with a reason")
            return
        name, excluded_rules = format_token(entry[0]), self.mapping.excluded_rules
        if name in excluded_rules:
            message = f"rule `{name}` is left out twice"
            self.context.error(
                SC.DECLARED_TWICE, message, at, "again here", related=(excluded_rules[name].place, "first here")
            )
        excluded_rules[name] = ExcludedRule(unquote_text(entry[1]), Place(entry, 0))

    def _expand_groups(self, node: Node) -> Node:
        """Replace the groups in a type or ``(either ..)`` by their types; each keeps its place in the text."""
        if isinstance(node, str):
            return self.groups.get(node, node)
        if not any([child in self.groups for child in node if isinstance(child, str)]):
            return node
        expanded_types: list[Node] = []
        places: list[Place] = []
        names: set[str] = set()
        for position, child in enumerate(node):
            group = self.groups.get(child) if isinstance(child, str) else None
            at = Place(node, position)
            for name, place in _list_types(group, at) if group is not None else [(child, at)]:
                if not (isinstance(name, str) and name in names):
                    names.update([name] if isinstance(name, str) else [])
                    expanded_types.append(name)
                    places.append(place)
        self.context.replaced.update({(id(expanded_types), number): place for number, place in enumerate(places)})
        return self._record_origin(expanded_types, node)

    def _expand_groups_in_formula(self, node: Node) -> Node:
        """Replace the groups and kinds in the quantifiers of a replacement; nothing is of an empty kind."""
        if not isinstance(node, list) or not self.groups:
            return node
        if len(node) == 3 and node[0] in ("forall", "exists") and isinstance(node[1], list):
            typed: list[Node] = []
            for position, child in enumerate(node[1]):
                typed.append(self._expand_groups(child) if position and node[1][position - 1] == "-" else child)
            if ["either"] in typed:
                return self._record_origin(["and" if node[0] == "forall" else "or"], node)
            return self._record_origin(
                [node[0], self._record_origin(typed, node[1]), self._expand_groups_in_formula(node[2])], node
            )
        return self._record_origin([self._expand_groups_in_formula(child) for child in node], node)


def _remove_impossible_steps(step: Node) -> Node:
    """Remove the alternatives of a step that need an object of an empty kind; the result is ``(or)`` without any."""
    if not isinstance(step, list) or step[:1] not in (["or"], ["exists"], ["when"]):
        return step
    if step[0] == "or":
        alternatives = [_remove_impossible_steps(child) for child in step[1:]]
        possible_alternatives = [child for child in alternatives if child != ["or"]]
        if len(possible_alternatives) == len(step) - 1:
            return step
        return possible_alternatives[0] if len(possible_alternatives) == 1 else ["or", *possible_alternatives]
    return ["or"] if len(step) == 3 and _remove_impossible_steps(step[2]) == ["or"] else step


def _list_types(node: Node, at: Place) -> list[tuple[Node, Place]]:
    """Return the types in ``t`` or ``(either t ..)``, which is at ``at``, each with its place."""
    return [(node[n], Place(node, n)) for n in range(1, len(node))] if isinstance(node, list) else [(node, at)]


def _has_head(node: Node) -> TypeGuard[list[Node]]:
    return isinstance(node, list) and len(node) > 0 and isinstance(node[0], str)
