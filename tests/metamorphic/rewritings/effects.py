"""Effects, preconditions and goals written in other ways."""

from __future__ import annotations

from random import Random

from metamorphic_task import List, Task, Tree, field, section, with_field, with_sections, words_of
from symbols import Symbols, fresh_name, symbols_of, typed_list, typed_pairs
from traversal import ASSIGNMENTS, Scope, is_quantifier, map_effects, map_formulas

from rewritings.base import rewriting
from rewritings.connectives import has_preference


@rewriting()
def split_conditional_effects(task: Task, random: Random) -> Task:
    """Write ``(when c (and a b))`` and ``(forall (?x) (and a b))`` as two; put effects below a true ``when``."""

    def change(tree: List, _: Scope) -> Tree:
        if (tree[0] == "when" or is_quantifier(tree)) and tree[2] and tree[2][0] == "and":
            return ("and", *[(tree[0], tree[1], part) for part in tree[2][1:]])
        if tree[0] in ("and", "when", "forall") and random.random() < 0.5:
            return ("when", ("and",), tree)
        return tree

    return map_effects(task, change)


@rewriting()
def joined_conditions(task: Task, random: Random) -> Task:
    """Write a ``when`` below another as one with both conditions, and the other way round."""

    def change(tree: List, _: Scope) -> Tree:
        if tree[0] != "when":
            return tree
        if tree[2] and tree[2][0] == "when":
            return ("when", ("and", tree[1], tree[2][1]), tree[2][2])
        if tree[1] and tree[1][0] == "and" and len(tree[1]) > 2 and random.random() < 0.7:
            return ("when", tree[1][1], ("when", ("and", *tree[1][2:]), tree[2]))
        return tree

    return map_effects(task, change)


@rewriting()
def shuffled_effects(task: Task, random: Random) -> Task:
    """Shuffle conjunctions of effects, write literals twice, and put ``and`` around effects."""

    def change(tree: List, _: Scope) -> Tree:
        if tree[0] == "and":
            parts = list(tree[1:])
            again = [part for part in parts if part and part[0] not in ASSIGNMENTS and not is_choice(part)]
            again = [part for part in again if not set(words_of(part)) & set(ASSIGNMENTS)]
            parts += random.sample(again, random.randint(0, len(again)))
            random.shuffle(parts)
            return ("and", *parts)
        return ("and", tree, ("and",)) if random.random() < 0.2 and tree[0] != "at" else tree

    return map_effects(task, change)


def is_choice(tree: Tree) -> bool:
    """True if an effect has ``oneof`` in it."""
    return "oneof" in set(words_of(tree))


def atoms_of(tree: Tree, symbols: Symbols, hidden: frozenset[str] = frozenset()) -> list[List]:
    """The atoms in a formula whose variables no quantifier in it binds."""
    if isinstance(tree, str) or not tree:
        return []
    if is_quantifier(tree):
        return atoms_of(tree[2], symbols, hidden | {name for name, _ in typed_pairs(tree[1])})
    if tree[0] in symbols.predicates and all(isinstance(term, str) for term in tree[1:]):
        return [] if hidden & set(tree[1:]) else [tree]
    return [atom for part in tree[1:] for atom in atoms_of(part, symbols, hidden)]


@rewriting()
def effects_by_cases(task: Task, random: Random) -> Task:
    """Write ``(when c e)`` twice: where an atom of c is true, and where it is false."""
    symbols = symbols_of(task)

    def change(tree: List, _: Scope) -> Tree:
        if tree[0] != "when" or is_choice(tree) or {"start", "end"} & set(words_of(tree[1])):
            return tree
        atoms = atoms_of(tree[1], symbols)
        if not atoms:
            return tree
        atom = random.choice(atoms)
        return ("and", *[("when", ("and", case, tree[1]), tree[2]) for case in (atom, ("not", atom))])

    return map_effects(task, change)


@rewriting()
def moved_conditions(task: Task, _: Random) -> Task:
    """Move the condition of a ``forall`` effect out where it does not name the variables, or in."""
    symbols = symbols_of(task)

    def change(tree: List, _: Scope) -> Tree:
        if is_quantifier(tree) and tree[2] and tree[2][0] == "when":
            names = {name for name, _ in typed_pairs(tree[1])}
            inner = tree[2]
            if not names & set(words_of(inner[1])) and symbols.bindings(typed_pairs(tree[1])):
                return ("when", inner[1], (tree[0], tree[1], inner[2]))
        if tree[0] == "when" and is_quantifier(tree[2]):
            names = {name for name, _ in typed_pairs(tree[2][1])}
            if not names & set(words_of(tree[1])) and symbols.bindings(typed_pairs(tree[2][1])):
                return (*tree[2][:2], ("when", tree[1], tree[2][2]))
        return tree

    return map_effects(task, change)


@rewriting()
def named_conditions(task: Task, random: Random) -> Task:
    """Give preconditions and the goal names as derived predicates, in tasks without times and numbers."""
    symbols = symbols_of(task)
    if task.is_timed():
        return task

    def is_plain(tree: Tree) -> bool:
        return bool(tree) and not has_preference(tree) and not set(words_of(tree)) & set(symbols.functions)

    stem = fresh_name(task, "named-condition-")
    heads: list[List] = []
    axioms: list[List] = []

    def name_condition(tree: Tree, pairs: list[tuple[str, Tree]]) -> Tree:
        if not is_plain(tree) or random.random() < 0.2:
            return tree
        name = f"{stem}-{len(heads)}"
        heads.append((name, *typed_list(pairs)))
        axioms.append((":derived", heads[-1], tree))
        return (name, *[variable for variable, _ in pairs])

    domain = []
    for part in task.domain[2:]:
        if part[0] == ":action" and ":precondition" in part and ":vars" not in part:
            pairs = typed_pairs(field(part, ":parameters"))
            part = with_field(part, ":precondition", name_condition(field(part, ":precondition"), pairs))
        domain.append(part)
    constants = symbols.constants
    problem = [
        (part[0], name_condition(part[1], []))
        if part[0] == ":goal" and not (set(words_of(part[1])) & set(symbols.objects)) - constants
        else part
        for part in task.problem[2:]
    ]
    if not heads:
        return task
    domain = [(*part, *heads) if part[0] == ":predicates" else part for part in domain]
    domain += axioms
    return task._replace(domain=with_sections(task.domain, domain), problem=with_sections(task.problem, problem))


@rewriting()
def objects_by_equality(task: Task, random: Random) -> Task:
    """Write ``(p o)`` in conditions of the domain and the goal as ``(exists (?k) (and (= ?k o) (p ?k)))``."""
    symbols = symbols_of(task)
    if task.is_timed():
        return task

    def change(tree: List, scope: Scope) -> Tree:
        if scope.place in ("rule", "constraint") or scope.level != "state" or tree[0] not in symbols.predicates:
            return tree
        kinds = symbols.predicates[tree[0]]
        places = [n for n, term in enumerate(tree) if n and not term.startswith("?")]
        if not places or len(kinds) != len(tree) - 1 or random.random() < 0.3:
            return tree
        place = random.choice(places)
        atom = (*tree[:place], "?equal-object", *tree[place + 1 :])
        variables = ("?equal-object", "-", kinds[place - 1])
        return ("exists", variables, ("and", ("=", "?equal-object", tree[place]), atom))

    return map_formulas(task, change)


@rewriting()
def implicit_fields(task: Task, random: Random) -> Task:
    """Leave out empty fields of actions, or write them as ``()`` or ``(and)``."""

    def action(part: List) -> List:
        if part[0] != ":action":
            return part
        for name, empty in ((":parameters", ()), (":precondition", ("and",)), (":effect", ("and",))):
            if field(part, name) in ((), ("and",)):
                bare = tuple(w for n, w in enumerate(part) if w != name and part[n - 1] != name)
                part = random.choice((bare, (*bare, name, ()), (*bare, name, empty)))
        return part

    return task._replace(domain=with_sections(task.domain, [action(part) for part in task.domain[2:]]))


@rewriting()
def conjunctive_goals(task: Task, random: Random) -> Task:
    """Write the goal as a conjunction of conjunctions, or without the ``and`` around one part."""
    (goal,) = section(task.problem, ":goal") or (("and",),)
    parts = list(goal[1:]) if goal and goal[0] == "and" else [goal]
    cut = random.randint(0, len(parts))
    nested: Tree = ("and", ("and", *parts[:cut]), ("and", ("and", *parts[cut:])))
    if len(parts) == 1 and goal and goal[0] == "and":
        nested = parts[0]
    problem = [(":goal", nested) if part[0] == ":goal" else part for part in task.problem[2:]]
    return task._replace(problem=with_sections(task.problem, problem))
