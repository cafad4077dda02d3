"""Single words: operators of other languages, truth values as arguments, ``?`` and ``-`` that were left out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from plansafe.grammar.sexpr import Node
from plansafe.llm.scenarios.validation.corrections.view import FOREIGN, View
from plansafe.llm.scenarios.validation.drafts import Draft, Edit, TextEdit
from plansafe.llm.scenarios.validation.survey import ROOT, ActionText
from plansafe.verifier.elaborate.context import is_name, is_object_name, is_variable

_UNEQUAL = frozenset(("!=", "/=", "<>", "\u2260"))
_TRUTH = {"true": True, "t": True, "yes": True, "false": False, "no": False}


def operators(view: View) -> list[Edit]:
    """Operators as other languages write them."""
    out: list[Edit] = []
    declared = {*view.survey.predicates, *view.survey.functions}
    for draft, node in _lists(view):
        head = node[0]
        if not isinstance(head, str) or head in declared:
            continue
        if head in FOREIGN:
            intended = FOREIGN[head]
            out.append(view.renamed(draft, node, 0, "operator", f"`{head}` is read as `{intended}`", intended))
        elif head in _UNEQUAL and len(node) == 3:
            terms = draft.text[draft.span(node, 1).start : draft.span(node).end - 1].rstrip()
            change = TextEdit(draft.name, draft.span(node), f"(not (= {terms}))")
            out.append(Edit("operator", f"`({head} a b)` is written `(not (= a b))`", (change,)))
        elif head[0] == "!" and len(head) > 1 and head[1:] in view.survey.predicates:
            text = draft.text[draft.span(node).start + 1 : draft.span(node).end - 1].lstrip()[1:]
            out.append(Edit("operator", "`!` is written `not`", (draft.change(node, None, f"(not ({text}))"),)))
    return out


def _lists(view: View) -> Iterator[tuple[Draft, list[Node]]]:
    """All lists inside formulas and facts, outermost first."""
    for _, draft in view.editable:
        stack: list[Node] = [
            part for section in draft.form[2:] if isinstance(section, list) and section for part in section[1:]
            if section[0] in (":action", ":durative-action", ":init", ":goal", ":constraints", ":derived")
        ]  # fmt: skip
        while stack:
            node = stack.pop()
            if isinstance(node, list) and node:
                yield draft, node
                stack.extend(node)


def truths(view: View) -> list[Edit]:
    """``(open door true)`` and ``(= (open door) false)``: facts hold or they do not."""
    out: list[Edit] = []
    survey = view.survey
    for use in survey.uses:
        declared = survey.predicates.get(use.name)
        last = use.node[-1]
        if declared is None or use.function:
            continue
        if not isinstance(last, str) or last not in _TRUTH or last in survey.objects:
            continue
        if len(use.node) - 2 == len(declared.parameters) and use.draft.editable:
            positions = (
                use.draft.text[use.draft.span(use.node).start : use.draft.span(use.node, len(use.node) - 2).end] + ")"
            )
            text = positions if _TRUTH[last] else f"(not {positions})"
            change = use.draft.change(use.node, None, text)
            out.append(Edit("truth-value", f"`{last}` is not an argument: a fact is true or negated", (change,)))
    for draft, node in _lists(view):
        if node[0] == "=" and len(node) == 3 and isinstance(node[1], list) and isinstance(node[2], str):
            inner = node[1]
            if node[2] in _TRUTH and inner and isinstance(inner[0], str) and inner[0] in survey.predicates:
                positions = draft.text[slice(*draft.span(inner))]
                text = positions if _TRUTH[node[2]] else f"(not {positions})"
                reason = f"a fact is not compared with `{node[2]}`: it is true or negated"
                out.append(Edit("truth-value", reason, (draft.change(node, None, text),)))
    return out


def dashes(view: View) -> list[Edit]:
    """``?x : type``, ``?x:type`` and ``?x type`` for ``?x - type``."""
    out: list[Edit] = []
    survey = view.survey
    declared = {*survey.types, ROOT}
    used = {argument for use in survey.uses for argument in use.arguments if isinstance(argument, str)}
    for draft, node, start, valid in _typed_lists(view):
        for child in range(start, len(node)):
            item = node[child]
            if not isinstance(item, str):
                continue
            name, colon, kind = item.partition(":")
            if colon and name and kind in declared:
                reason = "a type follows a dash, not a colon"
                out.append(Edit("dash", reason, (draft.change(node, child, f"{name} - {kind}"),)))
            elif item == ":" or (item.endswith(":") and child + 1 < len(node) and node[child + 1] in declared):
                text = f"{item[:-1]} -".strip()
                out.append(Edit("dash", "a type follows a dash, not a colon", (draft.change(node, child, text),)))
            elif _untied(node, child, start, valid == "variable", declared - used):
                change = draft.insert(draft.span(node, child).start, "- ")
                out.append(Edit("dash", f"`{item}` is a type: it needs a dash before it", (change,)))
            elif len(item) > 1 and item[0] == "-" and item[1:] in declared and child > start:
                out.append(
                    Edit("dash", "the dash needs a space after it", (draft.change(node, child, f"- {item[1:]}"),))
                )
    return out


def parents(view: View) -> list[Edit]:
    """In ``:types``, a type at the end of a line and is declared elsewhere is the parent of that line."""
    out: list[Edit] = []
    for section in view.domain.sections(":types") if view.domain is not None else ():
        draft = view.domain
        assert draft is not None
        for child in range(2, len(section)):
            item, before = section[child], section[child - 1]
            if not isinstance(item, str) or before == "-" or item == "-" or not isinstance(before, str):
                continue
            place, last = draft.span(section, child), child + 1 == len(section)
            follows = draft.text[place.end : draft.span(section, child + 1).start] if not last else "\n"
            same_line = "\n" not in draft.text[draft.span(section, child - 1).end : place.start]
            elsewhere = (
                item == ROOT or section.count(item) > sum([p == "-" for p, i in pairwise(section) if i == item]) + 1
            )
            ends = "\n" in follows and (last or section[child + 1] != "-")
            if same_line and ends and elsewhere and item not in section[1 : child - 1][-1:]:
                reason = f"`{item}` is declared elsewhere: the parent of the types before it"
                out.append(Edit("dash", reason, (draft.insert(place.start, "- "),)))
    return out


def _untied(node: list[Node], child: int, start: int, variables: bool, kinds: set[str]) -> bool:
    """Whether a child is a type that lacks the dash before it. ``kinds`` are types that name no object in use."""
    item = node[child]
    if item not in kinds or child == start or node[child - 1] == "-" or str(node[child - 1]).endswith(":"):
        return False
    if variables:
        return is_variable(node[child - 1])
    last = child + 1 == len(node) or node[child + 1] != "-"
    return last and is_object_name(node[child - 1]) and node[child - 1] not in kinds and node[child - 2] != "-"


def _typed_lists(view: View) -> Iterator[tuple[Draft, list[Node], int, str]]:
    for _, draft in view.editable:
        for head in (":objects", ":constants"):
            for section in draft.sections(head):
                yield draft, section, 1, "object"
        for head in (":predicates", ":functions"):
            for section in draft.sections(head):
                for node in section[1:]:
                    if isinstance(node, list):
                        yield draft, node, 1, "variable"
        for head in (":action", ":durative-action"):
            for node in draft.sections(head):
                for child in range(3, len(node)):
                    value = node[child]
                    if node[child - 1] == ":parameters" and isinstance(value, list):
                        yield draft, value, 0, "variable"
    for draft, node in _lists(view):
        if node[0] in ("forall", "exists") and len(node) > 1 and isinstance(node[1], list):
            yield draft, node[1], 0, "variable"


def question_marks(view: View) -> list[Edit]:
    """Variables without their question mark: where they are declared, and where they are used."""
    out: list[Edit] = []
    survey = view.survey
    for draft, node, start, valid in _typed_lists(view):
        if valid != "variable":
            continue
        child = start
        while child < len(node):
            item = node[child]
            if item == "-":
                child += 2
                continue
            if is_name(item) and item not in (*survey.types, ROOT):
                out.append(_marked(draft, node, child, f"`{item}` is a variable here"))
            child += 1
    for use in survey.uses:
        if not use.draft.editable or use.place in ("init", "goal"):
            continue
        for number, argument in enumerate(use.node[1:], 1):
            if isinstance(argument, str) and argument not in survey.objects and "?" + argument in use.scope:
                out.append(_marked(use.draft, use.node, number, f"`{argument}` is the variable `?{argument}`"))
            elif isinstance(argument, str) and is_name(argument) and _undeclared_parameter(use.action, argument):
                out.append(_marked(use.draft, use.node, number, f"`{argument}` is a parameter"))
    return out


def _undeclared_parameter(action: ActionText | None, argument: str) -> bool:
    """Whether an action declares the name among its parameters, also there without question mark."""
    return action is not None and any([entry.name == argument for entry in action.parameters])


def _marked(draft: Draft, node: list[Node], child: int, reason: str) -> Edit:
    return Edit("variable", f"{reason}: variables begin with `?`", (draft.insert(draft.span(node, child).start, "?"),))
