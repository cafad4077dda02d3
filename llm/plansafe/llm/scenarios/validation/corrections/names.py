"""Names that nobody declared: a slip of the pen if one declared name is near, a missing declaration otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from plansafe.grammar.sexpr import Node, parse_number
from plansafe.llm.scenarios.validation.corrections.repetitions import without_name
from plansafe.llm.scenarios.validation.corrections.view import View, cover, signature, stems, typed
from plansafe.llm.scenarios.validation.drafts import Draft, Edit, TextEdit
from plansafe.llm.scenarios.validation.near import nearest
from plansafe.llm.scenarios.validation.survey import OPERATORS, ROOT, Types, Use
from plansafe.verifier.elaborate.context import is_name, is_object_name, is_variable

NEAR, DECLARED = "near-name", "declaration"


def types(view: View) -> list[Edit]:
    """Types that are named and not declared."""
    survey = view.survey
    out: list[Edit] = []
    known = [*survey.types, ROOT]
    named = Counter([name for name, *_ in survey.type_uses])
    named_after = {stems(own.name)[0] for own in survey.objects.values()}
    seen: set[str] = set()
    for name, draft, node, child in survey.type_uses:
        if name in survey.types or name in (ROOT, "number") or not is_name(name):
            continue
        meant = _of_objects(view, name, draft, node, child) or nearest(name, known, 2 if named[name] == 1 else 1)
        if name in named_after:
            meant = None  # objects are named after it: it is meant
        if meant is not None and draft.editable:
            if isinstance(node[child], str):
                out.append(
                    view.renamed(draft, node, child, NEAR, f"type `{name}` is not declared; `{meant}` is", meant)
                )
            else:
                inner = node[child]
                assert isinstance(inner, list)
                reason = f"type `{name}` is not declared; `{meant}` is"
                out.append(view.renamed(draft, inner, inner.index(name), NEAR, reason, meant))
        elif name not in seen:
            seen.add(name)
            kind = _above(view, name)
            edit = view.declare(DECLARED, f"type `{name}` is used but not declared", ":types", typed(name, kind))
            out += [edit] if edit is not None else []
    return out


def _of_objects(view: View, name: str, draft: Draft, node: list[Node], child: int) -> str | None:
    """The type that objects are named after, if the one that is written is a slip of it."""
    if draft is not view.problem or not isinstance(node[child], str):
        return None
    found = {stems(own.name)[0] for own in view.survey.objects.values() if own.node is node and own.types == (name,)}
    stem = found.pop() if len(found) == 1 else None
    return stem if stem in view.survey.types and stem is not None and nearest(name, [stem]) else None


def _above(view: View, name: str) -> Types:
    """The parent of a new type: what the uses of its objects and variables ask for."""
    survey = view.survey
    wanted = [
        w for use in survey.uses for number, argument in enumerate(use.arguments)
        if survey.term(use, argument) == (name,) and (w := survey.wanted(use, number)) is not None
    ]  # fmt: skip
    found = survey.meet([w for w in wanted if w != (name,)])
    return found if found is not None and len(found) == 1 and found != (name,) else (ROOT,)


def predicates(view: View) -> list[Edit]:
    """Predicates that are used and not declared: renamed, or declared with the types of their arguments."""
    survey = view.survey
    out: list[Edit] = []
    unknown: dict[str, list[Use]] = {}
    for use in survey.uses:
        table = survey.functions if use.function else survey.predicates
        if use.name not in table and use.name != "=" and is_name(use.name) and use.name not in OPERATORS:
            unknown.setdefault(use.name, []).append(use)
    for name, uses in unknown.items():
        function = uses[0].function
        what = "function" if function else "predicate"
        meant = _meant(view, name, uses)
        if meant is not None:
            reason = f"{what} `{name}` is not declared; `{meant}` is"
            out += [view.renamed(use.draft, use.node, 0, NEAR, reason, meant) for use in uses]
            continue
        arity = len(uses[0].arguments)
        if not all([len(use.arguments) == arity and _words(use.arguments) for use in uses]):
            continue  # nobody can say what its parameters are
        kinds = [survey.join(_kinds(view, uses, position)) for position in range(arity)]
        head = ":functions" if function else ":predicates"
        reason = f"{what} `{name}` is used with {arity} argument{'' if arity == 1 else 's'}, but not declared"
        edit = view.declare(DECLARED, reason, head, signature(name, kinds))
        out += [edit] if edit is not None else []
    return out


def _meant(view: View, name: str, uses: list[Use]) -> str | None:
    """The declared name that is meant: with as many arguments, else with one more or less (another rule's concern)."""
    if not all([use.draft.editable for use in uses]):
        return None
    table = view.survey.functions if uses[0].function else view.survey.predicates
    others = [known for known in table.values() if not _beside(view, known.name, uses)]
    slips = 2 if len(uses) == 1 else 1  # a name that is used several times is hardly a double slip
    given = {len(use.arguments) for use in uses}
    fitting = nearest(name, [known.name for known in others if given == {len(known.parameters)}], slips)
    if fitting is not None or len(given) > 1:
        return fitting
    count = given.pop()
    return nearest(name, [known.name for known in others if abs(len(known.parameters) - count) == 1], slips)


def _beside(view: View, name: str, uses: list[Use]) -> bool:
    """Whether a declared predicate is said of the same things in the same place: then it is another one."""
    places = {(id(use.action), use.place, tuple(map(str, use.arguments))) for use in uses}
    others = [use for use in view.survey.uses if use.name == name]
    return any([(id(use.action), use.place, tuple(map(str, use.arguments))) in places for use in others])


def _words(arguments: Iterable[Node]) -> bool:
    return all([isinstance(a, str) and (is_variable(a) or is_object_name(a)) for a in arguments])


def _kinds(view: View, uses: list[Use], position: int) -> list[Types]:
    """The types of an argument; a variable that ranges over everything decides, an object without type does not."""
    found = [(use.arguments[position], view.survey.term(use, use.arguments[position])) for use in uses]
    known = [kind for term, kind in found if kind is not None and (kind != (ROOT,) or is_variable(term))]
    return known or [(ROOT,)]


# -- objects ----------------------------------------------------------------------------------------------------------


def split(view: View) -> list[Edit]:
    """``coffee table`` for ``coffee_table``: two words of an atom with one argument too many are one name."""
    survey = view.survey
    out: list[Edit] = []
    for use in survey.uses:
        known = survey.predicates.get(use.name)
        if known is None or len(use.arguments) != len(known.parameters) + 1 or not use.draft.editable:
            continue
        found = []
        for first in range(1, len(use.node) - 1):
            names = [f"{use.node[first]}{glue}{use.node[first + 1]}" for glue in ("_", "-", "")]
            found += [(first, name) for name in names if name in survey.objects]
        if len(found) == 1:
            first, name = found[0]
            change = TextEdit(use.draft.name, cover(use.draft, use.node, first, first + 1), name)
            out.append(Edit("split-name", f"`{name}` is one name", (change,)))
    return out


def objects(view: View) -> list[Edit]:
    """Objects that are used and not declared: renamed, or declared with the type that their uses ask for."""
    survey = view.survey
    out: list[Edit] = []
    unknown: dict[str, list[tuple[Use, int]]] = {}
    for use in survey.uses:
        for number, argument in enumerate(use.node[1:], 1):
            if not isinstance(argument, str) or not is_object_name(argument) or argument in survey.objects:
                continue
            if parse_number(argument) is None and "?" + argument not in use.scope:
                unknown.setdefault(argument, []).append((use, number))
    for name, uses in unknown.items():
        in_domain = any([use.draft is not view.problem for use, _ in uses])
        meant = _meant_object(view, name, uses)
        if meant is not None and all([use.draft.editable for use, _ in uses]):
            reason = f"object `{name}` is not declared; `{meant}` is"
            out += [view.renamed(use.draft, use.node, child, NEAR, reason, meant) for use, child in uses]
            continue
        kind = _type_of(view, name, uses)
        if kind is None:
            continue
        reason = f"object `{name}` is used but not declared"
        text = typed(name, kind)
        if in_domain:
            edit = view.declare(DECLARED, reason, ":constants", text)
        else:
            edit = Edit(DECLARED, reason, (view.problem.add_to(":objects", [text]),))
        out += [edit] if edit is not None else []
    return out


def _meant_object(view: View, name: str, uses: list[tuple[Use, int]]) -> str | None:
    """The declared object that is meant; none for a name made of a type, whose declaration is what is missing."""
    if stems(name)[0] in view.survey.types:
        return None
    fitting = [known for known in view.survey.objects if _stands_for(view, known, uses)]
    beside = {a for use, _ in uses for a in use.arguments if isinstance(a, str)}  # said of both: they are two things
    alone = len(uses) == 1
    found = nearest(name, [known for known in fitting if known not in beside], 2 if alone else 1)
    return found or (nearest(name, fitting, 1) if alone else None)


def _stands_for(view: View, known: str, uses: list[tuple[Use, int]]) -> bool:
    """Whether a declared object has the types that all of these places want, and may be named there."""
    own = view.survey.objects[known]
    for use, child in uses:
        wanted = view.survey.wanted(use, child - 1)
        if wanted is not None and not view.survey.fits(own.types, wanted, False):
            return False
        if use.draft is not view.problem and own.draft is view.problem:
            return False
    return True


def _type_of(view: View, name: str, uses: list[tuple[Use, int]]) -> Types | None:
    """The type of a new object: the one that its name names, else the most special that its uses ask for."""
    survey = view.survey
    wanted = [w for use, child in uses if (w := survey.wanted(use, child - 1)) is not None]
    own = next((stem for stem in stems(name) if stem in survey.types), None)
    if own is not None and all([survey.fits((own,), w, False) for w in wanted]):
        return (own,)
    found = survey.meet(wanted)
    if found is not None and len(found) == 1:
        return found
    if found is not None:
        return (found[0],)
    return tuple(sorted({w[0] for w in wanted}))


def constants(view: View) -> list[Edit]:
    """Objects of the problem that the domain names: constants of the domain."""
    survey = view.survey
    for use in survey.uses:
        if use.draft is view.problem:
            continue
        for argument in use.arguments:
            known = survey.objects.get(argument) if isinstance(argument, str) else None
            if known is None or known.draft is not view.problem:
                continue
            reason = f"the domain names `{known.name}`, an object of the problem: a constant"
            gone = without_name(known.draft, known.node, known.child or 0)
            edit = view.declare("constant", reason, ":constants", typed(known.name, known.types), (gone,))
            if edit is not None:
                return [edit]
    return []
