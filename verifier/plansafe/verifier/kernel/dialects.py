"""Older, younger and looser PDDL, rewritten into what it stands for (docs/language.md, section 2, Dialects)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from .reader import NAME, NUMBER, OBJECT, VARIABLE, Sexp, unglued

COST = "total-cost"


def plain(domain: tuple[Sexp, ...], problem: tuple[Sexp, ...]) -> tuple[tuple[Sexp, ...], tuple[Sexp, ...]]:
    """A domain and a problem as plain PDDL. What is no definition stays as it is, and is refused where it is read."""
    factored = ":factored-privacy" in tokens([s for s in sections(domain) if s[:1] == (":requirements",)])
    domain = changed(domain, lambda section: plain_domain(section, factored))
    problem = changed(united(problem), lambda section: plain_problem(section, factored))
    return domain, free_cost(domain, without_unread(domain, problem))


def sections(text: tuple[Sexp, ...]) -> list[tuple[Sexp, ...]]:
    """The sections of ``(define (kind name) section ..)``."""
    if len(text) != 1 or text[0][:1] != ("define",):
        return []
    return [section for section in text[0][2:] if section and isinstance(section, tuple)]


def changed(text: tuple[Sexp, ...], change: Callable[[tuple[Sexp, ...]], tuple[Sexp, ...]]) -> tuple[Sexp, ...]:
    """A definition with each of its sections changed."""
    if not sections(text):
        return text
    return ((*text[0][:2], *(change(s) if s and isinstance(s, tuple) else s for s in text[0][2:])),)


def tokens(e: Sexp) -> set[str]:
    """All tokens of an expression."""
    return {e} if isinstance(e, str) else {token for part in e for token in tokens(part)}


def plain_domain(section: tuple[Sexp, ...], factored: bool) -> tuple[Sexp, ...]:
    """A section of a domain as plain PDDL."""
    match section:
        case (":types", *_):
            return with_supertypes(section)
        case (":predicates" | ":functions", *_):
            items = [("-", "number") if item == "-number" else (item,) for item in public(section, factored)]
            return tuple(own_variables(head) for item in items for head in item)
        case (":constants", *_):
            return public(section, factored)
        case (":action" | ":durative-action", *_):
            return with_locals(with_agent(section))
    return constraints(section)


def plain_problem(section: tuple[Sexp, ...], factored: bool) -> tuple[Sexp, ...]:
    """A section of a problem as plain PDDL."""
    match section:
        case (":objects", *_):
            return public(section, factored)
        case (":init", *facts):
            return ":init", *(one for fact in facts for one in conjuncts(fact))
    return constraints(section)


def constraints(section: tuple[Sexp, ...]) -> tuple[Sexp, ...]:
    """``:constraint`` is ``:constraints``."""
    return (":constraints", *section[1:]) if section[0] == ":constraint" else section


def with_supertypes(section: tuple[Sexp, ...]) -> tuple[Sexp, ...]:
    """``:types`` with those that stand behind ``-`` alone declared at the end."""
    items = list(unglued(section[1:]))
    kinds = [kind for before, kind in pairwise(items) if before == "-"]
    above = [
        t for kind in kinds for t in (kind[1:] if isinstance(kind, tuple) and kind[:1] == ("either",) else (kind,))
    ]
    declared = {item for before, item in zip(["", *items], items, strict=False) if before != "-"}
    missing = [t for t in dict.fromkeys(above) if t not in declared and t != "object"]
    return ":types", *(part for t in missing for part in (t, "-", "object")), *items


def public(section: tuple[Sexp, ...], factored: bool) -> tuple[Sexp, ...]:
    """A section with what its ``(:private owner ..)`` blocks hold; the owner is left out."""
    items = list[Sexp]()
    for item in section:
        if isinstance(item, tuple) and item[:1] == (":private",):
            if section[0] in (":predicates", ":functions"):
                items += owned(item[1:], True, factored)
            else:
                items = [items[0], *typed_apart(items[1:]), *typed_apart(owned(item[1:], False, factored))]
        else:
            items.append(item)
    return tuple(items)


def typed_apart(items: Sequence[Sexp]) -> list[Sexp]:
    """A typed list behind which another one may stand: names at its end without a type are objects."""
    plain_list = list(unglued(items))
    if not plain_list or isinstance(plain_list[-1], tuple) or "-" in plain_list[-2:]:
        return plain_list
    return [*plain_list, "-", "object"]


def owned(items: tuple[Sexp, ...], signatures: bool, factored: bool) -> tuple[Sexp, ...]:
    """A private block without its owner: a typed variable, or before objects a name."""
    if not items or not isinstance(items[0], str):
        return items
    if not signatures:
        alone = OBJECT.fullmatch(items[0]) and items[1:2] != ("-",)
        return items[1:] if alone and not factored else items
    if not VARIABLE.fullmatch(items[0]):
        return items
    kind = items[1] if len(items) > 1 and isinstance(items[1], str) else ""
    return items[3:] if kind == "-" else items[2:] if kind.startswith("-") else items[1:]


def own_variables(head: Sexp) -> Sexp:
    """A declaration in which no variable comes twice: no token has a parenthesis, so the new names are new."""
    if not isinstance(head, tuple):
        return head
    seen = list[Sexp]()
    for item in head:
        again = isinstance(item, str) and VARIABLE.fullmatch(item) and item in seen
        seen.append(f"{item}({len(seen)})" if again else item)
    return tuple(seen)


def with_agent(section: tuple[Sexp, ...]) -> tuple[Sexp, ...]:
    """An action whose ``:agent`` is the first of its parameters."""
    if ":agent" not in section:
        return section
    start = end = section.index(":agent") + 1
    while end < len(section) and not (isinstance(section[end], str) and section[end][0] == ":"):
        end += 1
    agent, rest = section[start:end], section[: start - 1] + section[end:]
    if not agent:
        return section  # ":agent" without a value, refused as a field that nobody knows
    if len(agent) == 1 and isinstance(agent[0], tuple):
        agent = agent[0]
    if ":parameters" not in rest:
        return (*rest, ":parameters", agent)
    at = rest.index(":parameters") + 1
    if not isinstance(rest[at] if at < len(rest) else None, tuple):
        return rest
    return (*rest[:at], (*typed_apart(agent), *rest[at]), *rest[at + 1 :])


def with_locals(section: tuple[Sexp, ...]) -> tuple[Sexp, ...]:
    """An action whose ``:vars`` are bound by its precondition, and clear where its effect names them."""
    fields = dict(zip(section[2::2], section[3::2], strict=False))
    variables = fields.pop(":vars", None)
    if section[0] != ":action" or not isinstance(variables, tuple) or len(section) != 4 + 2 * len(fields):
        return section
    condition, effect = fields.get(":precondition", ()), fields.get(":effect", ())
    items = typed_apart(variables)
    names = [v for v, before in zip(items, ["", *items], strict=False) if "-" not in (v, before)]
    copy = {v: f"{v}(2)" for v in names}
    other = renamed(condition, copy)
    chosen = [v for v in names if v in tokens(effect)]
    asked = [("exists", tuple(items), condition)]
    if chosen:
        both = ("and", condition, other)
        same = ("and", *(("=", v, copy[v]) for v in chosen))
        asked.append(("forall", (*items, *renamed(tuple(items), copy)), ("imply", both, same)))
        left, taken = parted(items, chosen)
        effect = ("forall", taken, ("when", ("exists", left, condition), effect))
    fields |= {":precondition": ("and", *asked), ":effect": effect}
    return (*section[:2], *(part for field in fields.items() for part in field))


def renamed(e: Sexp, names: dict[Sexp, Sexp]) -> Sexp:
    """An expression with other variables, its binders included."""
    return names.get(e, e) if isinstance(e, str) else tuple(renamed(part, names) for part in e)


def parted(items: list[Sexp], chosen: list[Sexp]) -> tuple[Sexp, Sexp]:
    """A typed list in two: without the variables chosen, and of these alone."""
    pairs, pending, rest = list[tuple[Sexp, tuple[Sexp, ...]]](), list[Sexp](), iter(items)
    for item in rest:
        if item == "-":
            kind = next(rest, ())
            pairs += [(v, (v, "-", kind)) for v in pending]
            pending = []
        else:
            pending.append(item)
    pairs += [(v, (v,)) for v in pending]
    # Those without a type last: behind a typed one they would be taken for its neighbours.
    pairs.sort(key=lambda pair: -len(pair[1]))
    left = tuple(part for v, typed in pairs if v not in chosen for part in typed)
    return left, tuple(part for v, typed in pairs if v in chosen for part in typed)


def conjuncts(fact: Sexp) -> Iterator[Sexp]:
    """What ``(and ..)`` in ``:init`` lists."""
    if isinstance(fact, tuple) and fact[:1] == ("and",):
        for part in fact[1:]:
            yield from conjuncts(part)
    else:
        yield fact


def united(problem: tuple[Sexp, ...]) -> tuple[Sexp, ...]:
    """A problem whose ``:objects`` are one section."""
    several = [section for section in sections(problem) if section[:1] == (":objects",)]
    if len(several) < 2:
        return problem
    objects = (":objects", *(item for section in several for item in typed_apart(section[1:])))
    others = [section for section in problem[0][2:] if section not in several]
    return ((*problem[0][:2], objects, *others),)


def valued(fact: Sexp) -> str:
    """The function that ``(= (function object ..) number)`` gives a value to; empty of anything else."""
    match fact:
        case ("=", (str(name), *xs), str(value)) if all(isinstance(x, str) and OBJECT.fullmatch(x) for x in xs):
            return name if NAME.fullmatch(name) and NUMBER.fullmatch(value) else ""
    return ""


def without_unread(domain: tuple[Sexp, ...], problem: tuple[Sexp, ...]) -> tuple[Sexp, ...]:
    """A problem whose ``:init`` gives no values to functions that nothing else in domain and problem names."""
    given = [fact for section in sections(problem) if section[:1] == (":init",) for fact in section[1:]]
    names = {valued(fact) for fact in given} - {""}
    if COST in tokens([s for s in sections(domain) if s[:1] == (":functions",)]) and COST not in names:
        return problem
    others = [section for section in sections(problem) if section[:1] != (":init",)]
    unread = names - {COST} - tokens([domain, others, [fact for fact in given if not valued(fact)]])
    return changed(problem, lambda s: tuple(e for e in s if s[0] != ":init" or valued(e) not in unread))


def free_cost(domain: tuple[Sexp, ...], problem: tuple[Sexp, ...]) -> tuple[Sexp, ...]:
    """A problem in which ``(total-cost)`` is 0 if it has no value, and nothing but increases and the metric name it."""
    given = [s for s in sections(domain) + sections(problem) if s[:1] not in ((":functions",), (":metric",))]
    declared = any((COST,) in s for s in sections(domain) if s[:1] == (":functions",))
    if not declared or any(names_cost(section) for section in given):
        return problem
    value = ("=", (COST,), "0")
    if not any(section[:1] == (":init",) for section in sections(problem)):
        return ((*problem[0], (":init", value)),)
    return changed(problem, lambda section: (*section, value) if section[0] == ":init" else section)


def names_cost(e: Sexp) -> bool:
    """Whether an expression names ``total-cost`` other than as what it increases."""
    match e:
        case str():
            return e == COST
        case ("increase", "total-cost" | ("total-cost",), value):
            return names_cost(value)
    return any(names_cost(part) for part in e)
