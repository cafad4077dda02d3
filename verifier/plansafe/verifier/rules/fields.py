"""The fields of a rule beside its formulas: which there are, what is missing, and what says whom it protects."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate.context import Context, Place, did_you_mean, is_object_name, token_text
from plansafe.verifier.elaborate.symbols import Scope
from plansafe.verifier.rules.expanded_specs import STEP_FIELDS
from plansafe.verifier.rules.verdict_criteria import SEVERITIES

META = (":hazard", ":target", ":severity", ":message", ":rationale", ":fix")
FIELDS = {
    ":process": (
        ":parameters",
        ":on",
        ":at-end",
        ":during",
        ":when",
        ":forbid",
        ":require",
        ":forbid-after",
        ":require-after",
        *META,
    ),
    ":trajectory": (":parameters", ":formula", *META),
    ":termination": (":parameters", ":when", ":forbid", ":require", *META),
    ":obligation": (":parameters", ":when", ":then", ":within", *META),
}
TARGETS = ("human", "animal", "robot", "property", "environment")


class Meta(NamedTuple):
    """What a rule says of itself, for those who read findings."""

    hazard: str | None
    targets: tuple[str, ...]
    severity: str
    message: str | None
    rationale: str | None
    fix: str | None


def check_complete(context: Context, kind: str, node: list[Node], fields: dict[str, Place]) -> None:
    """Report what a kind of rule cannot do without."""
    if kind == ":trajectory" and ":formula" not in fields:
        context.error(SC.STRUCTURE, "a trajectory rule needs `:formula`", Place(node, 1), "what must hold?")
    elif kind == ":obligation":
        for key in (":when", ":then"):
            if key not in fields:
                context.error(
                    SC.STRUCTURE,
                    f"an obligation needs `{key}`",
                    Place(node, 1),
                    "expected `:when` and `:then`",
                )
    elif kind in (":process", ":termination"):
        keys = (":forbid", ":require", ":forbid-after", ":require-after")
        if not any([key in fields for key in keys]):
            context.error(
                SC.STRUCTURE,
                "the rule forbids and requires nothing",
                Place(node, 1),
                "expected `:forbid` or `:require`",
            )
        for key in keys[2:]:
            if key in fields and not any([step in fields for step in STEP_FIELDS]):
                context.error(
                    SC.STRUCTURE,
                    f"`{key}` needs a step",
                    fields[key],
                    "after which step?",
                    help="add `:on (action ..)`",
                )


def check_texts(context: Context, fields: dict[str, Place], scope: Scope) -> None:
    """Variables in messages must be variables of the rule."""
    names = {v.name for v in scope.slots}
    for key in (":message", ":fix"):
        text = fields[key].subtree if key in fields else None
        for piece in text.split("{")[1:] if isinstance(text, str) else []:
            name = piece.partition("}")[0]
            if name.startswith("?") and name.lower() not in names:
                help = did_you_mean(name, names)
                message = f"variable `{name}` is not bound in this rule"
                context.error(SC.UNBOUND_VARIABLE, message, fields[key], "in this text", help=help)


def read_meta(context: Context, fields: dict[str, Place]) -> Meta:
    """Read hazard, targets, severity and texts; mistakes are reported."""
    hazard = _token(context, fields, ":hazard")
    if hazard is not None and not is_object_name(hazard):
        context.error(SC.STRUCTURE, f"`{hazard}` does not name a hazard", fields[":hazard"], "expected a name")
    severity = _token(context, fields, ":severity") or "high"
    if severity not in SEVERITIES:
        context.error(
            SC.STRUCTURE,
            f"unknown severity `{severity}`",
            fields[":severity"],
            f"one of {', '.join(SEVERITIES)}",
            help=did_you_mean(severity, SEVERITIES),
        )
    targets: tuple[str, ...] = ()
    if ":target" in fields:
        value = fields[":target"].subtree
        targets = tuple([token_text(t) for t in (value if isinstance(value, list) else [value])])
        for target in targets:
            if target not in TARGETS:
                context.error(
                    SC.STRUCTURE,
                    f"unknown target of harm `{target}`",
                    fields[":target"],
                    f"one of {', '.join(TARGETS)}",
                    help=did_you_mean(target, TARGETS),
                )
    texts = []
    for key in (":message", ":rationale", ":fix"):
        text = _token(context, fields, key)
        if text is not None and not text.startswith('"'):
            context.error(SC.STRUCTURE, f"`{key}` takes a string", fields[key], 'expected `".."`')
        texts.append(None if text is None else text[1:-1].replace('\\"', '"').replace("\\\\", "\\"))
    return Meta(hazard, targets, severity, *texts)


def _token(context: Context, fields: dict[str, Place], key: str) -> str | None:
    if key not in fields:
        return None
    value = fields[key].subtree
    if isinstance(value, str):
        return value
    context.error(SC.STRUCTURE, f"`{key}` takes one word", fields[key], "expected a word, found a list")
    return None


def said(rule: list[Node], key: str) -> tuple[str, ...]:
    """The names behind a keyword of a rule that is not elaborated, for those who count rules."""
    if key not in rule[:-1]:
        return ()
    value = rule[rule.index(key) + 1]
    return tuple([part for part in (value if isinstance(value, list) else [value]) if isinstance(part, str)])
