"""The definition of a repair, executed: every edit script up to a cost, with an audit of each plan by the kernel.

Of the verifier only the kernel is used. One fact about the semantics saves most of its work: whether a step can be
taken, where it leads and whether the goal holds depends on the state (facts and numbers) alone, so these are asked once
for each state. Rules are judged on whole plans. ``plain=True`` does without that and asks the kernel about every plan;
a test holds the two against each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, combinations_with_replacement, product
from typing import NamedTuple

from repair_task import KINDS, Cost, Task, normal

from plansafe.verifier.kernel import Kernel, KernelVerdict
from plansafe.verifier.kernel.trace import find_value

GOOD = ("SAFE", "VALID")
Codes = tuple[int, ...]
IMPOSSIBLE = -1
"""Instead of the state after a step that cannot be taken."""
EditCounts = tuple[int, ...]  # how many edits of each of KINDS


class TooMany(Exception):
    """The task needs more audits than allowed, or an audit that needs attribution, which the kernel does not report."""


class Script(NamedTuple):
    """An edit script and its plan. ``lost``: its deletions and substitutions, with the step from 1."""

    steps: tuple[str, ...]
    kinds: tuple[str, ...]
    new: tuple[int, ...]
    lost: tuple[tuple[str, int], ...]


class Optimum(NamedTuple):
    """The repairs of least cost; ``cost``: None if none is within the bound. ``audit_count``: audits by the kernel."""

    cost: Cost | None
    scripts: frozenset[Script]
    judgement: KernelVerdict
    audit_count: int

    @property
    def repairs(self) -> frozenset[tuple[tuple[str, ...], tuple[str, ...]]]:
        """The distinct repairs: resulting steps and sorted kinds."""
        return frozenset((script.steps, script.kinds) for script in self.scripts)


class KernelTask:
    """A task with its kernel. Ground actions have numbers, ill-formed steps do not."""

    def __init__(self, task: Task, limit: int = 1_000_000, plain: bool = False) -> None:
        self.task = task
        self.limit = limit
        self.plain = plain
        self.audit_count = 0
        texts = task.domain_text(), task.problem_text()
        exempt = [(task.exempt, None)] if task.exempt else []
        self.kernel = Kernel(
            *texts, task.safety_texts(), judge=task.judge, min_severity=task.min_severity, exemptions=exempt
        )
        self.actions = task.ground_steps()
        self.codes = {text: code for code, text in enumerate(self.actions)}
        self.plan = [self.codes.get(normal(step)) for step in task.plan]
        self._states: dict[object, int] = {}
        self._plan_by_state: list[Codes] = []  # to each state, one plan
        self._successors: list[dict[int, int]] = []
        self._goal_by_state: dict[int, bool] = {}
        self._verdicts: dict[Codes, bool] = {}
        self._bare = Kernel(*texts)  # the states do not depend on the criteria
        self.start = self._state(())
        assert self.start is not None

    def judge(self, plan: Codes) -> KernelVerdict:
        """The kernel's report."""
        self.audit_count += 1
        if self.audit_count > self.limit:
            raise TooMany
        judgement = self.kernel.audit(self._text(plan))
        if not judgement.blame_known:
            raise TooMany
        return judgement

    def _text(self, plan: Codes) -> str:
        return "\n".join([self.actions[code] for code in plan])

    def _state(self, plan: Codes) -> int | None:
        """The state to which a plan leads; None if its last step cannot be taken."""
        letters = self._bare.states(self._text(plan))
        if len(letters) <= len(plan):
            return None
        trace = self._bare._load_halt_trace(self._text(plan), None)
        fluents = [fluent for fluent in trace.history if fluent[0] == "#"]
        key = letters[-1], frozenset([(name, find_value(trace.read_number(name), trace.last)) for name in fluents])
        if key not in self._states:
            self._states[key] = len(self._plan_by_state)
            self._plan_by_state.append(plan)
            self._successors.append({})
        return self._states[key]

    def after(self, state: int, code: int) -> int:
        """The state after a step, or ``IMPOSSIBLE``."""
        successor = self._successors[state].get(code)
        if successor is None:
            reached = self._state((*self._plan_by_state[state], code))
            successor = self._successors[state][code] = IMPOSSIBLE if reached is None else reached
        return successor

    def reaches_goal(self, state: int) -> bool:
        """Whether the goal holds."""
        cached = self._goal_by_state.get(state)
        if cached is None:
            cached = self._goal_by_state[state] = self._bare.audit(self._text(self._plan_by_state[state])).goal
        return cached

    def is_safe(self, plan: Codes) -> bool:
        """Whether the kernel's verdict of a plan is SAFE or VALID."""
        if not self.plain:
            state = self.start or 0
            following = self._successors
            for code in plan:
                after = following[state].get(code)
                state = self.after(state, code) if after is None else after
                if state == IMPOSSIBLE:
                    return False
            if not self.reaches_goal(state):
                return False
        cached = self._verdicts.get(plan)
        if cached is None:
            judgement = self.judge(plan)
            assert self.plain or (judgement.executable and judgement.goal), self._text(plan)
            cached = self._verdicts[plan] = judgement.headline in GOOD
        return cached

    def generate_scripts(self, edit_counts: EditCounts) -> Iterator[tuple[Codes, tuple[tuple[str, int], ...]]]:
        """All scripts with these numbers of edits: the plan as ``2 * action + new``, and the lost steps."""
        inserted, deleted, substituted, moved = edit_counts
        steps = range(len(self.plan))
        free = [i for i in steps if i + 1 not in self.task.protected]
        broken = {i for i in steps if self.plan[i] is None}
        count = len(self.actions)
        for gone in combinations(free, deleted):
            remaining = [i for i in free if i not in gone]
            for changed in combinations(remaining, substituted):
                if not broken <= {*gone, *changed}:
                    continue
                lost = tuple([("delete", i + 1) for i in gone] + [("substitute", i + 1) for i in changed])
                for away in combinations([i for i in remaining if i not in changed], moved):
                    for substitutes in product(range(count), repeat=substituted):
                        if any(
                            replacement == self.plan[i] for i, replacement in zip(changed, substitutes, strict=True)
                        ):
                            continue
                        instead = dict(zip(changed, substitutes, strict=True))
                        base = tuple(
                            [
                                2 * instead[i] + 1 if i in instead else 2 * (self.plan[i] or 0)
                                for i in steps
                                if i not in gone and i not in away
                            ]
                        )
                        loose = tuple([2 * (self.plan[i] or 0) for i in away])
                        for fresh in combinations_with_replacement(range(count), inserted):
                            items = loose + tuple([2 * code + 1 for code in fresh])
                            for plan in insert_items(base, items):
                                yield plan, lost

    def find_safe_plan(self, length: int, most: int) -> Codes | None:
        """Find a safe plan of at most this length among ``most`` executable plans; None if all of them are unsafe."""
        layer: list[tuple[Codes, int]] = [((), self.start or 0)]
        for _ in range(length + 1):
            for plan, state in layer:
                if self.reaches_goal(state) and self.is_safe(plan):
                    return plan
            codes = range(len(self.actions))
            steps = [((*plan, code), self.after(state, code)) for plan, state in layer for code in codes]
            layer = [(plan, state) for plan, state in steps if state != IMPOSSIBLE][:most]
        return None

    def needs_new_steps(self, plan: Codes) -> bool:
        """Whether no non-empty set of new steps can be left out."""
        new = [i for i, item in enumerate(plan) if item % 2]
        for size in range(1, len(new) + 1):
            for out in combinations(new, size):
                if self.is_safe(tuple([item >> 1 for i, item in enumerate(plan) if i not in out])):
                    return False
        return True


def insert_items(base: Codes, items: Codes) -> Iterator[Codes]:
    """All plans that insert the items into the base."""
    if not items:
        yield base
        return
    for k in range(len(base) + 1):
        yield from insert_items((*base[:k], items[0], *base[k:]), items[1:])


def list_edit_counts(task: Task) -> dict[Cost, list[EditCounts]]:
    """The numbers of edits of each kind that cost at most the bound, by cost."""
    most = [int(task.bound // weight) for weight in task.weights]
    out: dict[Cost, list[EditCounts]] = {}
    for edit_counts in product(*[range(count + 1) for count in most]):
        cost = sum(count * weight for count, weight in zip(edit_counts, task.weights, strict=True))
        if cost <= task.bound and sum(edit_counts[1:]) <= len(task.plan):
            out.setdefault(cost, []).append(edit_counts)
    return dict(sorted(out.items()))


def find_optimum(task: Task, limit: int = 1_000_000, plain: bool = False) -> Optimum:
    """The repairs of least cost, by exhaustive enumeration.

    Raises ``TooMany`` where the kernel would have to judge more than ``limit`` plans.
    """
    world = KernelTask(task, limit, plain)
    judgement = world.kernel.audit(task.plan_text())
    if not judgement.blame_known:
        raise TooMany
    if judgement.headline in GOOD:
        return Optimum(0, frozenset([Script(tuple(map(normal, task.plan)), (), (), ())]), judgement, 1)
    for cost, level in list_edit_counts(task).items():
        reached = set()
        for edit_counts in level:
            kinds = tuple(sorted(Counter(dict(zip(KINDS, edit_counts, strict=True))).elements()))
            for plan, lost in world.generate_scripts(edit_counts):
                if world.is_safe(tuple([item >> 1 for item in plan])) and world.needs_new_steps(plan):
                    steps = tuple([world.actions[item >> 1] for item in plan])
                    new = tuple([i + 1 for i, item in enumerate(plan) if item % 2])
                    reached.add(Script(steps, kinds, new, lost))
        if reached:
            return Optimum(cost, frozenset(reached), judgement, world.audit_count)
    return Optimum(None, frozenset(), judgement, world.audit_count)
