"""Templates: rules with parameters inside their tokens (``left-$name``), and their application."""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate.context import (
    Context,
    Place,
    collect_tokens,
    did_you_mean,
    format_token,
    is_name,
    is_object_name,
)
from plansafe.verifier.rules.expanded_specs import RULE_KINDS
from plansafe.verifier.rules.tree_copies import TreeCopier


class Template(NamedTuple):
    """The parameters and rules of a template, and its place."""

    parameters: list[str]
    rules: list[list[Node]]
    at: Place


def read_template(context: Context, section: list[Node]) -> Template | None:
    """Read ``(:template name ($p ..) rule ..)``; ``None`` after a diagnostic."""
    if len(section) >= 4 and is_name(section[1]) and isinstance(section[2], list):
        parameters = [p for p in section[2] if isinstance(p, str) and len(p) > 1 and p[0] == "$"]
        rules = [
            rule for rule in section[3:] if isinstance(rule, list) and rule and format_token(rule[0]) in RULE_KINDS
        ]
        if len(parameters) == len(section[2]) and len(rules) == len(section[3:]):
            return Template(parameters, rules, Place(section))
    message = "expected `(:template name ($p ..) rule ..)`"
    context.error(SC.STRUCTURE, message, Place(section), "not a template")
    return None


def apply_template(copier: TreeCopier, section: list[Node], templates: dict[str, Template]) -> list[list[Node]]:
    """Return the rules of an ``(:apply template rule-name argument ..)``; no rules after a diagnostic."""
    context = copier.context
    if len(section) < 3 or not is_name(section[1]) or not is_object_name(section[2]):
        message = "expected `(:apply template rule-name argument ..)`"
        context.error(SC.STRUCTURE, message, Place(section), "not an application")
        return []
    name, arguments = format_token(section[1]), section[3:]
    template = templates.get(name)
    if template is None:
        message, help = f"unknown template `{name}`", did_you_mean(name, templates)
        context.error(SC.UNKNOWN_RULE_NAME, message, Place(section, 1), "not defined before this", help=help)
        return []
    definition = (template.at, "defined here")
    if len(arguments) != len(template.parameters):
        message = f"template `{name}` takes {len(template.parameters)} arguments, not {len(arguments)}"
        context.error(SC.ARITY, message, Place(section), f"{len(arguments)} given", related=definition)
        return []
    values: dict[str, Node] = dict(zip(template.parameters, arguments, strict=True))
    values["$name"] = section[2]
    places = {parameter: Place(section, child) for child, parameter in enumerate(["$name", *template.parameters], 2)}
    rules = []
    for template_rule in template.rules:
        rule = copier.copy(template_rule, values, places)
        assert isinstance(rule, list)
        rules.append(rule)
        unknown = sorted([token for token in collect_tokens(rule) if "$" in token and not token.startswith('"')])
        if unknown:
            message = f"`{unknown[0]}` names no parameter of template `{name}`"
            context.error(SC.UNKNOWN_RULE_NAME, message, Place(section), "applied here", related=definition)
    return rules
