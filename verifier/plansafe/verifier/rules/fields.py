"""The fields of a rule that are not formulas: which exist, which are missing, and the texts and targets in them."""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.sexpr import Node, unquote_text
from plansafe.verifier.elaborate.context import Context, Place, did_you_mean, format_token, is_object_name
from plansafe.verifier.elaborate.symbols import Scope
from plansafe.verifier.rules.expanded_specs import STEP_FIELDS
from plansafe.verifier.rules.verdict_criteria import SEVERITIES

_DEMAND_KEYS = (":forbid", ":require")
_DEMAND_AFTER_KEYS = (":forbid-after", ":require-after")
_METADATA_KEYS = (":hazard", ":target", ":severity", ":message", ":rationale", ":source", ":fix")
FIELDS = {
    ":process": (":parameters", *STEP_FIELDS, ":when", *_DEMAND_KEYS, *_DEMAND_AFTER_KEYS, *_METADATA_KEYS),
    ":trajectory": (":parameters", ":formula", *_METADATA_KEYS),
    ":termination": (":parameters", ":when", *_DEMAND_KEYS, *_METADATA_KEYS),
    ":obligation": (":parameters", ":when", ":then", ":within", *_METADATA_KEYS),
}
TARGETS = ("human", "animal", "robot", "property", "environment")


class RuleMetadata(NamedTuple):
    """The fields of a rule that findings print."""

    hazard: str | None
    targets: tuple[str, ...]
    severity: str
    message: str | None
    rationale: str | None
    rationale_source: str | None
    fix: str | None


def check_required_fields(context: Context, kind: str, node: list[Node], fields: dict[str, Place]) -> None:
    """Report required fields that are missing."""
    if kind == ":trajectory" and ":formula" not in fields:
        context.error(SC.STRUCTURE, "a trajectory rule needs `:formula`", Place(node, 1), "what must hold?")
    elif kind == ":obligation":
        for key in (":when", ":then"):
            if key not in fields:
                label = "expected `:when` and `:then`"
                context.error(SC.STRUCTURE, f"an obligation needs `{key}`", Place(node, 1), label)
    elif kind in (":process", ":termination"):
        if not any([key in fields for key in (*_DEMAND_KEYS, *_DEMAND_AFTER_KEYS)]):
            label = "expected `:forbid` or `:require`"
            context.error(SC.STRUCTURE, "the rule forbids and requires nothing", Place(node, 1), label)
        for key in _DEMAND_AFTER_KEYS:
            if key in fields and not any([step in fields for step in STEP_FIELDS]):
                help = "add `:on (action ..)`"
                context.error(SC.STRUCTURE, f"`{key}` needs a step", fields[key], "after which step?", help=help)


def check_text_variables(context: Context, fields: dict[str, Place], scope: Scope) -> None:
    """Report variables in messages and fixes that are not variables of the rule."""
    names = {v.name for v in scope.slots}
    for key in (":message", ":fix"):
        text = fields[key].subtree if key in fields else None
        for piece in text.split("{")[1:] if isinstance(text, str) else []:
            name = piece.partition("}")[0]
            if name.startswith("?") and name.lower() not in names:
                help = did_you_mean(name, names)
                message = f"variable `{name}` is not bound in this rule"
                context.error(SC.UNBOUND_VARIABLE, message, fields[key], "in this text", help=help)


def read_metadata(context: Context, fields: dict[str, Place]) -> RuleMetadata:
    """Read hazard, targets, severity and texts; report mistakes."""
    hazard = _read_word(context, fields, ":hazard")
    if hazard is not None and not is_object_name(hazard):
        context.error(SC.STRUCTURE, f"`{hazard}` does not name a hazard", fields[":hazard"], "expected a name")
    severity = _read_word(context, fields, ":severity") or "high"
    if severity not in SEVERITIES:
        expected, help = f"one of {', '.join(SEVERITIES)}", did_you_mean(severity, SEVERITIES)
        context.error(SC.STRUCTURE, f"unknown severity `{severity}`", fields[":severity"], expected, help=help)
    targets: tuple[str, ...] = ()
    if ":target" in fields:
        value = fields[":target"].subtree
        targets = tuple([format_token(token) for token in (value if isinstance(value, list) else [value])])
        for target in targets:
            if target not in TARGETS:
                expected, help = f"one of {', '.join(TARGETS)}", did_you_mean(target, TARGETS)
                message = f"unknown target of harm `{target}`"
                context.error(SC.STRUCTURE, message, fields[":target"], expected, help=help)
    texts = []
    for key in (":message", ":rationale", ":source", ":fix"):
        text = _read_word(context, fields, key)
        if text is not None and not text.startswith('"'):
            context.error(SC.STRUCTURE, f"`{key}` takes a string", fields[key], 'expected `".."`')
        texts.append(None if text is None else unquote_text(text))
    return RuleMetadata(hazard, targets, severity, *texts)


def _read_word(context: Context, fields: dict[str, Place], key: str) -> str | None:
    """Return the token in a field; ``None`` without the field, and after a diagnostic."""
    if key not in fields:
        return None
    value = fields[key].subtree
    if isinstance(value, str):
        return value
    context.error(SC.STRUCTURE, f"`{key}` takes one word", fields[key], "expected a word, found a list")
    return None


def find_field_words(rule: list[Node], key: str) -> tuple[str, ...]:
    """Return the words in a field of the tree of a rule."""
    if key not in rule[:-1]:
        return ()
    value = rule[rule.index(key) + 1]
    return tuple([token for token in (value if isinstance(value, list) else [value]) if isinstance(token, str)])
