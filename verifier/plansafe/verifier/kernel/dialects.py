"""Rewrite older, newer and more permissive PDDL into plain PDDL (docs/language.md, section 2, Dialects)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from .reader import NAME, NUMBER, OBJECT, VARIABLE, Sexp, list_type_alternatives, split_glued_hyphens

COST = "total-cost"
Section = tuple[Sexp, ...]
Expressions = tuple[Sexp, ...]
"""The expressions of a file."""


def to_plain_pddl(domain: Expressions, problem: Expressions) -> tuple[Expressions, Expressions]:
    """Rewrite a domain and a problem as plain PDDL. Texts that are not definitions stay as they are."""
    factored = ":factored-privacy" in collect_tokens([s for s in list_sections(domain) if s[:1] == (":requirements",)])
    domain = map_sections(domain, lambda section: _make_plain_domain_section(section, factored))
    problem = map_sections(_join_objects(problem), lambda section: _make_plain_problem_section(section, factored))
    return domain, _initialize_cost(domain, _drop_unread_values(domain, problem))


def list_sections(text: Expressions) -> list[Section]:
    """Return the sections of ``(define (kind name) section ..)``."""
    if len(text) != 1 or text[0][:1] != ("define",):
        return []
    return [section for section in text[0][2:] if section and isinstance(section, tuple)]


def map_sections(text: Expressions, change: Callable[[Section], Section]) -> Expressions:
    """Apply a function to each section of a definition."""
    if not list_sections(text):
        return text
    return ((*text[0][:2], *(change(s) if s and isinstance(s, tuple) else s for s in text[0][2:])),)


def collect_tokens(expr: Sexp) -> set[str]:
    """Return all tokens of an expression."""
    return {expr} if isinstance(expr, str) else {token for part in expr for token in collect_tokens(part)}


def _make_plain_domain_section(section: Section, factored: bool) -> Section:
    """Rewrite a section of a domain as plain PDDL."""
    match section:
        case (":types", *_):
            return _declare_supertypes(section)
        case (":predicates" | ":functions", *_):
            heads = list[Sexp]()
            for item in _unwrap_private_blocks(section, factored):
                heads += ("-", "number") if item == "-number" else (_rename_repeated_variables(item),)
            return tuple(heads)
        case (":constants", *_):
            return _unwrap_private_blocks(section, factored)
        case (":action" | ":durative-action", *_):
            return _bind_local_variables(_add_agent_parameter(section))
    return _rename_constraint_section(section)


def _make_plain_problem_section(section: Section, factored: bool) -> Section:
    """Rewrite a section of a problem as plain PDDL."""
    match section:
        case (":objects", *_):
            return _unwrap_private_blocks(section, factored)
        case (":init", *facts):
            return ":init", *(conjunct for fact in facts for conjunct in _iterate_conjuncts(fact))
    return _rename_constraint_section(section)


def _rename_constraint_section(section: Section) -> Section:
    """Rename ``:constraint`` to ``:constraints``; other sections stay as they are."""
    return (":constraints", *section[1:]) if section[0] == ":constraint" else section


def _declare_supertypes(section: Section) -> Section:
    """Declare the types that ``:types`` names only after ``-``."""
    items = list(split_glued_hyphens(section[1:]))
    supertypes = [t for before, kind in pairwise(items) if before == "-" for t in list_type_alternatives(kind)]
    declared = {item for before, item in zip(["", *items], items, strict=False) if before != "-"}
    undeclared_types = [t for t in dict.fromkeys(supertypes) if t not in declared and t != "object"]
    return ":types", *(part for type_name in undeclared_types for part in (type_name, "-", "object")), *items


def _unwrap_private_blocks(section: Section, factored: bool) -> Section:
    """Replace ``(:private owner ..)`` by its contents. In a ``factored`` task objects have no owner."""
    items = list[Sexp]()
    for item in section:
        if isinstance(item, tuple) and item[:1] == (":private",):
            if section[0] in (":predicates", ":functions"):
                items += _remove_owner_variable(item[1:])
            else:
                private_list = item[1:] if factored else _remove_owner_name(item[1:])
                items = [items[0], *complete_typed_list(items[1:]), *complete_typed_list(private_list)]
        else:
            items.append(item)
    return tuple(items)


def complete_typed_list(items: Sequence[Sexp]) -> list[Sexp]:
    """Give untyped names at the end of a typed list the type ``object``, so that another list can follow."""
    tokens = list(split_glued_hyphens(items))
    if not tokens or isinstance(tokens[-1], tuple) or "-" in tokens[-2:]:
        return tokens
    return [*tokens, "-", "object"]


def _remove_owner_name(items: tuple[Sexp, ...]) -> tuple[Sexp, ...]:
    """Remove the owner of private objects: a name without a type before them."""
    has_owner = items and isinstance(items[0], str) and OBJECT.fullmatch(items[0]) and items[1:2] != ("-",)
    return items[1:] if has_owner else items


def _remove_owner_variable(items: tuple[Sexp, ...]) -> tuple[Sexp, ...]:
    """Remove the owner of private declarations: a variable before them, perhaps with a type."""
    if not items or not isinstance(items[0], str) or not VARIABLE.fullmatch(items[0]):
        return items
    next_token = items[1] if len(items) > 1 and isinstance(items[1], str) else ""
    return items[3:] if next_token == "-" else items[2:] if next_token.startswith("-") else items[1:]


def _rename_repeated_variables(head: Sexp) -> Sexp:
    """Rename repeated variables of a declaration. The new names contain a parenthesis, which no token has."""
    if not isinstance(head, tuple):
        return head
    items = list[Sexp]()
    for item in head:
        is_repeated = isinstance(item, str) and VARIABLE.fullmatch(item) and item in items
        items.append(f"{item}({len(items)})" if is_repeated else item)
    return tuple(items)


def _add_agent_parameter(section: Section) -> Section:
    """Make the ``:agent`` of an action the first of its parameters."""
    if ":agent" not in section:
        return section
    start = end = section.index(":agent") + 1
    while end < len(section) and not (isinstance(section[end], str) and section[end][0] == ":"):
        end += 1
    agent, fields = section[start:end], section[: start - 1] + section[end:]
    if not agent:
        return section  # ":agent" without a value: rejected later as an unknown field
    if len(agent) == 1 and isinstance(agent[0], tuple):
        agent = agent[0]
    if ":parameters" not in fields:
        return (*fields, ":parameters", agent)
    at = fields.index(":parameters") + 1
    if not isinstance(fields[at] if at < len(fields) else None, tuple):
        return fields
    return (*fields[:at], (*complete_typed_list(agent), *fields[at]), *fields[at + 1 :])


def _bind_local_variables(section: Section) -> Section:
    """Quantify the ``:vars`` of an action. The precondition must determine each variable that the effect names."""
    fields = dict(zip(section[2::2], section[3::2], strict=False))
    variables = fields.pop(":vars", None)
    if section[0] != ":action" or not isinstance(variables, tuple) or len(section) != 4 + 2 * len(fields):
        return section
    condition, effect = fields.get(":precondition", ()), fields.get(":effect", ())
    items = complete_typed_list(variables)
    names = [item for item, before in zip(items, ["", *items], strict=False) if "-" not in (item, before)]
    copies = {v: f"{v}(2)" for v in names}
    effect_variables = [v for v in names if v in collect_tokens(effect)]
    conditions = [("exists", tuple(items), condition)]
    if effect_variables:  # objects that satisfy the condition agree in these variables
        both_conditions = ("and", condition, _rename_tokens(condition, copies))
        equations = ("and", *(("=", v, copies[v]) for v in effect_variables))
        all_items = (*items, *_rename_tokens(tuple(items), copies))
        conditions.append(("forall", all_items, ("imply", both_conditions, equations)))
        local_list, outer_list = _split_typed_list(items, effect_variables)
        effect = ("forall", outer_list, ("when", ("exists", local_list, condition), effect))
    fields |= {":precondition": ("and", *conditions), ":effect": effect}
    return (*section[:2], *(part for field in fields.items() for part in field))


def _rename_tokens(expr: Sexp, names: dict[Sexp, Sexp]) -> Sexp:
    return names.get(expr, expr) if isinstance(expr, str) else tuple(_rename_tokens(part, names) for part in expr)


def _split_typed_list(items: list[Sexp], selected: list[Sexp]) -> tuple[Sexp, Sexp]:
    """Split a typed list in two: the list without the selected variables, and the list of only these variables."""
    pairs, untyped, tokens = list[tuple[Sexp, tuple[Sexp, ...]]](), list[Sexp](), iter(items)
    for token in tokens:
        if token == "-":
            kind = next(tokens, ())
            pairs += [(v, (v, "-", kind)) for v in untyped]
            untyped = []
        else:
            untyped.append(token)
    pairs += [(v, (v,)) for v in untyped]
    pairs.sort(key=lambda pair: -len(pair[1]))  # untyped variables last: before a typed one they would get its type
    unselected_list = tuple(part for v, typed in pairs if v not in selected for part in typed)
    return unselected_list, tuple(part for v, typed in pairs if v in selected for part in typed)


def _iterate_conjuncts(fact: Sexp) -> Iterator[Sexp]:
    """Yield the members of ``(and ..)`` in ``:init``."""
    if isinstance(fact, tuple) and fact[:1] == ("and",):
        for part in fact[1:]:
            yield from _iterate_conjuncts(part)
    else:
        yield fact


def _join_objects(problem: Expressions) -> Expressions:
    """Join several ``:objects`` sections into one."""
    object_sections = [section for section in list_sections(problem) if section[:1] == (":objects",)]
    if len(object_sections) < 2:
        return problem
    objects = (":objects", *(item for section in object_sections for item in complete_typed_list(section[1:])))
    remaining = [section for section in problem[0][2:] if section not in object_sections]
    return ((*problem[0][:2], objects, *remaining),)


def _find_assigned_function(fact: Sexp) -> str:
    """Return the function to which ``(= (function object ..) number)`` gives a value; empty for other facts."""
    match fact:
        case ("=", (str(name), *xs), str(value)) if all(isinstance(x, str) and OBJECT.fullmatch(x) for x in xs):
            return name if NAME.fullmatch(name) and NUMBER.fullmatch(value) else ""
    return ""


def _drop_unread_values(domain: Expressions, problem: Expressions) -> Expressions:
    """Remove the initial values of functions that nothing else in domain and problem names."""
    facts = [fact for section in list_sections(problem) if section[:1] == (":init",) for fact in section[1:]]
    names = {_find_assigned_function(fact) for fact in facts} - {""}
    if COST in collect_tokens([s for s in list_sections(domain) if s[:1] == (":functions",)]) and COST not in names:
        return problem
    remaining = [section for section in list_sections(problem) if section[:1] != (":init",)]
    unread_names = (
        names
        - {COST}
        - collect_tokens([domain, remaining, [fact for fact in facts if not _find_assigned_function(fact)]])
    )

    def drop_unread(section: Section) -> Section:
        is_init = section[0] == ":init"
        return tuple(part for part in section if not (is_init and _find_assigned_function(part) in unread_names))

    return map_sections(problem, drop_unread)


def _initialize_cost(domain: Expressions, problem: Expressions) -> Expressions:
    """Set ``(total-cost)`` to 0 if it has no value, and only increases and the metric name it."""
    sections = list_sections(domain) + list_sections(problem)
    declared = any((COST,) in section for section in list_sections(domain) if section[:1] == (":functions",))
    if not declared or any(_mentions_cost(s) for s in sections if s[:1] not in ((":functions",), (":metric",))):
        return problem
    value = ("=", (COST,), "0")
    if not any(section[:1] == (":init",) for section in list_sections(problem)):
        return ((*problem[0], (":init", value)),)
    return map_sections(problem, lambda section: (*section, value) if section[0] == ":init" else section)


def _mentions_cost(expr: Sexp) -> bool:
    """Whether an expression names ``total-cost`` other than as the target of ``increase``."""
    match expr:
        case str():
            return expr == COST
        case ("increase", "total-cost" | ("total-cost",), value):
            return _mentions_cost(value)
    return any(_mentions_cost(part) for part in expr)
