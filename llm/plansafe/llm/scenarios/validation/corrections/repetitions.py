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
    """A repeated declaration is removed; of two declarations that differ the first counts.

    A declaration of an extension that differs from its base is removed: the base counts.
    """
    survey = view.survey
    out: list[Edit] = []
    for subject, entry, first in survey.repeated:
        if not entry.draft.editable:
            continue
        if subject == "type":
            out += _type(entry, first)
        elif subject == "object":
            out += _object(entry, first)
        elif _signature(entry) != _signature(first) or entry.draft is first.draft:
            differs = _signature(entry) != _signature(first)
            reason = _reason(subject, entry.name, entry.draft is not first.draft, differs)
            out.append(Edit(RULE, reason, (_removed_line(entry.draft, entry.node),)))
    for action, first_action in survey.repeated_actions:
        if action.draft.editable and (action.draft is first_action.draft or not same(action.node, first_action.node)):
            differs = not same(action.node, first_action.node)
            reason = _reason("action", action.name, action.draft is not first_action.draft, differs)
            out.append(Edit(RULE, reason, (_removed_line(action.draft, action.node),)))
    return out or _variables(view)


def _reason(subject: str, name: str, base: bool, differs: bool) -> str:
    if base:
        return f"{subject} `{name}` is declared differently in the base: the base is used"
    text = "differently: the first is used" if differs else "alike"
    return f"{subject} `{name}` is declared twice, {text}"


def _signature(declaration: Declared) -> list[tuple[str, ...] | None]:
    return [entry.types for entry in declaration.parameters]


def _type(entry: Declared, first: Declared) -> list[Edit]:
    if entry.draft is first.draft:
        differs = set(entry.types) - {"object"} - set(first.types)
        if entry.node is first.node and not differs:
            return [_unlisted(entry, _reason("type", entry.name, False, False))]
        return []  # a second parent is allowed
    if set(entry.types) - {"object"} - set(first.types):
        return [_unlisted(entry, _reason("type", entry.name, True, True))]
    return []


def _object(entry: Declared, first: Declared) -> list[Edit]:
    if entry.draft is first.draft:
        return [_unlisted(entry, _reason("object", entry.name, False, entry.types != first.types))]
    if entry.types != first.types:  # a constant of the domain may be an object again, of the same type
        return [
            _unlisted(entry, f"object `{entry.name}` is a constant of the domain with another type: the domain is used")
        ]
    return []


def _unlisted(entry: Declared, reason: str) -> Edit:
    """One name out of a typed list, with its type if no other name has it."""
    draft, node, child = entry.draft, entry.node, entry.child or 0
    return Edit(RULE, reason, (without_name(draft, node, child),))


def without_name(draft: Draft, node: list[Node], child: int) -> TextEdit:
    """Leave a name of a typed list out."""
    lonely = child + 1 < len(node) and node[child + 1] == "-" and (child == 1 or node[child - 2] == "-")
    last = child + 2 if lonely and child + 2 < len(node) else child
    span = Span(draft.span(node, child).start, draft.span(node, last).end)
    return TextEdit(draft.name, draft.gap(span), "")


def _removed_line(draft: Draft, node: list[Node]) -> TextEdit:
    return TextEdit(draft.name, draft.gap(draft.span(node)), "")


def _variables(view: View) -> list[Edit]:
    """A parameter that an action lists twice."""
    out: list[Edit] = []
    for action in view.survey.actions.values():
        if not action.draft.editable or ":parameters" not in action.fields:
            continue
        value = action.node[action.fields[":parameters"]]
        visited: set[str] = set()
        for entry in action.parameters:
            if entry.name in visited and isinstance(value, list):
                lonely = entry.types_child == entry.child + 2 and (
                    entry.child == 0 or value[entry.child - 2 : entry.child - 1] == ["-"]
                )
                last = entry.types_child if lonely and entry.types_child is not None else entry.child
                span = Span(action.draft.span(value, entry.child).start, action.draft.span(value, last).end)
                reason = f"parameter `{entry.name}` of action `{action.name}` is listed twice"
                out.append(Edit(RULE, reason, (TextEdit(action.draft.name, action.draft.gap(span), ""),)))
                break
            visited.add(entry.name)
    return out
