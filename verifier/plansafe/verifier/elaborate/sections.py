"""The sections of a definition and the fields of an action: split, and checked for their names."""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate import dialects
from plansafe.verifier.elaborate.context import Context, Place, did_you_mean, format_token, is_object_name

_CLASSICAL_REQUIREMENTS = (
    ":strips",
    ":typing",
    ":typed-objects",
    ":equality",
    ":conditional-effects",
    ":adl",
    ":domain-axioms",
)
_PRECONDITION_KINDS = ("negative", "disjunctive", "existential", "universal", "quantified")
_NUMERIC_REQUIREMENTS = (":fluents", ":numeric-fluents", ":object-fluents", ":action-costs", ":goal-utilities")
_TEMPORAL_REQUIREMENTS = (
    ":durative-actions",
    ":duration-inequalities",
    ":continuous-effects",
    ":time",
    ":timed-effects",
)
_PROCESS_REQUIREMENTS = (":process", ":processes", ":event", ":events", ":hybrid")
_LATER_PDDL_REQUIREMENTS = (":derived-predicates", ":timed-initial-literals", ":preferences", ":constraints")
_OTHER_REQUIREMENTS = (":multi-agent", ":unfactored-privacy", ":factored-privacy", ":non-deterministic", ":contingent")
REQUIREMENTS = frozenset(
    (
        *_CLASSICAL_REQUIREMENTS,
        *_NUMERIC_REQUIREMENTS,
        *_TEMPORAL_REQUIREMENTS,
        *_PROCESS_REQUIREMENTS,
        *_LATER_PDDL_REQUIREMENTS,
        *_OTHER_REQUIREMENTS,
    )
) | {f":{kind}-preconditions" for kind in _PRECONDITION_KINDS}
UNSUPPORTED_SECTIONS = {
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

REPEATABLE_SECTIONS = frozenset((":action", ":durative-action", ":derived", ":process", ":event"))


class Sections(NamedTuple):
    """The sections of a ``(define (kind name) ..)`` form: those that occur once, by head, and the others in order."""

    name: str
    single: dict[str, Place]
    repeated: list[tuple[str, Place]]


def split_sections(
    context: Context,
    top: list[Node],
    kind: str,
    single: frozenset[str],
    repeatable: frozenset[str],
    unsupported: dict[str, str],
) -> Sections | None:
    """Split a definition into its sections; ``None`` after a diagnostic about its head.

    ``single`` and ``repeatable``: the heads of sections that may occur once, and several times. ``unsupported``: the
    construct for each head of a section that is not supported.
    """
    form = _find_definition(context, top, kind)
    if form is None:
        return None
    header = form[1]
    assert isinstance(header, list)
    sections = Sections(format_token(header[1]) if len(header) > 1 else kind, {}, [])
    for child in range(2, len(form)):
        section = form[child]
        head = section[0] if isinstance(section, list) and section else section
        if not isinstance(section, list) or not isinstance(head, str) or not head.startswith(":"):
            context.report_malformed("expected a section such as `(:init ..)`", Place(form, child), "not a section")
            continue
        if head == ":constraint" and ":constraints" in single:
            message, help = "section `:constraint`", "write `:constraints`"
            context.report_dialect("constraint", message, Place(section, 0), "read as `:constraints`", help=help)
            head = ":constraints"
        if head in repeatable:
            sections.repeated.append((head, Place(section)))
        elif head in single:
            first = sections.single.get(head)
            if first is None:
                sections.single[head] = Place(section)
            elif head == ":objects":
                sections.single[head] = dialects.merge_sections(context, first, Place(section))
            else:
                context.report_repetition(f"section `{head}`", Place(section, 0), Place(first.node, 0))
        elif head == ":axiom" and head in unsupported:
            context.error(SC.UNSUPPORTED, unsupported[head], Place(section, 0), "not supported")
        elif head in unsupported:
            context.report_unsupported(unsupported[head], Place(section, 0))
        else:
            message, suggestion = f"unknown section `{head}`", did_you_mean(head, single | repeatable)
            context.report_malformed(message, Place(section, 0), f"not a section of a {kind}", help=suggestion)
    return sections


def _find_definition(context: Context, top: list[Node], kind: str) -> list[Node] | None:
    """Return the form ``(define (kind name) ..)`` of a text; ``None`` if it is not of this kind, which is reported."""
    if not top:
        context.report_malformed(f"the {kind} is empty", Place(top), f"expected `(define ({kind} name) ..)`")
        return None
    form = top[0]
    if not isinstance(form, list) or len(form) < 2 or form[0] != "define" or not isinstance(form[1], list):
        context.report_malformed(f"expected `(define ({kind} name) ..)`", Place(top, 0), f"not a {kind}")
        return None
    if len(top) > 1:
        context.report_malformed(f"text after the end of the {kind}", Place(top, 1), "a file contains one definition")
    header = form[1]
    if len(header) != 2 or header[0] != kind or not is_object_name(header[1]):
        help = _explain_swapped_files(header, kind)
        context.report_malformed(f"expected `({kind} name)`", Place(form, 1), f"not the head of a {kind}", help=help)
        if not header or header[0] != kind:
            return None
    return form


def _explain_swapped_files(header: list[Node], kind: str) -> str | None:
    """Return a help text if the file is of another kind, such as a domain in place of a problem."""
    file_kind = header[0] if header else None
    if file_kind in ("domain", "problem", "plan", "safety", "mapping") and file_kind != kind:
        return f"this is a {file_kind}: were the files swapped?"
    return None


def check_requirements(context: Context, sections: Sections) -> None:
    """Warn about unknown requirement flags."""
    flags = sections.single[":requirements"].node if ":requirements" in sections.single else []
    for child in range(1, len(flags)):
        flag, at = flags[child], Place(flags, child)
        if not isinstance(flag, str):
            context.report_malformed("expected a requirement such as `:strips`", at, "not a requirement")
        elif flag not in REQUIREMENTS:
            context.warning(SC.UNKNOWN_REQUIREMENT, f"unknown requirement `{flag}`", at, "ignored")


def read_fields(
    context: Context, node: list[Node], start: int, allowed_keys: tuple[str, ...], kind: str
) -> dict[str, Place]:
    """Return the values of the fields ``:key value`` from child ``start`` on; ``kind``: the node, as in "an action"."""
    fields: dict[str, Place] = {}
    child = start
    while child < len(node):
        key, at = node[child], Place(node, child)
        if not isinstance(key, str) or not key.startswith(":"):
            context.report_malformed(f"expected one of {', '.join(allowed_keys)}", at, f"not a field of {kind}")
            child += 1
            continue
        if key in UNSUPPORTED_FIELDS:
            context.report_unsupported(UNSUPPORTED_FIELDS[key], at)
        elif key not in allowed_keys:
            help = did_you_mean(key, allowed_keys)
            context.report_malformed(f"unknown field `{key}`", at, f"not a field of {kind}", help=help)
        elif key in fields:
            context.report_repetition(f"field `{key}`", at, fields[key])
        value = node[child + 1] if child + 1 < len(node) else ":"
        if isinstance(value, str) and value.startswith(":"):
            context.report_malformed(f"`{key}` has no value", at, "expected a value after this")
            child += 1
            continue
        fields.setdefault(key, Place(node, child + 1))
        child += 2
    return fields
