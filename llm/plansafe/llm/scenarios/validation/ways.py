"""How many ways lead to the goal: admissible plans of least length, up to the order of independent steps.

Which ground steps may change places, and the normal form of a plan under such changes (docs/scenarios.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import monotonic
from typing import NamedTuple

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.finding import TooManyInstances
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.footprints import Footprint, FootprintFinder, find_interference
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.planning.delete_relaxation import DeleteRelaxation
from plansafe.verifier.planning.lifted_relaxation import LiftedRelaxation
from plansafe.verifier.planning.relaxation_estimates import estimate_by_landmark_cut
from plansafe.verifier.repair.effect_index import EffectIndex

MAX_STATES = 30_000
MAX_FORMS = 50_000


class Ways(NamedTuple):
    """``ways``: classes of plans; ``sequences``: plans. ``complete``: counted to the end, else these are lower bounds.

    ``second``: a plan that goes another way than the one given, if one was found.
    """

    ways: int
    sequences: int
    complete: bool
    second: tuple[GroundAction, ...] | None


class _Node:
    __slots__ = ("execution", "open", "steps")

    def __init__(self, execution: Execution, possible: list[GroundAction]) -> None:
        self.execution: Execution | None = execution
        self.open = possible
        self.steps: list[tuple[GroundAction, object]] = []


def count_ways(engine: Engine, first: Sequence[GroundAction], rules: bool, time_limit_s: float, cap: int) -> Ways:
    """Count the ways to the goal. ``first`` is an admissible plan of least length, proved.

    First plans near ``first`` are tried, which answers most cases; then, up to ``cap`` ways, all states on plans of
    least length are visited, layer by layer, with landmark cuts as a bound: exponential in the length at worst, and
    bounded by the limits.
    """
    deadline = monotonic() + time_limit_s
    independence = Independence(engine)
    second = next(_variants_near(engine, first, rules, independence, monotonic() + time_limit_s / 4), None)
    try:
        if not cap:
            raise LimitReached(LimitKind.TIME)
        layers = _Layers(engine, len(first), rules, deadline).run()
    except (LimitReached, NumberTooLarge, TooManyInstances):
        least = 1 if second is None else 2
        return Ways(least, least, False, second)
    sequences = _sequences(layers)
    forms, complete = _forms(layers, independence, cap, deadline)
    own_form = _normal_form(first, independence)
    for form, plan in forms.items():
        if second is None and form != own_form:
            second = plan
    return Ways(max(len(forms), 1 if second is None else 2), sequences, complete, second)


# -- plans near another -----------------------------------------------------------------------------------------------


def _variants_near(
    engine: Engine, plan: Sequence[GroundAction], rules: bool, independence: Independence, deadline: float
) -> Iterator[tuple[GroundAction, ...]]:
    """Admissible plans of the same length that go another way: a part moved, or an object in place of another."""
    own_form = _normal_form(plan, independence)
    start = Execution.initial(engine, rules)
    for candidate in _variants(engine, plan):
        if monotonic() > deadline:
            return
        if _accepted(start, candidate) and _normal_form(candidate, independence) != own_form:
            yield candidate


def _variants(engine: Engine, plan: Sequence[GroundAction]) -> Iterator[tuple[GroundAction, ...]]:
    size = len(plan)
    for low in range(size):
        for middle in range(low + 1, size):
            for high in range(middle + 1, size + 1):
                yield (*plan[:low], *plan[middle:high], *plan[low:middle], *plan[high:])
    used = sorted({o for step in plan for o in step.objects})
    sets = engine.task.domain_sets
    for old in used:
        for new in range(len(engine.task.objects)):
            if new == old:
                continue
            changed = [_exchanged(step, old, new) for step in plan]
            fitting = all(
                o in sets[v.domain] for s in changed for o, v in zip(s.objects, s.action.parameters, strict=True)
            )
            if fitting:
                yield tuple(changed)
                for at in range(size):
                    if old in plan[at].objects:
                        yield (*plan[:at], changed[at], *plan[at + 1 :])


def _exchanged(step: GroundAction, old: int, new: int) -> GroundAction:
    swap = {old: new, new: old}
    return step._replace(objects=tuple([swap.get(o, o) for o in step.objects]))


def _accepted(start: Execution, plan: Sequence[GroundAction]) -> bool:
    execution = start
    for step in plan:
        try:
            after = execution.after(step)
        except (NumberTooLarge, TooManyInstances):
            return False
        if after is None or after.broken or after.undecided:
            return False
        execution = after
    return execution.accepted


# -- all of them ------------------------------------------------------------------------------------------------------


class _Layers:
    """The states on admissible plans of one length, by the number of steps that lead there."""

    def __init__(self, engine: Engine, length: int, rules: bool, deadline: float) -> None:
        self.engine = engine
        self.length = length
        self.deadline = deadline
        self.states = 0
        self._start = start = Execution.initial(engine, rules)
        self._relaxed: DeleteRelaxation | None
        try:
            self._relaxed = DeleteRelaxation(LiftedRelaxation(engine, rules), start.state, start.runtime, self._check)
        except LimitReached as limit:
            if limit.kind is LimitKind.TIME:
                raise
            self._relaxed = None

    def run(self) -> list[dict[object, _Node]]:
        """Layers from the initial state to the goal; each node with the steps that lead on.

        Raises :class:`LimitReached`.
        """
        root = self._node(self._start, self.length)
        if root is None:
            return [{}]
        layers: list[dict[object, _Node]] = [{self._start.key(): root}]
        for depth in range(self.length):
            following: dict[object, _Node] = {}
            left = self.length - depth - 1
            for node in layers[-1].values():
                self._expand(node, left, following)
                node.execution, node.open = None, []
            layers.append(following)
        layers[-1] = {key: node for key, node in layers[-1].items() if node.execution and node.execution.accepted}
        for depth in range(self.length - 1, -1, -1):
            after = layers[depth + 1]
            for node in layers[depth].values():
                node.steps = [(step, key) for step, key in node.steps if key in after]
            layers[depth] = {key: node for key, node in layers[depth].items() if node.steps}
        return layers

    def _expand(self, node: _Node, left: int, following: dict[object, _Node]) -> None:
        execution = node.execution
        assert execution is not None
        hopeless: set[object] = set()
        for step in node.open:
            self._check()
            after = execution.after(step)
            if after is None or after.broken or after.undecided:
                continue
            key = after.key()
            if key in hopeless:
                continue
            if key not in following:
                new = self._node(after, left)
                if new is None:
                    hopeless.add(key)
                    continue
                following[key] = new
            node.steps.append((step, key))

    def _node(self, execution: Execution, left: int) -> _Node | None:
        """A state with the steps that may be possible there; ``None`` if the goal is more than ``left`` steps away."""
        self.states += 1
        relaxed = self._relaxed
        if relaxed is None:
            return _Node(execution, list(execution.legal()))
        estimate = estimate_by_landmark_cut(
            relaxed, relaxed.list_true_propositions(execution.state, execution.runtime), relaxed.goal
        )
        if estimate.distance is None or estimate.distance > left:
            return None
        return _Node(execution, [relaxed.steps[number] for number in estimate.applicable_steps])

    def _check(self) -> None:
        if monotonic() > self.deadline or self.states > MAX_STATES:
            raise LimitReached(LimitKind.TIME)


def _sequences(layers: list[dict[object, _Node]]) -> int:
    """The number of paths through the layers."""
    counts: dict[object, int] = dict.fromkeys(layers[-1], 1)
    for layer in reversed(layers[:-1]):
        counts = {key: sum([counts[target] for _, target in node.steps]) for key, node in layer.items()}
    return sum(counts.values())


def _forms(
    layers: list[dict[object, _Node]], independence: Independence, cap: int, deadline: float
) -> tuple[dict[NormalForm, tuple[GroundAction, ...]], bool]:
    """The normal forms of the paths, each with a path; false if there may be more."""
    steps_by_key: dict[Step, GroundAction] = {}
    paths: dict[tuple[object, NormalForm], tuple[GroundAction, ...]] = {(key, ()): () for key in layers[0]}
    complete = True
    for layer in layers[:-1]:
        following: dict[tuple[object, NormalForm], tuple[GroundAction, ...]] = {}
        for (key, form), path in paths.items():
            for step, target in layer[key].steps:
                steps_by_key.setdefault(step.key, step)
                longer = independence.appended(form, step, steps_by_key)
                following.setdefault((target, longer), (*path, step))
            if len(following) > MAX_FORMS or monotonic() > deadline:
                complete = False
                break
        paths = following
    forms: dict[NormalForm, tuple[GroundAction, ...]] = {}
    for (_, form), path in paths.items():
        forms.setdefault(form, path)
        if len(forms) >= cap:
            return forms, False
    return forms, complete


def _normal_form(plan: Sequence[GroundAction], independence: Independence) -> NormalForm:
    steps_by_key: dict[Step, GroundAction] = {}
    form: NormalForm = ()
    for step in plan:
        steps_by_key.setdefault(step.key, step)
        form = independence.appended(form, step, steps_by_key)
    return form


Step = tuple[str, tuple[int, ...]]
NormalForm = tuple[frozenset[Step], ...]
"""Foata's normal form: layers of independent steps; each step depends on a step of the previous layer."""
MAX_READS = 20_000


class Independence:
    """Answers for the ground steps of one task, remembered."""

    def __init__(self, engine: Engine) -> None:
        self._footprints = FootprintFinder(engine.task, MAX_READS)
        self._effects = EffectIndex(engine)
        self._footprint_cache: dict[Step, Footprint] = {}
        self._independent: dict[tuple[Step, Step], bool] = {}

    def independent(self, first: GroundAction, second: GroundAction) -> bool:
        """Whether neither step reads what the other writes, and they write nothing in opposite ways."""
        key = first.key, second.key
        answer = self._independent.get(key)
        if answer is None:
            answer = key[0] != key[1] and not self._interfere(self._of(first), self._of(second))
            self._independent[key] = self._independent[key[1], key[0]] = answer
        return answer

    def appended(self, form: NormalForm, step: GroundAction, steps: dict[Step, GroundAction]) -> NormalForm:
        """The normal form of a plan with one more step. ``steps`` are those that occur in the form."""
        place = len(form)
        while place > 0 and all([self.independent(steps[second], step) for second in form[place - 1]]):
            place -= 1
        key = step.key
        if place == len(form):
            return (*form, frozenset((key,)))
        return (*form[:place], form[place] | {key}, *form[place + 1 :])

    def _interfere(self, first: Footprint, second: Footprint) -> bool:
        return bool(first.writes.keys() & second.writes.keys()) or find_interference(first, second) is not None

    def _of(self, step: GroundAction) -> Footprint:
        key = step.key
        footprint = self._footprint_cache.get(key)
        if footprint is None:
            footprint = self._footprint_cache[key] = self._footprints.find_action_footprint(step.action, step.binding)
            footprint.deletes.difference_update(
                [fact for fact, added in self._effects.get_effects(step).certain_facts.items() if added]
            )
        return footprint
