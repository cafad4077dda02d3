"""Templates: rules written once, with parameters inside their tokens (``left-$name``)."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate.context import Place, all_tokens, did_you_mean, is_name, is_object_name, token_text
from plansafe.verifier.rules.expanded_specs import RULE_KINDS
from plansafe.verifier.rules.tree_copies import TreeCopier


class Template(NamedTuple):
    """A template: its parameters, its rules, and where it stands."""

    parameters: list[str]
    rules: list[list[Node]]
    at: Place


def read_template(section: list[Node]) -> Template | None:
    """A ``(:template name ($p ..) rule ..)``; ``None`` where it is not written like this."""
    if len(section) < 4 or not is_name(section[1]) or not isinstance(section[2], list):
        return None
    parameters = [p for p in section[2] if isinstance(p, str) and len(p) > 1 and p[0] == "$"]
    rules = [rule for rule in section[3:] if isinstance(rule, list) and rule and token_text(rule[0]) in RULE_KINDS]
    complete = len(parameters) == len(section[2]) and len(rules) == len(section[3:])
    return Template(parameters, rules, Place(section)) if complete else None


def apply(copies: TreeCopier, section: list[Node], templates: dict[str, Template]) -> list[list[Node]]:
    """The rules that an ``(:apply template rule-name argument ..)`` makes; none after a diagnostic."""
    context = copies.context
    if len(section) < 3 or not is_name(section[1]) or not is_object_name(section[2]):
        context.error(
            SC.STRUCTURE, "expected `(:apply template rule-name argument ..)`", Place(section), "not an application"
        )
        return []
    found = templates.get(token_text(section[1]))
    if found is None:
        context.error(
            SC.UNKNOWN_RULE_NAME,
            f"unknown template `{token_text(section[1])}`",
            Place(section, 1),
            "not defined before this",
            help=did_you_mean(token_text(section[1]), templates),
        )
        return []
    parameters, body, at = found
    if len(section) - 3 != len(parameters):
        message = f"template `{section[1]}` takes {len(parameters)} arguments, not {len(section) - 3}"
        context.error(SC.ARITY, message, Place(section), f"{len(section) - 3} given", other=(at, "defined here"))
        return []
    values: dict[str, Node] = dict(zip(parameters, section[3:], strict=True))
    values["$name"] = section[2]
    places = {name: Place(section, child) for child, name in enumerate(["$name", *parameters], 2)}
    out = []
    for rule in body:
        made = copies.copy(rule, values, places)
        assert isinstance(made, list)
        out.append(made)
        left = sorted([token for token in all_tokens(made) if "$" in token and not token.startswith('"')])
        if left:
            message = f"`{left[0]}` names no parameter of template `{token_text(section[1])}`"
            context.error(SC.UNKNOWN_RULE_NAME, message, Place(section), "applied here", other=(at, "defined here"))
    return out
