"""Facts of ``:init``, effects and requirements: what says nothing, contradicts itself, or other planners miss."""

from __future__ import annotations

from collections.abc import Iterator

from plansafe.grammar.sexpr import Node, format_node, parse_number
from plansafe.llm.scenarios.validation.corrections.view import View, signature
from plansafe.llm.scenarios.validation.drafts import Draft, Edit
from plansafe.llm.scenarios.validation.survey import ROOT
from plansafe.verifier.elaborate.context import is_name
from plansafe.verifier.elaborate.sections import REQUIREMENTS

_IMPLIED = {
    ":adl": (
        ":strips", ":typing", ":negative-preconditions", ":disjunctive-preconditions", ":equality",
        ":existential-preconditions", ":universal-preconditions", ":quantified-preconditions", ":conditional-effects",
    ),
    ":quantified-preconditions": (":existential-preconditions", ":universal-preconditions"),
    ":fluents": (":numeric-fluents",),
    ":numeric-fluents": (":fluents", ":action-costs"),
}  # fmt: skip


def negated(view: View) -> list[Edit]:
    """Facts that do not hold are not listed in ``:init``."""
    if ":open" in view.fixed_words:
        return []  # where a specification leaves facts open, it says something that they are false
    draft = view.problem
    out: list[Edit] = []
    for section in draft.sections(":init"):
        for child in range(1, len(section)):
            fact = section[child]
            if isinstance(fact, list) and len(fact) == 2 and fact[0] == "not" and isinstance(fact[1], list):
                reason = "facts that `:init` does not list are false"
                out.append(Edit("negated-fact", reason, (draft.without(section, child),)))
    return out


def numbers(view: View) -> list[Edit]:
    """``(weight box 3)``: the value of a function is ``(= (weight box) 3)``."""
    draft, survey = view.problem, view.survey
    out: list[Edit] = []
    for section in draft.sections(":init"):
        for child in range(1, len(section)):
            fact = section[child]
            if not isinstance(fact, list) or len(fact) < 2 or not is_name(fact[0]) or fact[0] in survey.predicates:
                continue
            name, last = str(fact[0]), fact[-1]
            if not isinstance(last, str) or parse_number(last) is None or last in survey.objects:
                continue
            declared = survey.functions.get(name)
            if declared is not None and len(declared.parameters) != len(fact) - 2:
                continue
            text = draft.text[draft.span(fact).start : draft.span(fact, len(fact) - 2).end] + ")"
            changes = [draft.change(section, child, f"(= {text} {last})")]
            if declared is None:
                kinds = [survey.objects[a].types if a in survey.objects else (ROOT,) for a in map(str, fact[1:-1])]
                if view.domain is None:
                    continue
                changes.append(view.domain.add_to(":functions", [signature(name, kinds)]))
            out.append(Edit("number", f"`{name}` has a number: a function with a value", tuple(changes)))
    return out


# -- effects ----------------------------------------------------------------------------------------------------------


def contradictions(view: View) -> list[Edit]:
    """An effect that adds and deletes one fact: the addition counts, so the deletion is left out."""
    out: list[Edit] = []
    for action in view.survey.actions.values():
        child = action.fields.get(":effect")
        value = action.node[child] if child is not None else None
        if not action.draft.editable or not isinstance(value, list) or value[:1] != ["and"]:
            continue
        parts = list(_flat(value))
        added = {format_node(part) for _, _, part in parts if part and part[0] != "not"}
        for holder, number, part in parts:
            if len(part) == 2 and part[0] == "not" and format_node(part[1]) in added:
                reason = f"`{format_node(part[1])[:80]}` is also added: the addition counts"
                out.append(Edit("contradiction", reason, (action.draft.without(holder, number),)))
    return out


def _flat(value: list[Node]) -> Iterator[tuple[list[Node], int, list[Node]]]:
    """The parts of nested conjunctions that are atoms or their negations."""
    stack = [value]
    while stack:
        node = stack.pop()
        for child in range(1, len(node)):
            part = node[child]
            if not isinstance(part, list) or not part:
                continue
            if part[0] == "and":
                stack.append(part)
            elif part[0] == "not" or all([isinstance(word, str) for word in part]):
                yield node, child, part


# -- requirements -----------------------------------------------------------------------------------------------------


def requirements(view: View) -> list[Edit]:
    """The flags that a domain uses, for planners that insist on them; unknown flags are left out."""
    draft = view.domain
    if draft is None or not draft.form:
        return []
    out: list[Edit] = []
    for section in draft.sections(":requirements"):
        for child in range(1, len(section)):
            flag = section[child]
            if isinstance(flag, str) and flag not in REQUIREMENTS:
                intended = ":" + flag if ":" + flag in REQUIREMENTS else None
                if intended is not None:
                    reason = f"`{flag}` is read as `{intended}`"
                    out.append(view.renamed(draft, section, child, "requirement", reason, intended))
                else:
                    reason = f"unknown requirement `{flag}`"
                    out.append(Edit("requirement", reason, (draft.without(section, child),)))
    if out:
        return out
    stated = {
        flag for entry in view.domains for s in entry.sections(":requirements") for flag in s if isinstance(flag, str)
    }
    stated |= {flag for entry in list(stated) for flag in _IMPLIED.get(entry, ())}
    missing = [flag for flag in _needed(view, draft) if flag not in stated]
    if missing and not draft.sections(":requirements") and view.base is None:
        missing = [":strips", *missing]
    if missing:
        reason = f"the domain uses {', '.join(missing)}"
        out.append(Edit("requirement", reason, (draft.add_to(":requirements", missing),)))
    return out


def _needed(view: View, draft: Draft) -> list[str]:
    """The flags that the domain and the goal need, in their usual order."""
    matches: set[str] = set()
    signatures = [node for section in draft.sections(":predicates") for node in section if isinstance(node, list)]
    if draft.sections(":types") or any(["-" in node for node in signatures]):
        matches.add(":typing")
    if draft.sections(":functions"):
        matches.add(":numeric-fluents")
    if draft.sections(":durative-action"):
        matches.add(":durative-actions")
    if draft.sections(":derived"):
        matches.add(":derived-predicates")
    for effect, node in _formulas(view, draft):
        _flags(node, effect, matches)
    order = (
        ":typing", ":negative-preconditions", ":disjunctive-preconditions", ":equality", ":existential-preconditions",
        ":universal-preconditions", ":conditional-effects", ":numeric-fluents", ":durative-actions",
        ":derived-predicates",
    )  # fmt: skip
    return [flag for flag in order if flag in matches]


def _formulas(view: View, draft: Draft) -> Iterator[tuple[bool, Node]]:
    for head in (":action", ":durative-action"):
        for node in draft.sections(head):
            for child in range(3, len(node)):
                if node[child - 1] in (":precondition", ":condition", ":effect"):
                    yield node[child - 1] == ":effect", node[child]
    for node in view.problem.sections(":goal"):
        for part in node[1:]:
            yield False, part


def _flags(node: Node, effect: bool, matches: set[str]) -> None:
    stack: list[tuple[Node, bool]] = [(node, effect)]
    while stack:
        part, changing = stack.pop()
        if not isinstance(part, list) or not part:
            continue
        head = part[0]
        if head == "not" and not changing:
            matches.add(":negative-preconditions")
        elif head in ("or", "imply") and not changing:
            matches.add(":disjunctive-preconditions")
        elif head == "exists":
            matches.add(":existential-preconditions")
        elif head == "forall":
            matches.add(":conditional-effects" if changing else ":universal-preconditions")
        elif head == "when":
            matches.add(":conditional-effects")
        elif head == "=" and not changing and all([isinstance(word, str) for word in part]):
            matches.add(":equality")
        if head == "when" and len(part) > 1:
            stack.append((part[1], False))
            stack += [(inner, changing) for inner in part[2:]]
        else:
            stack += [(inner, changing) for inner in part[1:]]
