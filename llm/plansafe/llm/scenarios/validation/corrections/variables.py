"""Variables that nothing binds: renamed, or made parameters of their action; and agents that an action lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from plansafe.grammar.sexpr import Node
from plansafe.llm.scenarios.validation.corrections.names import NEAR
from plansafe.llm.scenarios.validation.corrections.view import View, nearest, stems, typed
from plansafe.llm.scenarios.validation.drafts import Edit
from plansafe.llm.scenarios.validation.survey import ROOT, ActionText, Types, Use
from plansafe.verifier.elaborate.context import is_variable

_AGENTS = ("agent", "robot")


def unbound(view: View) -> list[Edit]:
    """Variables that nothing binds: renamed, or made parameters of their action."""
    survey = view.survey
    out: list[Edit] = []
    loose: dict[tuple[int, str], list[tuple[Use, int]]] = {}
    for use in survey.uses:
        for number, argument in enumerate(use.node[1:], 1):
            if is_variable(argument) and argument not in use.scope and use.action is not None and use.draft.editable:
                loose.setdefault((id(use.action.node), str(argument)), []).append((use, number))
    for (_, name), uses in loose.items():
        action = uses[0][0].action
        assert action is not None
        required = [w for use, child in uses if (w := survey.wanted(use, child - 1)) is not None]
        shared = set.intersection(*[set(use.scope) for use, _ in uses])
        bound = {declared: kind for declared, kind in uses[0][0].scope.items() if declared in shared}
        fitting = [declared for declared, kind in bound.items() if all([survey.fits(kind, w, True) for w in required])]
        free = [declared for declared in fitting if not _occurs(survey.uses, action, declared)]
        short = [declared for declared in fitting if declared.startswith(name) or name.startswith(declared)]
        intended = (
            nearest(name, fitting)
            or (short[0] if len(short) == 1 else None)
            or (free[0] if len(free) == 1 and len(fitting) == 1 else None)
        )
        if intended is not None:
            reason = f"variable `{name}` is not bound; `{intended}` is"
            out += [view.renamed(use.draft, use.node, child, NEAR, reason, intended) for use, child in uses]
            continue
        kind = _kind_of_variable(view, action, name, required)
        if kind is not None:
            out += parameter(view, action, name, kind, f"variable `{name}` is not bound")
    return out


def _occurs(uses: Iterable[Use], action: ActionText, name: str) -> bool:
    return any([use.action is action and name in use.arguments for use in uses])


def _kind_of_variable(view: View, action: ActionText, name: str, required: list[Types]) -> Types | None:
    """The type of a new parameter: of its name in other actions, of the type it is named after, or of its uses."""
    survey = view.survey
    entries = [entry for entry in survey.actions.values() if entry is not action]
    other_uses = [parameter.types for entry in entries for parameter in entry.parameters if parameter.name == name]
    for kind, _ in Counter([kind for kind in other_uses if kind is not None]).most_common(1):
        if all([survey.fits(kind, w, True) for w in required]):
            return kind
    stem = stems(name[1:])[0]
    entry = stem if stem in survey.types else None
    if entry is not None and all([survey.fits((entry,), w, True) for w in required]):
        return (entry,)
    if stem in _AGENTS and entry is None:
        agents = [
            kind for kind in _AGENTS if kind in survey.types and all([survey.fits((kind,), w, True) for w in required])
        ]
        if agents:
            return (agents[0],)
    return survey.meet(required)


def parameter(view: View, action: ActionText, name: str, kind: Types, why: str) -> list[Edit]:
    """Give an action one more parameter: at the end, unless the other actions have it in the first place."""
    draft, text = action.draft, typed(name, kind)
    if not draft.editable:
        return []
    reason = f"{why}: a parameter of action `{action.name}`"
    child = action.fields.get(":parameters")
    if child is None:
        change = draft.insert(draft.span(action.node, 1).end, f"\n    :parameters ({text})")
        return [Edit("parameter", reason, (change,))]
    value = action.node[child]
    if not isinstance(value, list):
        return []
    place = draft.span(action.node, child)
    if not value:
        return [Edit("parameter", reason, (draft.change(action.node, child, f"({text})"),))]
    if _first_elsewhere(view, action, kind):
        return [Edit("parameter", reason, (draft.insert(place.start + 1, text + " "),))]
    untyped = len(value) < 3 or value[-2] != "-"
    end = draft.span(value, len(value) - 1).end
    if untyped:  # a type at the end would also be the type of all names before it
        text = f"- object {text}" if not _all_untyped(value) or kind != (ROOT,) else name
    return [Edit("parameter", reason, (draft.insert(min(end, place.end - 1), f" {text}"),))]


def _first_elsewhere(view: View, action: ActionText, kind: Types) -> bool:
    """Whether most other actions with a parameter of this type have it first (and another parameter after it)."""
    if kind == (ROOT,):
        return False
    other_uses = [
        entry.parameters
        for entry in view.survey.actions.values()
        if entry.name != action.name and len(entry.parameters) > 1
    ]
    first = sum([p[0].types == kind for p in other_uses])
    return first > sum([p[-1].types == kind for p in other_uses])


def _all_untyped(value: list[Node]) -> bool:
    return "-" not in value


def missing_agent(view: View) -> list[Edit]:
    """An atom that lacks the agent that its declaration asks for, in an action that has none."""
    survey = view.survey
    out: list[Edit] = []
    visited: set[int] = set()
    for use in survey.uses:
        declared = survey.predicates.get(use.name)
        if declared is None or use.action is None or use.function:
            continue
        if id(use.action.node) in visited or not use.draft.editable:
            continue
        if len(use.arguments) + 1 != len(declared.parameters):
            continue
        agents = [e.types or (ROOT,) for e in declared.parameters if set(e.types or ()) & set(_AGENTS)]
        bound = [
            kind for kind in use.scope.values() if agents and survey.fits(kind, agents[0], True) and kind != (ROOT,)
        ]
        if len(agents) == 1 and not bound:
            visited.add(id(use.action.node))
            name = "?" + next(kind for kind in agents[0] if kind in _AGENTS)
            if name not in use.scope:
                out += parameter(view, use.action, name, agents[0], f"`{use.name}` needs an agent")
    return out
