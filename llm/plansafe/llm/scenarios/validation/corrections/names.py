"""Undeclared names: a typing error if one declared name is near, a missing declaration otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from plansafe.grammar.sexpr import Node, parse_number
from plansafe.llm.scenarios.validation.corrections.repetitions import without_name
from plansafe.llm.scenarios.validation.corrections.view import View, cover, nearest, signature, stems, typed
from plansafe.llm.scenarios.validation.drafts import Draft, Edit, TextEdit
from plansafe.llm.scenarios.validation.survey import OPERATORS, ROOT, Types, Use
from plansafe.verifier.elaborate.context import is_name, is_object_name, is_variable

NEAR, DECLARED = "near-name", "declaration"


def types(view: View) -> list[Edit]:
    """Types that are named and not declared."""
    survey = view.survey
    out: list[Edit] = []
    declared = [*survey.types, ROOT]
    named_type = Counter([name for name, *_ in survey.type_uses])
    named_after = {stems(entry.name)[0] for entry in survey.objects.values()}
    visited: set[str] = set()
    for name, draft, node, child in survey.type_uses:
        if name in survey.types or name in (ROOT, "number") or not is_name(name):
            continue
        slips = 2 if named_type[name] == 1 else 1
        intended = _of_objects(view, name, draft, node, child) or nearest(name, declared, slips)
        if name in named_after:
            intended = None  # objects are named after it: it is meant
        if intended is not None and draft.editable:
            if isinstance(node[child], str):
                out.append(
                    view.renamed(draft, node, child, NEAR, f"type `{name}` is not declared; `{intended}` is", intended)
                )
            else:
                inner = node[child]
                assert isinstance(inner, list)
                reason = f"type `{name}` is not declared; `{intended}` is"
                out.append(view.renamed(draft, inner, inner.index(name), NEAR, reason, intended))
        elif name not in visited:
            visited.add(name)
            kind = _above(view, name)
            edit = view.declare(DECLARED, f"type `{name}` is used but not declared", ":types", typed(name, kind))
            out += [edit] if edit is not None else []
    return out


def _of_objects(view: View, name: str, draft: Draft, node: list[Node], child: int) -> str | None:
    """The type that objects are named after, if the one that is written is a slip of it."""
    if draft is not view.problem or not isinstance(node[child], str):
        return None
    objects = [entry for entry in view.survey.objects.values() if entry.node is node and entry.types == (name,)]
    matches = {stems(entry.name)[0] for entry in objects}
    stem = matches.pop() if len(matches) == 1 else None
    return stem if stem in view.survey.types and stem is not None and nearest(name, [stem]) else None


def _above(view: View, name: str) -> Types:
    """The parent of a new type: what the uses of its objects and variables ask for."""
    survey = view.survey
    required = [
        w for use in survey.uses for number, argument in enumerate(use.arguments)
        if survey.term(use, argument) == (name,) and (w := survey.wanted(use, number)) is not None
    ]  # fmt: skip
    matches = survey.meet([w for w in required if w != (name,)])
    return matches if matches is not None and len(matches) == 1 and matches != (name,) else (ROOT,)


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
        subject = "function" if function else "predicate"
        intended = _intended_predicate(view, name, uses)
        if intended is not None:
            reason = f"{subject} `{name}` is not declared; `{intended}` is"
            out += [view.renamed(use.draft, use.node, 0, NEAR, reason, intended) for use in uses]
            continue
        arity = len(uses[0].arguments)
        if not all([len(use.arguments) == arity and _words(use.arguments) for use in uses]):
            continue  # its parameters are not known
        kinds = [survey.join(_kinds(view, uses, position)) for position in range(arity)]
        head = ":functions" if function else ":predicates"
        reason = f"{subject} `{name}` is used with {arity} argument{'' if arity == 1 else 's'}, but not declared"
        edit = view.declare(DECLARED, reason, head, signature(name, kinds))
        out += [edit] if edit is not None else []
    return out


def _intended_predicate(view: View, name: str, uses: list[Use]) -> str | None:
    """The declared name that is meant: with as many arguments, else with one more or less (another rule's concern)."""
    if not all([use.draft.editable for use in uses]):
        return None
    table = view.survey.functions if uses[0].function else view.survey.predicates
    other_uses = [declared for declared in table.values() if not _used_alike(view, declared.name, uses)]
    slips = 2 if len(uses) == 1 else 1  # a name that is used several times is hardly a double slip
    counts = {len(use.arguments) for use in uses}
    fitting = nearest(name, [declared.name for declared in other_uses if counts == {len(declared.parameters)}], slips)
    if fitting is not None or len(counts) > 1:
        return fitting
    count = counts.pop()
    near_arity = [declared.name for declared in other_uses if abs(len(declared.parameters) - count) == 1]
    return nearest(name, near_arity, slips)


def _used_alike(view: View, name: str, uses: list[Use]) -> bool:
    """Whether a declared predicate has the same arguments in the same place: then it is another predicate."""
    places = {(id(use.action), use.place, tuple(map(str, use.arguments))) for use in uses}
    other_uses = [use for use in view.survey.uses if use.name == name]
    return any([(id(use.action), use.place, tuple(map(str, use.arguments))) in places for use in other_uses])


def _words(arguments: Iterable[Node]) -> bool:
    return all([isinstance(a, str) and (is_variable(a) or is_object_name(a)) for a in arguments])


def _kinds(view: View, uses: list[Use], position: int) -> list[Types]:
    """The types of an argument; a variable that ranges over everything decides, an object without type does not."""
    matches = [(use.arguments[position], view.survey.term(use, use.arguments[position])) for use in uses]
    declared = [kind for term, kind in matches if kind is not None and (kind != (ROOT,) or is_variable(term))]
    return declared or [(ROOT,)]


# -- objects ----------------------------------------------------------------------------------------------------------


def split(view: View) -> list[Edit]:
    """``coffee table`` for ``coffee_table``: two words of an atom with one argument too many are one name."""
    survey = view.survey
    out: list[Edit] = []
    for use in survey.uses:
        declared = survey.predicates.get(use.name)
        if declared is None or len(use.arguments) != len(declared.parameters) + 1 or not use.draft.editable:
            continue
        matches = []
        for first in range(1, len(use.node) - 1):
            names = [f"{use.node[first]}{glue}{use.node[first + 1]}" for glue in ("_", "-", "")]
            matches += [(first, name) for name in names if name in survey.objects]
        if len(matches) == 1:
            first, name = matches[0]
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
        intended = _meant_object(view, name, uses)
        if intended is not None and all([use.draft.editable for use, _ in uses]):
            reason = f"object `{name}` is not declared; `{intended}` is"
            out += [view.renamed(use.draft, use.node, child, NEAR, reason, intended) for use, child in uses]
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
    """The declared object that is meant; none for a name made of a type, whose declaration is missing."""
    if stems(name)[0] in view.survey.types:
        return None
    fitting = [declared for declared in view.survey.objects if _stands_for(view, declared, uses)]
    common = {a for use, _ in uses for a in use.arguments if isinstance(a, str)}  # together in one atom: two objects
    alone = len(uses) == 1
    matches = nearest(name, [declared for declared in fitting if declared not in common], 2 if alone else 1)
    return matches or (nearest(name, fitting, 1) if alone else None)


def _stands_for(view: View, declared: str, uses: list[tuple[Use, int]]) -> bool:
    """Whether a declared object has the types that all of these places want, and may be named there."""
    entry = view.survey.objects[declared]
    for use, child in uses:
        required = view.survey.wanted(use, child - 1)
        if required is not None and not view.survey.fits(entry.types, required, False):
            return False
        if use.draft is not view.problem and entry.draft is view.problem:
            return False
    return True


def _type_of(view: View, name: str, uses: list[tuple[Use, int]]) -> Types | None:
    """The type of a new object: the one that its name names, else the most special that its uses ask for."""
    survey = view.survey
    required = [w for use, child in uses if (w := survey.wanted(use, child - 1)) is not None]
    entry = next((stem for stem in stems(name) if stem in survey.types), None)
    if entry is not None and all([survey.fits((entry,), w, False) for w in required]):
        return (entry,)
    matches = survey.meet(required)
    if matches is not None and len(matches) == 1:
        return matches
    if matches is not None:
        return (matches[0],)
    return tuple(sorted({w[0] for w in required}))


def constants(view: View) -> list[Edit]:
    """Objects of the problem that the domain names: constants of the domain."""
    survey = view.survey
    for use in survey.uses:
        if use.draft is view.problem:
            continue
        for argument in use.arguments:
            declared = survey.objects.get(argument) if isinstance(argument, str) else None
            if declared is None or declared.draft is not view.problem:
                continue
            reason = f"the domain names `{declared.name}`, an object of the problem: a constant"
            gone = without_name(declared.draft, declared.node, declared.child or 0)
            edit = view.declare("constant", reason, ":constants", typed(declared.name, declared.types), (gone,))
            if edit is not None:
                return [edit]
    return []
