"""Unrelated declarations, facts, actions and rules."""

from __future__ import annotations

from random import Random

from metamorphic_task import List, Task, Tree, section, with_sections
from symbols import alternatives, fresh_name, symbols_of, typed_list, typed_pairs
from traversal import Traversal

from rewritings.base import rewriting


class _OwnRoot(Traversal):
    """Replaces the type ``object``, also where it is left out."""

    def __init__(self, root: str) -> None:
        self.root_type = root

    def type_name(self, name: str) -> str:
        return self.root_type if name == "object" else name

    def _typed(self, words: List, hook: object) -> List:
        return super()._typed(typed_list(typed_pairs(words)), hook)


@rewriting()
def unrelated_objects(task: Task, random: Random) -> Task:
    """Put all types below a new one that replaces ``object``, and add a type with objects next to it."""
    root, second_type = fresh_name(task, "own-root-"), fresh_name(task, "unrelated-type-")
    rewritten = _OwnRoot(root).task(task)
    types = (":types", *section(rewritten.domain, ":types"), root, second_type, "-", "object")
    domain = [types, *[part for part in rewritten.domain[2:] if part[0] != ":types"]]
    names = [fresh_name(task, f"unrelated-{n}-") for n in range(random.randint(1, 3))]
    problem = (*rewritten.problem, (":objects", *names, "-", second_type))
    return rewritten._replace(domain=with_sections(task.domain, domain), problem=problem)


@rewriting()
def unrelated_declarations(task: Task, random: Random) -> Task:
    """Add types, predicates, functions, facts, actions and a rule about such an action."""
    kind, second_type = fresh_name(task, "extra-type-"), fresh_name(task, "extra-subtype-")
    fact, number = fresh_name(task, "extra-fact-"), fresh_name(task, "extra-number-")
    action, rule = fresh_name(task, "extra-action-"), fresh_name(task, "extra-rule-")
    types = (":types", second_type, "-", kind, kind, "-", "object", *section(task.domain, ":types"))
    predicates = (":predicates", *section(task.domain, ":predicates"), (fact, "?x", "-", kind), (f"{fact}-0",))
    functions = (":functions", (number,), *section(task.domain, ":functions"))
    other_sections = [part for part in task.domain[2:] if part[0] not in (":types", ":predicates", ":functions")]
    domain: list[List] = [types, predicates, functions, *other_sections]
    effect: Tree = ("and", (fact, "?x"), (f"{fact}-0",), ("increase", (number,), "1"))
    domain.append(
        (":action", action, ":parameters", ("?x", "-", kind), ":precondition", (f"{fact}-0",), ":effect", effect)
    )
    init: List = ((f"{fact}-0",), ("=", (number,), "0"))
    problem = [(*part, *init) if part[0] == ":init" else part for part in task.problem[2:]]
    added = (":process", rule, ":on", (action, "?x"), ":forbid", (fact, "?x"))
    extra = ("define", ("safety", "extra"), added)
    specs = ((*task.specs[0], added), *task.specs[1:]) if task.specs else (extra,)
    return task._replace(
        domain=with_sections(task.domain, domain), problem=with_sections(task.problem, problem), specs=specs
    )


@rewriting()
def extra_supertypes(task: Task, random: Random) -> Task:
    """Put a new type between some types and their supertypes, and give some types a second supertype."""
    symbols = symbols_of(task)
    middle = fresh_name(task, "middle-type-")
    pairs = typed_pairs(section(task.domain, ":types"))
    chosen = {kind for kind in symbols.parents if random.random() < 0.5}
    out = [(name, f"{middle}-{n}") if name in chosen else (name, kind) for n, (name, kind) in enumerate(pairs)]
    out += [(f"{middle}-{n}", kind) for n, (name, kind) in enumerate(pairs) if name in chosen]
    seconds = [(name, f"{middle}-second") for name, _ in pairs if random.random() < 0.3]
    out += [*seconds, (f"{middle}-second", "object")] if seconds else []
    if not pairs or any(len(alternatives(kind)) > 1 for _, kind in pairs):
        return task
    types = (":types", *typed_list(out))
    domain = [types if part[0] == ":types" else part for part in task.domain[2:]]
    return task._replace(domain=with_sections(task.domain, domain))
