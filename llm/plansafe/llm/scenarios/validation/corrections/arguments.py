"""Atoms with too many or too few arguments, and arguments of another type than declared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from plansafe.grammar.sexpr import Node, parse_number
from plansafe.llm.scenarios.validation.corrections.view import View, signature, stems, typed
from plansafe.llm.scenarios.validation.drafts import Draft, Edit, TextEdit
from plansafe.llm.scenarios.validation.survey import ROOT, Declared, Survey, Types, Use

_AGENTS = ("agent", "robot")
MAX_ARGUMENTS = 8


def arity(view: View) -> list[Edit]:
    """As many arguments as declared, where the superfluous or missing argument is clear."""
    survey = view.survey
    out: list[Edit] = []
    for name, uses in _by_name(survey).items():
        declared = survey.predicates[name]
        counts = {len(use.arguments) for use in uses}
        if counts == {len(declared.parameters)}:
            continue
        if len(counts) == 1 and len(uses) > 1 and declared.draft.editable and _plain(uses):
            edit = _declared_as_used(survey, uses, declared)
            if edit is not None:
                out.append(edit)
                continue
        for use in uses:
            if len(use.arguments) != len(declared.parameters) and use.draft.editable:
                out += _with_arity(view, use, declared)
    return out


def _by_name(survey: Survey) -> dict[str, list[Use]]:
    out: dict[str, list[Use]] = {}
    for use in survey.uses:
        if use.name in survey.predicates and not use.function:
            out.setdefault(use.name, []).append(use)
    return out


def _plain(uses: Sequence[Use]) -> bool:
    return all([isinstance(a, str) and parse_number(a) is None for use in uses for a in use.arguments])


def _declared_as_used(survey: Survey, uses: Sequence[Use], declared: Declared) -> Edit | None:
    """The declaration with the number of arguments that all uses have, unless two uses err in a way that is clear."""
    if len(uses) < 3 and all([len(list(_kept_positions(survey, use, declared))) == 1 for use in uses]):
        return None
    count = len(uses[0].arguments)
    kinds = [_kind(survey, uses, declared, position) for position in range(count)]
    reason = f"predicate `{declared.name}` is used with {_count(count)} throughout, not {len(declared.parameters)}"
    return Edit("arity", reason, (declared.draft.change(declared.node, None, signature(declared.name, kinds)),))


def _kind(survey: Survey, uses: Sequence[Use], declared: Declared, position: int) -> Types:
    matches = [kind for use in uses if (kind := survey.term(use, use.arguments[position])) not in (None, (ROOT,))]
    if position < len(declared.parameters):
        kind_declared = declared.parameters[position].types or (ROOT,)
        if all([survey.fits(kind, kind_declared, True) for kind in matches if kind is not None]):
            return kind_declared
    return survey.join([kind for kind in matches if kind is not None] or [(ROOT,)])


def _with_arity(view: View, use: Use, declared: Declared) -> list[Edit]:
    draft, survey = use.draft, view.survey
    required = len(declared.parameters)
    if len(use.arguments) > required:
        positions = list(_kept_positions(survey, use, declared))
        if len(positions) != 1:
            return []
        gone = [number for number in range(len(use.arguments)) if number not in positions[0]]
        words = ", ".join([str(use.arguments[number]) for number in gone])
        reason = f"predicate `{use.name}` takes {_count(required)}: `{words}` is superfluous"
        return [Edit("arity", reason, tuple([draft.without(use.node, number + 1) for number in gone]))]
    return _completed(view, use, declared)


def _kept_positions(survey: Survey, use: Use, declared: Declared) -> Iterator[tuple[int, ...]]:
    """Which arguments to keep: numbers, repetitions and agents go first, then what does not fit by type."""
    arguments, required = use.arguments, len(declared.parameters)
    if len(arguments) > MAX_ARGUMENTS or len(arguments) <= required:
        return
    suspects = [
        {
            n
            for n, a in enumerate(arguments)
            if isinstance(a, str) and parse_number(a) is not None and a not in survey.objects
        },
        {n for n, a in enumerate(arguments) if _is_agent(survey, use, a) and not _wants_agent(declared)},
        {n for n, a in enumerate(arguments) if a in arguments[:n]},
        {n for n, a in enumerate(arguments) if isinstance(a, str) and survey.term(use, a) is None},
    ]
    for suspect in suspects:
        if len(suspect) == len(arguments) - required:
            remaining = tuple([n for n in range(len(arguments)) if n not in suspect])
            if _fits(survey, use, declared, remaining):
                yield remaining
                return
    visited: set[tuple[str, ...]] = set()
    for remaining in combinations(range(len(arguments)), required):
        words = tuple([str(arguments[number]) for number in remaining])
        if words not in visited and _fits(survey, use, declared, remaining):
            visited.add(words)
            yield remaining


def _fits(survey: Survey, use: Use, declared: Declared, positions: Sequence[int]) -> bool:
    for number, parameter in zip(positions, declared.parameters, strict=True):
        argument = use.arguments[number]
        kind = survey.term(use, argument)
        variable = isinstance(argument, str) and argument.startswith("?")
        if kind is None or not survey.fits(kind, parameter.types or (ROOT,), variable):
            return False
    return True


def _is_agent(survey: Survey, use: Use, argument: Node) -> bool:
    kind = survey.term(use, argument)
    return kind is not None and any([set(_AGENTS) & survey.ancestors(entry) for entry in kind])


def _wants_agent(declared: Declared) -> bool:
    return any([set(entry.types or ()) & set(_AGENTS) for entry in declared.parameters])


def _completed(view: View, use: Use, declared: Declared) -> list[Edit]:
    """The one argument that is missing, if one place and one term fit."""
    survey, draft = view.survey, use.draft
    if len(use.arguments) + 1 != len(declared.parameters):
        return []
    if use.action is not None or use.scope:
        terms = [(name, kind) for name, kind in use.scope.items() if name not in use.arguments]
    else:
        terms = [(item.name, item.types) for item in survey.objects.values() if item.name not in use.arguments]
    matches: list[tuple[int, str]] = []
    for place in range(len(declared.parameters)):
        other_uses = [entry for number, entry in enumerate(declared.parameters) if number != place]
        fitting = all(
            (kind := survey.term(use, a)) is not None and survey.fits(kind, e.types or (ROOT,), str(a).startswith("?"))
            for a, e in zip(use.arguments, other_uses, strict=True)
        )
        if fitting:
            required = declared.parameters[place].types or (ROOT,)
            matches += [(place, name) for name, kind in terms if _narrow(survey, kind, required)]
    if len(matches) != 1:
        matches = _customary(survey, use, declared)
    if len(matches) != 1:
        return []
    place, name = matches[0]
    reason = f"predicate `{use.name}` takes {_count(len(declared.parameters))}: only `{name}` can be the missing one"
    return [Edit("arity", reason, (draft.insert(draft.span(use.node, place).end, f" {name}"),))]


def _customary(survey: Survey, use: Use, declared: Declared) -> list[tuple[int, str]]:
    """What all other facts of the predicate (at least two) say: the same object at one place, or itself at each."""
    other_uses = [other_use for other_use in survey.uses if other_use.name == use.name and other_use.place == "init"]
    other_uses = [other_use for other_use in other_uses if len(other_use.arguments) == len(declared.parameters)]
    if use.place != "init" or len(other_uses) < 2:
        return []
    counts = use.arguments[0] if len(use.arguments) == 1 else None
    if isinstance(counts, str) and all([len(set(map(str, other_use.arguments))) == 1 for other_use in other_uses]):
        return [(1, counts)]
    out = []
    for place in range(len(declared.parameters)):
        names = {str(other_use.arguments[place]) for other_use in other_uses}
        if len(names) == 1 and not names & set(map(str, use.arguments)):
            out.append((place, names.pop()))
    return out


def _narrow(survey: Survey, kind: Types, required: Types) -> bool:
    """Whether a term surely has a wanted type: a bare ``object`` fits anything, which says nothing."""
    return survey.fits(kind, required, False)


# -- types ------------------------------------------------------------------------------------------------------------


def mismatches(view: View) -> list[Edit]:
    """Arguments of the wrong type: the term's type, or the declaration, whichever takes fewer edits."""
    survey = view.survey
    wrong = list(_wrong(survey))
    if not wrong:
        return []
    by_term: dict[tuple[int, str], list[tuple[Use, int]]] = {}
    by_position: dict[tuple[str, int], list[tuple[Use, int]]] = {}
    for use, number in wrong:
        argument = str(use.arguments[number])
        entry = id(use.action.node) if argument.startswith("?") and use.action is not None else 0
        by_term.setdefault((entry, argument), []).append((use, number))
        by_position.setdefault((use.name, number), []).append((use, number))
    term = max(by_term, key=lambda key: len(by_term[key]))
    position = max(by_position, key=lambda key: len(by_position[key]))
    terms = {(id(u.action.node) if u.action else 0, str(u.arguments[n])) for u, n in by_position[position]}
    edits = [] if len(terms) > 1 else _retyped(view, by_term[term])
    if not edits:
        edits = _widened(view, by_position[position])
    if not edits and len(terms) > 1:
        edits = _retyped(view, by_term[term])
    return edits or [edit for uses in by_term.values() for edit in _retyped(view, uses)][:1]


def _wrong(survey: Survey) -> Iterator[tuple[Use, int]]:
    for use in survey.uses:
        declared = survey.predicates.get(use.name)
        if declared is None or use.function or len(use.arguments) != len(declared.parameters):
            continue
        for number, argument in enumerate(use.arguments):
            kind = survey.term(use, argument)
            required = declared.parameters[number].types or (ROOT,)
            if kind is not None and not survey.fits(kind, required, str(argument).startswith("?")):
                yield use, number


def _retyped(view: View, wrong: Sequence[tuple[Use, int]]) -> list[Edit]:
    """Another type for the term: what all its uses ask for."""
    survey = view.survey
    use, number = wrong[0]
    name = str(use.arguments[number])
    if name.startswith("?"):
        return _retyped_variable(view, use, name)
    entry = survey.objects[name]
    if not entry.draft.editable:
        return []
    required = [
        w for other_use in survey.uses for n, a in enumerate(other_use.arguments) if a == name
        if (w := survey.wanted(other_use, n)) is not None
    ]  # fmt: skip
    named_type = next((stem for stem in stems(name) if stem in survey.types), None)
    kind = survey.meet(required)
    if named_type is not None and all([survey.fits((named_type,), w, False) for w in required]):
        kind = (named_type,)
    elif kind is None or len(kind) > 1:
        kind = tuple(dict.fromkeys([*entry.types, *[w[0] for w in required if not survey.fits(entry.types, w, False)]]))
    change = typed_again(entry.draft, entry.node, entry.child or 0, kind)
    if change is None:
        return []
    text = typed(name, kind)
    return [Edit("type", f"object `{name}` is used as `{survey_text(kind)}`: declared `{text}`", (change,))]


def _retyped_variable(view: View, use: Use, name: str) -> list[Edit]:
    survey, action = view.survey, use.action
    if action is None or not action.draft.editable or name not in [entry.name for entry in action.parameters]:
        return []
    required = [
        w
        for other_use in survey.uses
        if other_use.action is action
        for n, a in enumerate(other_use.arguments)
        if a == name
        if (w := survey.wanted(other_use, n)) is not None
    ]  # fmt: skip
    kind = survey.meet(required)
    value = action.node[action.fields[":parameters"]]
    entry = next(entry for entry in action.parameters if entry.name == name)
    if kind is None or not isinstance(value, list):
        return []
    change = typed_again(action.draft, value, entry.child, kind)
    if change is None:
        return []
    reason = f"parameter `{name}` of action `{action.name}` is used as `{survey_text(kind)}`"
    return [Edit("type", reason, (change,))]


def survey_text(kind: Types) -> str:
    """Types as PDDL."""
    return kind[0] if len(kind) == 1 else f"(either {' '.join(kind)})"


def typed_again(draft: Draft, node: list[Node], child: int, kind: Types) -> TextEdit | None:
    """One name of a typed list with another type; its neighbours keep theirs."""
    text = survey_text(kind)
    at = child + 1
    while at < len(node) and node[at] != "-":
        at += 1
    start = child
    while start > 1 and node[start - 1] != "-" and not (start >= 2 and node[start - 2] == "-"):
        start -= 1
    alone = at == child + 1 and (child == start or node[child - 2] == "-" if child >= 2 else True)
    if alone and at + 1 < len(node):
        return draft.change(node, at + 1, text)
    group = [str(name) for name in node[start:at] if isinstance(name, str)]
    if not group or node[child] not in group:
        return None
    before = group[: group.index(str(node[child]))]
    after = group[group.index(str(node[child])) + 1 :]
    typed_by = draft.text[slice(*draft.span(node, at + 1))] if at + 1 < len(node) else ROOT
    parts = [f"{' '.join(before)} - {typed_by}" if before else "", f"{node[child]} - {text}"]
    parts += [f"{' '.join(after)} - {typed_by}"] if after else []
    end = at + 1 if at + 1 < len(node) else at - 1
    span = draft.span(node, start)._replace(end=draft.span(node, end).end)
    return TextEdit(draft.name, span, " ".join([part for part in parts if part]))


def _widened(view: View, wrong: Sequence[tuple[Use, int]]) -> list[Edit]:
    """A wider type for the parameter of the predicate: the nearest common supertype of its arguments."""
    survey = view.survey
    use, number = wrong[0]
    declared = survey.predicates[use.name]
    if not declared.draft.editable:
        return []
    entry = declared.parameters[number]
    kinds = [k for other_use, n in wrong if (k := survey.term(other_use, other_use.arguments[n])) is not None]
    kind = survey.join([entry.types or (ROOT,), *kinds])
    change = typed_again(declared.draft, declared.node, entry.child, kind)
    if change is None:
        return []
    reason = f"predicate `{use.name}` is used with `{survey_text(survey.join(kinds))}` as its argument {number + 1}"
    return [Edit("type", reason, (change,))]


def _count(number: int) -> str:
    return f"{number} argument{'' if number == 1 else 's'}"
