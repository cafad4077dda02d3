"""A task with fewer objects: the same domain, rules and goal, and of the scene what a text about it may need.

Searching in a home of sixty things is ten times faster than in one of four hundred, and what is found is judged in the
whole home afterwards.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from random import Random

from plansafe.align.making.aims import Aim, actions_of, aims_of, needs
from plansafe.align.making.usable import Usable
from plansafe.align.making.walks import Walks
from plansafe.align.tasks import AlignTask
from plansafe.domains.objects import add_kinds
from plansafe.grammar.sexpr import Node, format_node, parse_nodes
from plansafe.grammar.source import Source
from plansafe.llm.prompts.crop import named_in
from plansafe.llm.scenarios.model import resolve
from plansafe.specs import default_specs, spec_path
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.compiled import ResolveSpecification
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.model.nodes import And, Task

WIDE = 3
"""A kind that more than one of so many objects belong to says nothing: what happens to be there will do for it."""
EACH = 2
"""Of each kind that an aim is about, such as it can be carried out with: with another of them the same may be safe."""
VARIED = 3
"""Of a kind, such as differ from the others in what can be done with them: of heavy things a chair can be carried."""
LARGE = 150
"""Objects from which on a scene is cropped before anything is searched for in it."""
CLOSE = 3
"""A fact ties an object to another where it has no more of the relation than this: a thing has one place."""


def kept(engine: Engine, needed: Iterable[int], aims: Iterable[Aim], random: Random) -> frozenset[int]:
    """What is needed, something of each kind that aims are about, and where these things are."""
    task = engine.task
    keep, traits = set(needed), _traits(task)
    kinds = _kinds(engine, aims)
    for domain in sorted(kinds):
        members = task.domains[domain]
        if len(members) * WIDE <= len(task.objects) and members:
            there = keep.intersection(members)
            seen = {traits[one] for one in there}
            most = len(seen) + VARIED
            mixed = random.sample(members, len(members))
            for number in mixed:
                other = traits[number] not in seen and len(seen) < most
                if number not in there and (other or len(there) < EACH):
                    there.add(number)
                    seen.add(traits[number])
            for fitting in sorted(kinds[domain], key=sorted):
                lacking = max(0, EACH - len(there & fitting))
                there.update([number for number in mixed if number in fitting - there][:lacking])
            keep |= there
    ties = _ties(task)
    stack = list(keep)
    while stack:
        new = ties.get(stack.pop(), set()) - keep
        keep |= new
        stack += new
    return frozenset(keep)


def _kinds(engine: Engine, aims: Iterable[Aim]) -> dict[int, set[frozenset[int]]]:
    """The kinds that aims are about, and for each aim the things of a kind that it can be carried out with."""
    usable, sets = Usable(engine.task), engine.task.domain_sets
    actions = actions_of(engine)
    out: dict[int, set[frozenset[int]]] = {}
    for aim in aims:
        wanted = And(tuple([condition for stage in aim.stages for condition in needs(stage, actions)]))
        for variable in aim.variables:
            found = usable.fit(wanted, variable.slot)
            members = sets[variable.domain]
            out.setdefault(variable.domain, set()).add(members if found is None else members & found)
    return out


def _traits(task: Task) -> list[tuple[int, ...]]:
    """For each object what never changes about it alone: in most worlds what it can be used for."""
    out: list[list[int]] = [[] for _ in task.objects]
    for index, codes in enumerate(task.initial_facts):
        if task.static[index] and len(task.predicates[index].types) == 1:
            for code in codes:
                out[code].append(index)
    return [tuple(found) for found in out]


def _ties(task: Task) -> dict[int, set[int]]:
    """For each object those that it hangs on: by what it has few facts of, as a thing has one place."""
    out: dict[int, set[int]] = {}
    for index, codes in enumerate(task.initial_facts):
        if len(task.predicates[index].types) != 2:
            continue
        own: dict[int, set[int]] = {}
        for code in codes:
            first, second = task.decode(code, 2)
            own.setdefault(first, set()).add(second)
        for first, others in own.items():
            if len(others) <= CLOSE:
                out.setdefault(first, set()).update(others)
    return out


def part_of(task: AlignTask, random: Random, plans: Sequence[str] = ()) -> AlignTask:
    """A large task with what its plan (and ``plans``) need and what its rules are about; ``task`` itself if small."""
    compiled = task.checker.compiled
    specs = default_specs(task.world)
    if len(compiled.task.objects) < LARGE or not specs or compiled.task.name != task.world:
        return task
    walks = Walks(task.checker)
    steps = [step for plan in (task.reference, *plans) for step in walks.read(plan) or ()]
    aims = [aim for found in aims_of(task.checker.engine).values() for aim in found]
    needed = [*named_in(compiled.task.goal), *[number for step in steps for number in step.objects]]
    keep = kept(task.checker.engine, needed, aims, random)
    sources = [Source.from_path(spec_path(name)) for name in specs]
    return task._replace(checker=cropped(task.checker, keep, sources, resolve))


def cropped(checker: Checker, keep: Collection[int], specs: Sequence[Source], resolve: ResolveSpecification) -> Checker:
    """The task with these objects alone; ``checker`` itself where nothing is left out. ``specs``: those it has.

    Facts about other objects are left out with them. Raises ``ValueError`` where the goal is about one of them.
    """
    compiled = checker.compiled
    task = compiled.task
    names = frozenset([task.objects[number] for number in keep])
    if len(names) == len(task.objects):
        return checker
    gone = frozenset(task.objects) - names
    problem = Source(compiled.problem.name, _without(compiled.problem, gone))
    with_kinds = add_kinds(compiled.domain, problem, specs)
    small = Checker(compiled.domain, problem, with_kinds, compiled.options, resolve)
    if not small.ok:
        raise ValueError(f"the task cannot do without what was left out: {small.diagnostics[0].message}")
    return small


def _without(problem: Source, gone: frozenset[str]) -> str:
    form = (parse_nodes(problem) or [[]])[0]
    out: list[Node] = []
    for part in form:
        if isinstance(part, list) and part and part[0] == ":objects":
            part = [":objects", *_objects(part[1:], gone)]
        elif isinstance(part, list) and part and part[0] == ":init":
            part = [":init", *[fact for fact in part[1:] if not _names(fact, gone)]]
        out.append(part)
    return format_node(out)


def _objects(typed: list[Node], gone: frozenset[str]) -> list[Node]:
    """A typed list without some names; a group that is empty then goes with its type."""
    out: list[Node] = []
    group: list[Node] = []
    at = 0
    while at < len(typed):
        if typed[at] == "-":
            if group:
                out += [*group, "-", typed[at + 1]]
            group, at = [], at + 2
            continue
        if not (isinstance(typed[at], str) and typed[at] in gone):
            group.append(typed[at])
        at += 1
    return out + group


def _names(node: Node, gone: frozenset[str]) -> bool:
    stack = [node]
    while stack:
        one = stack.pop()
        if isinstance(one, list):
            stack += one
        elif one in gone:
            return True
    return False
