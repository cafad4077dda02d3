"""The sections of a definition and the fields of an action: split, and checked for their names."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate import dialects
from plansafe.verifier.elaborate.context import (
    Context,
    Place,
    did_you_mean,
    is_object_name,
    token_text,
)

REQUIREMENTS = frozenset(
    [
        ":strips",
        ":typing",
        ":negative-preconditions",
        ":disjunctive-preconditions",
        ":equality",
        ":existential-preconditions",
        ":universal-preconditions",
        ":quantified-preconditions",
        ":conditional-effects",
        ":fluents",
        ":numeric-fluents",
        ":adl",
        ":durative-actions",
        ":duration-inequalities",
        ":derived-predicates",
        ":timed-initial-literals",
        ":preferences",
        ":constraints",
        ":action-costs",
        ":continuous-effects",
        ":object-fluents",
        ":time",
        ":goal-utilities",
        ":domain-axioms",
        ":typed-objects",
        ":timed-effects",
        ":multi-agent",
        ":unfactored-privacy",
        ":factored-privacy",
        ":non-deterministic",
        ":contingent",
    ]
)

UNSUPPORTED_SECTIONS = {
    ":process": "processes (PDDL+)",
    ":event": "events (PDDL+)",
    ":axiom": "`:axiom` (write `:derived`)",
    ":method": "hierarchical methods",
    ":task": "hierarchical tasks",
    ":sensor": "observations (`:sensor`)",
    ":sense": "observations (`:sense`)",
    ":observe": "observations (`:observe`)",
    ":control-variable": "control variables (`:control-variable`)",
    ":control-variable-vector": "control variables (`:control-variable-vector`)",
    ":observation": "observations (`:observation`)",
    ":goal-probability": "probabilities (`:goal-probability`)",
    ":goal-reward": "rewards (`:goal-reward`)",
    ":reward": "rewards (`:reward`)",
}

UNSUPPORTED_FIELDS = {
    ":observe": "observations (`:observe`)",
    ":sense": "observations (`:sense`)",
    ":sensor": "observations (`:sensor`)",
    ":control": "control variables (`:control`)",
    ":expansion": "hierarchical expansions (`:expansion`)",
    ":probability": "probabilities (`:probability`)",
}

DOMAIN_SECTIONS = frozenset((":requirements", ":types", ":constants", ":predicates", ":functions", ":constraints"))

REPEATED_SECTIONS = frozenset((":action", ":durative-action", ":derived"))


class Sections(NamedTuple):
    """The sections of a ``(define (kind name) ..)`` form."""

    name: str
    single: dict[str, Place]
    many: list[tuple[str, Place]]


def split_sections(
    context: Context,
    top: list[Node],
    kind: str,
    single: frozenset[str],
    many: frozenset[str],
    unsupported: dict[str, str],
) -> Sections | None:
    """Split a definition into its sections; ``None`` if there is nothing to work with."""
    if not top:
        context.error(SC.STRUCTURE, f"the {kind} is empty", Place(top), f"expected `(define ({kind} name) ..)`")
        return None
    form = top[0]
    if not isinstance(form, list) or len(form) < 2 or form[0] != "define" or not isinstance(form[1], list):
        context.error(SC.STRUCTURE, f"expected `(define ({kind} name) ..)`", Place(top, 0), f"not a {kind}")
        return None
    if len(top) > 1:
        context.error(
            SC.STRUCTURE, f"text after the end of the {kind}", Place(top, 1), "a file contains one definition"
        )
    header = form[1]
    if len(header) != 2 or header[0] != kind or not is_object_name(header[1]):
        context.error(
            SC.STRUCTURE,
            f"expected `({kind} name)`",
            Place(form, 1),
            f"not the head of a {kind}",
            help=_swapped(header, kind),
        )
        if not header or header[0] != kind:
            return None
    found = Sections(token_text(header[1]) if len(header) > 1 else kind, {}, [])
    for child in range(2, len(form)):
        section = form[child]
        where = Place(form, child)
        head = section[0] if isinstance(section, list) and section else section
        if not isinstance(section, list) or not isinstance(head, str) or not head.startswith(":"):
            context.error(SC.STRUCTURE, "expected a section such as `(:init ..)`", where, "not a section")
            continue
        if head == ":constraint" and ":constraints" in single:
            help = "write `:constraints`"
            context.dialect(
                "constraint", "section `:constraint`", Place(section, 0), "read as `:constraints`", help=help
            )
            head = ":constraints"
        if head in many:
            found.many.append((head, Place(section)))
        elif head in single:
            if head in found.single and head == ":objects":
                found.single[head] = dialects.united(context, found.single[head], Place(section))
            elif head in found.single:
                context.error(
                    SC.DECLARED_TWICE,
                    f"section `{head}` occurs twice",
                    Place(section, 0),
                    "again here",
                    other=(Place(found.single[head].node, 0), "first here"),
                )
            else:
                found.single[head] = Place(section)
        elif head in unsupported:
            context.error(
                SC.UNSUPPORTED,
                f"{unsupported[head]} are not supported" if head != ":axiom" else unsupported[head],
                Place(section, 0),
                "not supported",
            )
        else:
            context.error(
                SC.STRUCTURE,
                f"unknown section `{head}`",
                Place(section, 0),
                "not a section of a " + kind,
                help=did_you_mean(head, single | many),
            )
    return found


def _swapped(header: list[Node], kind: str) -> str | None:
    """Help for somebody who gave a domain for a problem, or another kind of file."""
    given = header[0] if header else None
    if given in ("domain", "problem", "plan", "safety", "mapping") and given != kind:
        return f"this is a {given}: were the files swapped?"
    return None


def check_requirements(context: Context, found: Sections) -> None:
    """Warn of unknown requirement flags."""
    at = found.single.get(":requirements")
    for child in range(1, len(at.node) if at else 0):
        assert at is not None
        flag = at.node[child]
        if not isinstance(flag, str) or flag not in REQUIREMENTS:
            if isinstance(flag, str):
                context.warning(
                    SC.UNKNOWN_REQUIREMENT, f"unknown requirement `{flag}`", Place(at.node, child), "ignored"
                )
            else:
                context.error(
                    SC.STRUCTURE, "expected a requirement such as `:strips`", Place(at.node, child), "not a requirement"
                )


def read_fields(context: Context, node: list[Node], start: int, known: tuple[str, ...], what: str) -> dict[str, Place]:
    """``:key value`` pairs of an action."""
    found: dict[str, Place] = {}
    child = start
    while child < len(node):
        key = node[child]
        if not isinstance(key, str) or not key.startswith(":"):
            context.error(
                SC.STRUCTURE, f"expected one of {', '.join(known)}", Place(node, child), f"not a field of {what}"
            )
            child += 1
            continue
        if key in UNSUPPORTED_FIELDS:
            context.error(
                SC.UNSUPPORTED, f"{UNSUPPORTED_FIELDS[key]} are not supported", Place(node, child), "not supported"
            )
        elif key not in known:
            context.error(
                SC.STRUCTURE,
                f"unknown field `{key}`",
                Place(node, child),
                f"not a field of {what}",
                help=did_you_mean(key, known),
            )
        elif key in found:
            context.error(
                SC.DECLARED_TWICE,
                f"field `{key}` occurs twice",
                Place(node, child),
                "again here",
                other=(found[key], "first here"),
            )
        missing = child + 1 >= len(node)
        if missing or (isinstance(node[child + 1], str) and str(node[child + 1]).startswith(":")):
            context.error(SC.STRUCTURE, f"`{key}` has no value", Place(node, child), "expected a value after this")
            child += 1
            continue
        found.setdefault(key, Place(node, child + 1))
        child += 2
    return found


def value_of(at: Place) -> Node:
    """The child that a place names, such as the value of a field."""
    assert at.child is not None
    return at.node[at.child]
