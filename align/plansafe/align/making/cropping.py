"""A task with fewer objects: the same domain, rules and goal, and of the scene what a text about it may need.

Searching in a home of sixty things is ten times faster than in one of four hundred, and what is found is judged in the
whole home afterwards.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from random import Random

from plansafe.align.making.aims import Aim
from plansafe.grammar.sexpr import Node, read_all, write
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.compiled import Resolve
from plansafe.verifier.model.nodes import Task, Variable

WIDE = 3
"""A kind that more than one of so many objects belong to says nothing: what happens to be there will do for it."""
CLOSE = 3
"""A fact ties an object to another where it has no more of the relation than this: a thing has one place."""


def kept(task: Task, needed: Iterable[int], aims: Iterable[Aim], random: Random) -> frozenset[int]:
    """What is needed, something of each kind that aims are about, and where these things are."""
    keep = set(needed)
    kinds: dict[int, Variable] = {v.domain: v for aim in aims for v in aim.variables}
    for domain in sorted(kinds):
        members = task.domains[domain]
        if len(members) * WIDE <= len(task.objects) and keep.isdisjoint(members) and members:
            keep.add(random.choice(members))
    ties = _ties(task)
    stack = list(keep)
    while stack:
        new = ties.get(stack.pop(), set()) - keep
        keep |= new
        stack += new
    return frozenset(keep)


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


def cropped(checker: Checker, keep: Collection[int], specs: Sequence[Source], resolve: Resolve) -> Checker:
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
    small = Checker(compiled.domain, problem, specs, compiled.options, resolve)
    if not small.ok:
        raise ValueError(f"the task cannot do without what was left out: {small.diagnostics[0].message}")
    return small


def _without(problem: Source, gone: frozenset[str]) -> str:
    form = (read_all(problem) or [[]])[0]
    out: list[Node] = []
    for part in form:
        if isinstance(part, list) and part and part[0] == ":objects":
            part = [":objects", *_objects(part[1:], gone)]
        elif isinstance(part, list) and part and part[0] == ":init":
            part = [":init", *[fact for fact in part[1:] if not _names(fact, gone)]]
        out.append(part)
    return write(out)


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
