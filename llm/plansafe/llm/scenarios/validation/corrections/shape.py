"""The shape of a definition: its head, its sections, the fields of its actions, and ``and`` where it was left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from plansafe.grammar.sexpr import Node
from plansafe.llm.scenarios.validation.corrections.view import View, cover, is_field, nearest
from plansafe.llm.scenarios.validation.drafts import Draft, Edit, TextEdit
from plansafe.verifier.elaborate.context import is_object_name, is_variable
from plansafe.verifier.elaborate.problem import PROBLEM_SECTIONS
from plansafe.verifier.elaborate.sections import DOMAIN_SECTIONS, REPEATABLE_SECTIONS

_SECTIONS = {"domain": DOMAIN_SECTIONS | REPEATABLE_SECTIONS, "problem": PROBLEM_SECTIONS}
_SYNONYMS = {
    ":initial": ":init", ":initial-state": ":init", ":initial_state": ":init", ":initially": ":init",
    ":state": ":init", ":goals": ":goal", ":goal-state": ":goal", ":goal_state": ":goal", ":objective": ":goal",
    ":instances": ":objects", ":fluents": ":functions", ":relations": ":predicates", ":params": ":parameters",
    ":param": ":parameters", ":args": ":parameters", ":arguments": ":parameters", ":vars": ":parameters",
    ":variables": ":parameters", ":pre": ":precondition", ":preconds": ":precondition", ":precond": ":precondition",
    ":requires": ":precondition", ":post": ":effect", ":postcondition": ":effect", ":postconditions": ":effect",
    ":eff": ":effect", ":result": ":effect"
}  # fmt: skip
_FIELDS = (":parameters", ":precondition", ":effect")
_NOTHING = frozenset(("nil", "none", "null", "true", "empty"))


def header(view: View) -> list[Edit]:
    """``(define (domain name) ..)``."""
    out: list[Edit] = []
    for kind, draft in view.editable:
        form = draft.form
        if len(form) > 2 and form[1] == kind and isinstance(form[2], str):
            change = TextEdit(draft.name, cover(draft, form, 1, 2), f"({kind} {form[2]})")
            out.append(Edit("header", f"the head is `({kind} name)`", (change,)))
        elif len(form) > 1 and form[1] == [kind]:
            name = view.base.form[1][1] if kind == "domain" and view.base is not None else "unnamed"
            out.append(Edit("header", f"the {kind} has no name", (draft.change(form, 1, f"({kind} {name})"),)))
        elif (
            len(form) > 1 and isinstance(form[1], list) and len(form[1]) > 2 and form[1][0] == kind
            and all([is_object_name(word) for word in form[1][1:]])
        ):  # fmt: skip
            joined = "-".join([str(word) for word in form[1][1:]])
            change = draft.change(form, 1, f"({kind} {joined})")
            out.append(Edit("header", f"the name of the {kind} is one word", (change,)))
    return out


def sections(view: View) -> list[Edit]:
    """Sections whose keyword lacks its colon, or is misspelled."""
    out: list[Edit] = []
    for kind, draft in view.editable:
        declared = _SECTIONS[kind]
        for node in draft.form[2:]:
            if not isinstance(node, list) or not node or not isinstance(node[0], str) or node[0] in declared:
                continue
            word = node[0] if node[0][0] == ":" else ":" + node[0]
            intended = word if word in declared else _SYNONYMS.get(word) or nearest(word, declared)
            if intended in declared and intended is not None:
                out.append(view.renamed(draft, node, 0, "keyword", f"`{node[0]}` is read as `{intended}`", intended))
    return out


def twice(view: View) -> list[Edit]:
    """A section that occurs twice: what the second holds is put into the first."""
    for kind, draft in view.editable:
        for head in sorted(_SECTIONS[kind] - REPEATABLE_SECTIONS):
            matches = draft.sections(head)
            if len(matches) < 2 or head in (":goal", ":metric", ":domain", ":length", ":constraints"):
                continue
            first, second = matches[0], matches[1]
            inner = draft.text[draft.span(second, 0).end : draft.span(second).end - 1]
            text = inner.strip()
            dash = (
                head in (":types", ":constants", ":objects") and len(first) > 1 and (len(first) < 3 or first[-2] != "-")
            )
            glue = " - object\n    " if dash else "\n    "
            changes = (
                TextEdit(draft.name, draft.gap(draft.span(second)), ""),
                draft.insert(draft.span(first, len(first) - 1).end, glue + text if text else ""),
            )
            return [Edit("section-twice", f"`{head}` occurs twice: the second is merged into the first", changes)]
    return []


def goal_and_domain(view: View) -> list[Edit]:
    """The problem names its domain; its goal is one condition; ``:init`` is a list of facts."""
    draft = view.problem
    out: list[Edit] = []
    form = draft.form
    name = _domain_name(view)
    if name is not None and not draft.sections(":domain") and len(form) > 1:
        change = draft.insert(draft.span(form, 1).end, f"\n  (:domain {name})")
        out.append(Edit("domain-name", "the problem does not name its domain", (change,)))
    for node in draft.sections(":domain")[:1]:
        if name is not None and len(node) == 2 and isinstance(node[1], str) and node[1] != name:
            reason = f"the domain is called `{name}`, not `{node[1]}`"
            out.append(view.renamed(draft, node, 1, "domain-name", reason, name))
    for node in draft.sections(":goal"):
        lists = [child for child in range(1, len(node)) if isinstance(node[child], list)]
        if len(lists) > 1 and len(lists) == len(node) - 1:
            out.append(_joined(draft, node, 1, len(node) - 1, "the goal is one condition"))
    for node in draft.sections(":init"):
        for child in range(1, len(node)):
            fact = node[child]
            if isinstance(fact, list) and fact and fact[0] == "and" and all([isinstance(p, list) for p in fact[1:]]):
                place = draft.span(fact)
                inner = draft.text[draft.span(fact, 0).end : place.end - 1].strip()
                reason = "`:init` lists its facts without `and`"
                out.append(Edit("and", reason, (TextEdit(draft.name, place, inner),)))
    return out


def _domain_name(view: View) -> str | None:
    entry = view.domain if view.domain is not None and view.domain.form else view.base
    head = entry.form[1] if entry is not None and len(entry.form) > 1 else None
    return head[1] if isinstance(head, list) and len(head) == 2 and isinstance(head[1], str) else None


def _joined(draft: Draft, node: list[Node], first: int, last: int, reason: str) -> Edit:
    start, end = draft.span(node, first).start, draft.span(node, last).end
    changes = (draft.insert(start, "(and "), draft.insert(end, ")"))
    return Edit("and", f"{reason}: its parts are joined by `and`", changes)


# -- actions ----------------------------------------------------------------------------------------------------------


def fields(view: View) -> list[Edit]:
    """The fields of actions: their keywords, their values, those that are missing."""
    out: list[Edit] = []
    for draft, node in _actions(view):
        declared = _FIELDS if node[0] == ":action" else (":parameters", ":duration", ":condition", ":effect")
        renamed = []
        for child in range(2, len(node)):
            key = node[child]
            if not isinstance(key, str) or key[0] != ":" or key in declared:
                continue
            intended = _SYNONYMS.get(key) or nearest(key, declared)
            if intended is not None and intended in declared and intended not in node:
                reason = f"`{key}` is read as `{intended}`"
                renamed.append(view.renamed(draft, node, child, "keyword", reason, intended))
        out += renamed or _bare_fields(view, draft, node, declared) or _values(draft, node) or _missing(draft, node)
    return out


def _actions(view: View) -> Iterator[tuple[Draft, list[Node]]]:
    for _, draft in view.editable:
        for head in (":action", ":durative-action"):
            for node in draft.sections(head):
                if len(node) > 1 and isinstance(node[1], str):
                    yield draft, node


def _bare_fields(view: View, draft: Draft, node: list[Node], declared: Iterable[str]) -> list[Edit]:
    """Keywords without colon: ``effect (..)``."""
    out = []
    for child in range(2, len(node) - 1):
        word = node[child]
        if (
            isinstance(word, str)
            and word[0] != ":"
            and isinstance(node[child + 1], list)
            and not is_field(node[child - 1])
        ):
            intended = ":" + word if ":" + word in declared else _SYNONYMS.get(":" + word)
            if intended is not None and intended in declared and intended not in node:
                out.append(view.renamed(draft, node, child, "keyword", f"`{word}` is read as `{intended}`", intended))
    return out


def _values(draft: Draft, node: list[Node]) -> list[Edit]:
    """One list after each keyword."""
    out: list[Edit] = []
    keys = [child for child in range(2, len(node)) if is_field(node[child])]
    for key, following in pairwise([*keys, len(node)]):
        word, values = node[key], node[key + 1 : following]
        if not values:
            change = draft.insert(draft.span(node, key).end, " ()")
            out.append(Edit("value", f"`{word}` has no value", (change,)))
        elif len(values) == 1 and values[0] in list(_NOTHING):
            reason = f"`{word} {values[0]}` is written `{word} ()`"
            out.append(Edit("value", reason, (draft.change(node, key + 1, "()"),)))
        elif word == ":parameters":
            out += _parameters(draft, node, key + 1, following - 1)
        elif word == ":duration":
            continue
        elif len(values) == 1 and isinstance(values[0], str):
            out.append(_wrapped(draft, node, key + 1, key + 1, f"the value of `{word}` is a list"))
        elif len(values) > 1 and all([isinstance(v, list) for v in values]):
            out.append(_joined(draft, node, key + 1, following - 1, f"`{word}` takes one formula"))
    return out


def _parameters(draft: Draft, node: list[Node], first: int, last: int) -> list[Edit]:
    """Parameters are one flat list: not bare words, not several lists, not a list in a list."""
    values = node[first : last + 1]
    if isinstance(values[0], str):
        if all([isinstance(v, str) or v[:1] == ["either"] for v in values]):
            return [_wrapped(draft, node, first, last, "parameters are one list")]
        return []
    inside = [value for value in values if isinstance(value, list)]
    nested = len(values) == 1 and len(inside[0]) == 1 and isinstance(inside[0][0], list)
    if len(inside) < len(values) or (len(values) == 1 and not nested):
        return []
    texts = [
        draft.text[draft.span(node, c).start + 1 : draft.span(node, c).end - 1].strip() for c in range(first, last + 1)
    ]
    text = texts[0] if nested else f"({' '.join([text for text in texts if text])})"
    change = TextEdit(draft.name, cover(draft, node, first, last), text)
    return [Edit("value", "parameters are one list", (change,))]


def _wrapped(draft: Draft, node: list[Node], first: int, last: int, reason: str) -> Edit:
    span = cover(draft, node, first, last)
    return Edit("value", reason, (TextEdit(draft.name, span, f"({draft.text[span.start : span.end]})"),))


def _missing(draft: Draft, node: list[Node]) -> list[Edit]:
    """Fields that an action does not have: ``()`` says the same, and every planner reads it."""
    if node[0] != ":action":
        return []
    out = []
    for number, field in enumerate(_FIELDS[:2]):
        if field not in node:
            before = [child for child in range(2, len(node) - 1) if node[child] in _FIELDS[:number]]
            at = before[-1] + 1 if before else 1
            change = draft.insert(draft.span(node, at).end, f"\n    {field} ()")
            out.append(Edit("field", f"the action has no `{field}`: none is written `()`", (change,)))
            break
    return out


# -- conditions and effects -------------------------------------------------------------------------------------------


def conjunctions(view: View) -> list[Edit]:
    """Lists of lists, and several operands where one is meant, are conjunctions whose ``and`` was left out."""
    out: list[Edit] = []
    for _, draft in view.editable:
        for node, child in _formulas(draft):
            out += _in(draft, node, child)
    return out


def _formulas(draft: Draft) -> Iterator[tuple[list[Node], int]]:
    for head in (":action", ":durative-action"):
        for node in draft.sections(head):
            for child in range(3, len(node)):
                if node[child - 1] in (":precondition", ":effect", ":condition"):
                    yield node, child
    for head in (":goal", ":constraints"):
        for node in draft.sections(head):
            if len(node) == 2:
                yield node, 1
    for node in draft.sections(":derived"):
        if len(node) == 3:
            yield node, 2


def _in(draft: Draft, parent: list[Node], child: int) -> Iterator[Edit]:
    stack: list[tuple[list[Node], int]] = [(parent, child)]
    while stack:
        holder, number = stack.pop()
        node = holder[number]
        if not isinstance(node, list) or not node:
            continue
        head = node[0]
        first = 1
        if isinstance(head, list):
            if all([isinstance(part, list) for part in node]):
                change = draft.insert(draft.span(node).start + 1, "and ")
                yield Edit("and", "a list of conditions is a conjunction", (change,))
                continue
        elif head in ("forall", "exists"):
            yield from _variables(draft, node)
            if len(node) > 3 and isinstance(node[1], list) and all([isinstance(part, list) for part in node[2:]]):
                yield _joined(draft, node, 2, len(node) - 1, f"`{head}` takes one formula")
                continue
            first = 2
        elif head == "not" and len(node) > 2 and all([isinstance(part, list) for part in node[1:]]):
            yield _apart(draft, node)
            continue
        elif head == "not" and len(node) > 1 and all([isinstance(part, str) for part in node[1:]]):
            yield _wrapped(draft, node, 1, len(node) - 1, "`not` takes a condition in parentheses")._replace(rule="not")
            continue
        elif head == "when" and len(node) > 3 and all([isinstance(part, list) for part in node[1:]]):
            yield _joined(draft, node, 2, len(node) - 1, "`when` takes one condition and one effect")
            continue
        stack += [(node, number) for number in range(len(node) - 1, first - 1, -1)]


def _variables(draft: Draft, node: list[Node]) -> Iterator[Edit]:
    """The variables of a quantifier need parentheses."""
    last = 1
    while last < len(node) and isinstance(node[last], str):
        last += 1
    if last > 1 and is_variable(node[1]):
        yield _wrapped(draft, node, 1, last - 1, f"the variables of `{node[0]}` need parentheses")


def _apart(draft: Draft, node: list[Node]) -> Edit:
    """``(not (p) (q))`` says of each that it is false."""
    parts = [draft.text[slice(*draft.span(node, child))] for child in range(1, len(node))]
    text = " ".join([f"(not {part})" for part in parts])
    reason = "`not` takes one condition: each is negated"
    return Edit("not", reason, (TextEdit(draft.name, draft.span(node), f"(and {text})"),))
