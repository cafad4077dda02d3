"""The order and number of sections, declarations and facts; the layout of the text; the form of a plan."""

from __future__ import annotations

from random import Random

from metamorphic_task import List, Task, Tree, field, section, with_field, with_sections
from symbols import alternatives, typed_list, typed_pairs
from verdicts import Invariants

from rewritings.base import rewriting


def shuffled(random: Random, items: List | list[List]) -> List:
    """The items in random order."""
    return tuple(random.sample(list(items), len(items)))


@rewriting()
def shuffled_sections(task: Task, random: Random) -> Task:
    """Shuffle sections, actions, rules, fields, declarations and facts."""

    def content(part: List) -> List:
        if part[0] in (":init", ":predicates"):
            return (part[0], *shuffled(random, part[1:]))
        if part[0] == ":functions" and all(isinstance(head, tuple) for head in part[1:]):
            return (part[0], *shuffled(random, part[1:]))
        if part[0] in (":types", ":constants", ":objects"):
            pairs = typed_pairs(part[1:])
            return (part[0], *typed_list(list(shuffled(random, pairs))))
        if part[0] in (":action", ":durative-action", ":process", ":trajectory", ":termination", ":obligation"):
            fields = list(zip(part[2::2], part[3::2], strict=True))
            return (*part[:2], *[word for pair in shuffled(random, fields) for word in pair])
        return part

    def definition(tree: List) -> List:
        return with_sections(tree, [content(part) for part in shuffled(random, tree[2:])])

    specs = tuple(definition(spec) for spec in task.specs)
    return task._replace(domain=definition(task.domain), problem=definition(task.problem), specs=specs)


@rewriting()
def repeated_facts(task: Task, random: Random) -> Task:
    """Write facts, timed facts and rules of derived predicates twice, split ``:objects``, join facts by ``and``."""

    def content(part: List) -> list[List]:
        if part[0] == ":init":
            plain = [fact for fact in part[1:] if fact[0] not in ("=", "or", "oneof", "unknown", "<=", ">=", "<", ">")]
            twice = [fact for fact in plain if random.random() < 0.4]
            bare = [fact for fact in plain if fact[0] not in ("at", "not", "and")]
            joined: List = (("and", *bare[:2]),) if bare else ()
            return [(*part, *twice, *joined)]
        if part[0] == ":objects":
            pairs = typed_pairs(part[1:])
            cut = random.randint(0, len(pairs))
            return [(part[0], *typed_list(pairs[:cut])), (part[0], *typed_list(pairs[cut:]))]
        return [part, part] if part[0] == ":derived" else [part]

    domain = [changed for part in task.domain[2:] for changed in content(part)]
    problem = [changed for part in task.problem[2:] for changed in content(part)]
    return task._replace(domain=with_sections(task.domain, domain), problem=with_sections(task.problem, problem))


@rewriting()
def repeated_constants(task: Task, random: Random) -> Task:
    """Declare constants again as objects."""
    constants = [pair for pair in typed_pairs(section(task.domain, ":constants")) if random.random() < 0.6]
    again = [(":objects", *typed_list(constants))] if constants else []
    return task._replace(problem=(*task.problem, *again))


@rewriting()
def all_constants(task: Task, _: Random) -> Task:
    """Declare all objects as constants of the domain."""
    pairs = [*typed_pairs(section(task.domain, ":constants")), *typed_pairs(section(task.problem, ":objects"))]
    sections = [part for part in task.domain[2:] if part[0] != ":constants"]
    place = 1 + max((n for n, part in enumerate(sections) if part[0] in (":types", ":requirements")), default=-1)
    sections.insert(place, (":constants", *typed_list(pairs)))
    problem = [part for part in task.problem[2:] if part[0] != ":objects"]
    return task._replace(domain=with_sections(task.domain, sections), problem=with_sections(task.problem, problem))


@rewriting()
def constraints_of_the_problem(task: Task, _: Random) -> Task:
    """Move the constraints of the domain to the problem, before those there."""
    laws = [part[1] for part in task.domain[2:] if part[0] == ":constraints"]
    if not laws:
        return task
    domain = [part for part in task.domain[2:] if part[0] != ":constraints"]
    constraints = [part[1] for part in task.problem[2:] if part[0] == ":constraints"]
    problem = [part for part in task.problem[2:] if part[0] != ":constraints"]
    both = (":constraints", ("and", *laws, *constraints))
    return task._replace(
        domain=with_sections(task.domain, domain), problem=with_sections(task.problem, [*problem, both])
    )


@rewriting()
def random_layout(task: Task, random: Random) -> Task:
    """Write all texts in random letter case, with random line breaks and comments."""
    return task._replace(layout=random.randrange(1_000_000))


@rewriting()
def grouped_types(task: Task, random: Random) -> Task:
    """Write ``(either t)`` for ``t``, leave out ``- object`` where it is last, and group names of one type."""

    def typed(words: List) -> List:
        pairs = typed_pairs(words)
        out: list[Tree] = []
        for number, (name, kind) in enumerate(pairs):
            out.append(name)
            if number + 1 == len(pairs) or pairs[number + 1][1] != kind:
                out += ["-", kind] if number + 1 < len(pairs) or kind != "object" else []
        return tuple(out)

    def content(part: List) -> List:
        if part[0] in (":types", ":constants", ":objects"):
            return (part[0], *typed(part[1:]))
        if part[0] in (":action", ":durative-action", ":process", ":trajectory", ":termination", ":obligation"):
            pairs = typed_pairs(field(part, ":parameters"))
            either = [
                (name, ("either", *alternatives(kind)) if random.random() < 0.5 else kind) for name, kind in pairs
            ]
            return with_field(part, ":parameters", typed_list(either)) if pairs else part
        return part

    def definition(tree: List) -> List:
        return with_sections(tree, [content(part) for part in tree[2:]])

    specs = tuple(definition(spec) for spec in task.specs)
    return task._replace(domain=definition(task.domain), problem=definition(task.problem), specs=specs)


def is_plain(plan: List) -> bool:
    """True for a plan without times and without a head."""
    return all(isinstance(entry, tuple) and entry[0] != "define" for entry in plan)


@rewriting()
def plans_with_head(task: Task, random: Random) -> Task:
    """Write plans as ``(define (plan ..) .. (:steps ..))``, some steps with labels."""

    def headed(plan: List) -> List:
        if not is_plain(plan):
            return plan
        steps = [(f"label-{n}", step) if random.random() < 0.5 else step for n, step in enumerate(plan)]
        names = (":domain", task.domain[1][1]), (":problem", task.problem[1][1])
        return (("define", ("plan", "rewritten"), *names, (":steps", *steps)),)

    return task._replace(plans=tuple(headed(plan) for plan in task.plans))


@rewriting(Invariants(failures=False, trace_steps=False), closed=True)
def plans_with_times(task: Task, _: Random) -> Task:
    """Write step i of a plan at the time i, in tasks without durative actions and timed literals."""
    if task.is_timed() or not all(is_plain(plan) for plan in task.plans):
        return task
    plans = [tuple(w for n, step in enumerate(plan, 1) for w in (f"{n}:", step)) for plan in task.plans]
    return task._replace(plans=tuple(plans))
