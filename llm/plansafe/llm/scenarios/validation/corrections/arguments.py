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
    """As many arguments as declared, where it can be told which is too much or what is missing."""
    survey = view.survey
    out: list[Edit] = []
    for name, uses in _by_name(survey).items():
        known = survey.predicates[name]
        given = {len(use.arguments) for use in uses}
        if given == {len(known.parameters)}:
            continue
        if len(given) == 1 and len(uses) > 1 and known.draft.editable and _plain(uses):
            edit = _declared_as_used(survey, uses, known)
            if edit is not None:
                out.append(edit)
                continue
        for use in uses:
            if len(use.arguments) != len(known.parameters) and use.draft.editable:
                out += _one(view, use, known)
    return out


def _by_name(survey: Survey) -> dict[str, list[Use]]:
    out: dict[str, list[Use]] = {}
    for use in survey.uses:
        if use.name in survey.predicates and not use.function:
            out.setdefault(use.name, []).append(use)
    return out


def _plain(uses: Sequence[Use]) -> bool:
    return all([isinstance(a, str) and parse_number(a) is None for use in uses for a in use.arguments])


def _declared_as_used(survey: Survey, uses: Sequence[Use], known: Declared) -> Edit | None:
    """The declaration with the number of arguments that all uses have, unless two uses err in a way that is clear."""
    if len(uses) < 3 and all([len(list(_kept(survey, use, known))) == 1 for use in uses]):
        return None
    count = len(uses[0].arguments)
    kinds = [_kind(survey, uses, known, position) for position in range(count)]
    reason = f"predicate `{known.name}` is used with {_count(count)} throughout, not {len(known.parameters)}"
    return Edit("arity", reason, (known.draft.change(known.node, None, signature(known.name, kinds)),))


def _kind(survey: Survey, uses: Sequence[Use], known: Declared, position: int) -> Types:
    found = [kind for use in uses if (kind := survey.term(use, use.arguments[position])) not in (None, (ROOT,))]
    if position < len(known.parameters):
        declared = known.parameters[position].types or (ROOT,)
        if all([survey.fits(kind, declared, True) for kind in found if kind is not None]):
            return declared
    return survey.join([kind for kind in found if kind is not None] or [(ROOT,)])


def _one(view: View, use: Use, known: Declared) -> list[Edit]:
    draft, survey = use.draft, view.survey
    wanted = len(known.parameters)
    if len(use.arguments) > wanted:
        kept = list(_kept(survey, use, known))
        if len(kept) != 1:
            return []
        gone = [number for number in range(len(use.arguments)) if number not in kept[0]]
        words = ", ".join([str(use.arguments[number]) for number in gone])
        reason = f"predicate `{use.name}` takes {_count(wanted)}: `{words}` is superfluous"
        return [Edit("arity", reason, tuple([draft.without(use.node, number + 1) for number in gone]))]
    return _completed(view, use, known)


def _kept(survey: Survey, use: Use, known: Declared) -> Iterator[tuple[int, ...]]:
    """Which arguments to keep: numbers, repetitions and agents go first, then what does not fit by type."""
    arguments, wanted = use.arguments, len(known.parameters)
    if len(arguments) > MAX_ARGUMENTS or len(arguments) <= wanted:
        return
    suspects = [
        {
            n
            for n, a in enumerate(arguments)
            if isinstance(a, str) and parse_number(a) is not None and a not in survey.objects
        },
        {n for n, a in enumerate(arguments) if _is_agent(survey, use, a) and not _wants_agent(known)},
        {n for n, a in enumerate(arguments) if a in arguments[:n]},
        {n for n, a in enumerate(arguments) if isinstance(a, str) and survey.term(use, a) is None},
    ]
    for suspect in suspects:
        if len(suspect) == len(arguments) - wanted:
            rest = tuple([n for n in range(len(arguments)) if n not in suspect])
            if _fits(survey, use, known, rest):
                yield rest
                return
    seen: set[tuple[str, ...]] = set()
    for rest in combinations(range(len(arguments)), wanted):
        words = tuple([str(arguments[number]) for number in rest])
        if words not in seen and _fits(survey, use, known, rest):
            seen.add(words)
            yield rest


def _fits(survey: Survey, use: Use, known: Declared, kept: Sequence[int]) -> bool:
    for number, parameter in zip(kept, known.parameters, strict=True):
        argument = use.arguments[number]
        kind = survey.term(use, argument)
        variable = isinstance(argument, str) and argument.startswith("?")
        if kind is None or not survey.fits(kind, parameter.types or (ROOT,), variable):
            return False
    return True


def _is_agent(survey: Survey, use: Use, argument: Node) -> bool:
    kind = survey.term(use, argument)
    return kind is not None and any([set(_AGENTS) & survey.ancestors(own) for own in kind])


def _wants_agent(known: Declared) -> bool:
    return any([set(entry.types or ()) & set(_AGENTS) for entry in known.parameters])


def _completed(view: View, use: Use, known: Declared) -> list[Edit]:
    """The one argument that is missing, if one place and one term fit."""
    survey, draft = view.survey, use.draft
    if len(use.arguments) + 1 != len(known.parameters):
        return []
    if use.action is not None or use.scope:
        terms = [(name, kind) for name, kind in use.scope.items() if name not in use.arguments]
    else:
        terms = [(own.name, own.types) for own in survey.objects.values() if own.name not in use.arguments]
    found: list[tuple[int, str]] = []
    for place in range(len(known.parameters)):
        others = [entry for number, entry in enumerate(known.parameters) if number != place]
        fitting = all(
            (kind := survey.term(use, a)) is not None and survey.fits(kind, e.types or (ROOT,), str(a).startswith("?"))
            for a, e in zip(use.arguments, others, strict=True)
        )
        if fitting:
            wanted = known.parameters[place].types or (ROOT,)
            found += [(place, name) for name, kind in terms if _narrow(survey, kind, wanted)]
    if len(found) != 1:
        found = _customary(survey, use, known)
    if len(found) != 1:
        return []
    place, name = found[0]
    reason = f"predicate `{use.name}` takes {_count(len(known.parameters))}: only `{name}` can be the missing one"
    return [Edit("arity", reason, (draft.insert(draft.span(use.node, place).end, f" {name}"),))]


def _customary(survey: Survey, use: Use, known: Declared) -> list[tuple[int, str]]:
    """What all other facts of the predicate (at least two) say: the same object at one place, or itself at each."""
    others = [other for other in survey.uses if other.name == use.name and other.place == "init"]
    others = [other for other in others if len(other.arguments) == len(known.parameters)]
    if use.place != "init" or len(others) < 2:
        return []
    given = use.arguments[0] if len(use.arguments) == 1 else None
    if isinstance(given, str) and all([len(set(map(str, other.arguments))) == 1 for other in others]):
        return [(1, given)]
    out = []
    for place in range(len(known.parameters)):
        names = {str(other.arguments[place]) for other in others}
        if len(names) == 1 and not names & set(map(str, use.arguments)):
            out.append((place, names.pop()))
    return out


def _narrow(survey: Survey, kind: Types, wanted: Types) -> bool:
    """Whether a term surely has a wanted type: a bare ``object`` fits anything, which says nothing."""
    return survey.fits(kind, wanted, False)


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
        own = id(use.action.node) if argument.startswith("?") and use.action is not None else 0
        by_term.setdefault((own, argument), []).append((use, number))
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
        known = survey.predicates.get(use.name)
        if known is None or use.function or len(use.arguments) != len(known.parameters):
            continue
        for number, argument in enumerate(use.arguments):
            kind = survey.term(use, argument)
            wanted = known.parameters[number].types or (ROOT,)
            if kind is not None and not survey.fits(kind, wanted, str(argument).startswith("?")):
                yield use, number


def _retyped(view: View, wrong: Sequence[tuple[Use, int]]) -> list[Edit]:
    """Another type for the term: what all its uses ask for."""
    survey = view.survey
    use, number = wrong[0]
    name = str(use.arguments[number])
    if name.startswith("?"):
        return _retyped_variable(view, use, name)
    own = survey.objects[name]
    if not own.draft.editable:
        return []
    wanted = [
        w for other in survey.uses for n, a in enumerate(other.arguments) if a == name
        if (w := survey.wanted(other, n)) is not None
    ]  # fmt: skip
    named = next((stem for stem in stems(name) if stem in survey.types), None)
    kind = survey.meet(wanted)
    if named is not None and all([survey.fits((named,), w, False) for w in wanted]):
        kind = (named,)
    elif kind is None or len(kind) > 1:
        kind = tuple(dict.fromkeys([*own.types, *[w[0] for w in wanted if not survey.fits(own.types, w, False)]]))
    change = typed_again(own.draft, own.node, own.child or 0, kind)
    if change is None:
        return []
    said = typed(name, kind)
    return [Edit("type", f"object `{name}` is used as `{survey_text(kind)}`: declared `{said}`", (change,))]


def _retyped_variable(view: View, use: Use, name: str) -> list[Edit]:
    survey, action = view.survey, use.action
    if action is None or not action.draft.editable or name not in [entry.name for entry in action.parameters]:
        return []
    wanted = [
        w for other in survey.uses if other.action is action for n, a in enumerate(other.arguments) if a == name
        if (w := survey.wanted(other, n)) is not None
    ]  # fmt: skip
    kind = survey.meet(wanted)
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
    """A wider type for the parameter of the predicate: what is nearest above all that it is used with."""
    survey = view.survey
    use, number = wrong[0]
    known = survey.predicates[use.name]
    if not known.draft.editable:
        return []
    entry = known.parameters[number]
    kinds = [k for other, n in wrong if (k := survey.term(other, other.arguments[n])) is not None]
    kind = survey.join([entry.types or (ROOT,), *kinds])
    change = typed_again(known.draft, known.node, entry.child, kind)
    if change is None:
        return []
    reason = f"predicate `{use.name}` is used with `{survey_text(survey.join(kinds))}` as its argument {number + 1}"
    return [Edit("type", reason, (change,))]


def _count(number: int) -> str:
    return f"{number} argument{'' if number == 1 else 's'}"
