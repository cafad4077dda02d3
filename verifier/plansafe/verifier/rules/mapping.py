"""Mappings as they are written: which word of a specification is replaced by what."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate.context import At, Context, did_you_mean, is_object_name, word

Name = tuple[str, str]
"""A name with its name space: ``type``, ``constant``, ``predicate``, ``function`` or ``action``."""

_REPLACED = frozenset((":types", ":predicates", ":functions", ":actions", ":constants"))
_SECTIONS = _REPLACED | {":specification", ":domain"}


class Mapping(NamedTuple):
    """A mapping: replacements of atoms, terms, types and steps; where each entry stands, and its ``:domain``.

    ``nothing`` are the names that it says the domain has nothing for; they are among the entries, too.
    """

    atoms: dict[str, tuple[list[str], Node]]
    names: dict[str, Node]
    types: dict[str, Node]
    steps: dict[str, tuple[list[str], Node]]
    entries: dict[Name, At]
    nothing: set[Name]
    domain: list[At]


def read_mapping(context: Context, form: list[Node]) -> tuple[str | None, Mapping]:
    """Read ``(define (mapping name) ..)``; returns the specification that it names, ``None`` after a diagnostic."""
    wanted = None
    mapping = Mapping({}, {}, {}, {}, {}, set(), [])
    for child in range(2, len(form)):
        section = form[child]
        head = word(section[0]) if isinstance(section, list) and section else ""
        if not isinstance(section, list) or head not in _SECTIONS:
            help = did_you_mean(head, _SECTIONS)
            context.error("SC003", "expected a section of a mapping", At(form, child), "not a section", help=help)
        elif head == ":specification":
            wanted = section[1] if len(section) > 1 else None
        elif head in _REPLACED:
            for position in range(1, len(section)):
                _entry(context, head, section[position], At(section, position), mapping)
        elif len(section) != 2 or not is_object_name(section[1]):
            context.error("SC003", "`:domain` takes one name", At(section), "expected `(:domain name)`")
        else:
            mapping.domain.append(At(section, 1))
    if isinstance(wanted, str):
        return wanted, mapping
    context.error("SC003", "a mapping names its specification", At(form, 1), "expected `(:specification name)`")
    return None, mapping


def _entry(context: Context, head: str, entry: Node, at: At, mapping: Mapping) -> None:
    """One ``(theirs ours)`` of a mapping, or ``(theirs)``."""
    if not isinstance(entry, list) or len(entry) not in (1, 2):
        context.error("SC003", "expected `(theirs ours)`", at, "not a pair")
        return
    theirs = entry[0]
    flat = head in (":types", ":constants")
    if flat and isinstance(theirs, str):
        if len(entry) == 2:
            (mapping.types if head == ":types" else mapping.names)[theirs] = entry[1]
    elif not flat and isinstance(theirs, list) and theirs and isinstance(theirs[0], str):
        target = mapping.steps if head == ":actions" else mapping.atoms
        if len(entry) == 2:
            target[theirs[0]] = ([word(token) for token in theirs[1:]], entry[1])
        theirs = theirs[0]
    else:
        context.error("SC003", "expected `((name ?x ..) replacement)`", at, "not a replacement")
        return
    key = (head[1:-1], theirs)
    if key in mapping.entries:
        other = (mapping.entries[key], "first here")
        context.error("SC105", f"{key[0]} `{theirs}` is bound twice", at, "again here", other=other)
    mapping.entries[key] = At(entry)
    if len(entry) == 1:
        mapping.nothing.add(key)
