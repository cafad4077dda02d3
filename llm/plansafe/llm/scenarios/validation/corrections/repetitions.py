"""Declarations that occur twice, and what an extension repeats of its base."""

from __future__ import annotations

from plansafe.grammar.diagnostics import Span
from plansafe.grammar.sexpr import Node
from plansafe.llm.scenarios.validation.corrections.view import View
from plansafe.llm.scenarios.validation.drafts import Draft, Edit, TextEdit
from plansafe.llm.scenarios.validation.merge import same
from plansafe.llm.scenarios.validation.survey import Declared

RULE = "repetition"


def repetitions(view: View) -> list[Edit]:
    """What is declared twice in one text is declared once; of two declarations that differ the first stands.

    What an extension repeats of its base is left out where it differs: the base stands.
    """
    survey = view.survey
    out: list[Edit] = []
    for what, own, first in survey.repeated:
        if not own.draft.editable:
            continue
        if what == "type":
            out += _type(own, first)
        elif what == "object":
            out += _object(own, first)
        elif _signature(own) != _signature(first) or own.draft is first.draft:
            reason = _reason(what, own.name, own.draft is not first.draft, _signature(own) != _signature(first))
            out.append(Edit(RULE, reason, (_whole(own.draft, own.node),)))
    for action, other in survey.repeated_actions:
        if action.draft.editable and (action.draft is other.draft or not same(action.node, other.node)):
            reason = _reason("action", action.name, action.draft is not other.draft, not same(action.node, other.node))
            out.append(Edit(RULE, reason, (_whole(action.draft, action.node),)))
    return out or _variables(view)


def _reason(what: str, name: str, base: bool, differs: bool) -> str:
    if base:
        return f"{what} `{name}` is declared differently in the base: the base is used"
    said = "differently: the first is used" if differs else "alike"
    return f"{what} `{name}` is declared twice, {said}"


def _signature(own: Declared) -> list[tuple[str, ...] | None]:
    return [entry.types for entry in own.parameters]


def _type(own: Declared, first: Declared) -> list[Edit]:
    if own.draft is first.draft:
        differs = set(own.types) - {"object"} - set(first.types)
        if own.node is first.node and not differs:
            return [_unlisted(own, _reason("type", own.name, False, False))]
        return []  # a second parent is allowed
    if set(own.types) - {"object"} - set(first.types):
        return [_unlisted(own, _reason("type", own.name, True, True))]
    return []


def _object(own: Declared, first: Declared) -> list[Edit]:
    if own.draft is first.draft:
        return [_unlisted(own, _reason("object", own.name, False, own.types != first.types))]
    if own.types != first.types:  # a constant of the domain may be an object again, of the same type
        return [
            _unlisted(own, f"object `{own.name}` is a constant of the domain with another type: the domain is used")
        ]
    return []


def _unlisted(own: Declared, reason: str) -> Edit:
    """One name out of a typed list, with its type if no other name has it."""
    draft, node, child = own.draft, own.node, own.child or 0
    return Edit(RULE, reason, (without_name(draft, node, child),))


def without_name(draft: Draft, node: list[Node], child: int) -> TextEdit:
    """Leave a name of a typed list out."""
    lonely = child + 1 < len(node) and node[child + 1] == "-" and (child == 1 or node[child - 2] == "-")
    last = child + 2 if lonely and child + 2 < len(node) else child
    span = Span(draft.span(node, child).start, draft.span(node, last).end)
    return TextEdit(draft.name, draft.gap(span), "")


def _whole(draft: Draft, node: list[Node]) -> TextEdit:
    return TextEdit(draft.name, draft.gap(draft.span(node)), "")


def _variables(view: View) -> list[Edit]:
    """A parameter that an action lists twice."""
    out: list[Edit] = []
    for action in view.survey.actions.values():
        if not action.draft.editable or ":parameters" not in action.fields:
            continue
        value = action.node[action.fields[":parameters"]]
        seen: set[str] = set()
        for entry in action.parameters:
            if entry.name in seen and isinstance(value, list):
                lonely = entry.types_child == entry.child + 2 and (
                    entry.child == 0 or value[entry.child - 2 : entry.child - 1] == ["-"]
                )
                last = entry.types_child if lonely and entry.types_child is not None else entry.child
                span = Span(action.draft.span(value, entry.child).start, action.draft.span(value, last).end)
                reason = f"parameter `{entry.name}` of action `{action.name}` is listed twice"
                out.append(Edit(RULE, reason, (TextEdit(action.draft.name, action.draft.gap(span), ""),)))
                break
            seen.add(entry.name)
    return out
