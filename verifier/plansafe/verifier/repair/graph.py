"""The search for repairs of least cost: A* over an alignment graph whose edits are made only where a conflict asks.

A node is a position in the original plan, a state, what the rules remember, and the steps that a move has deferred or
borrowed. Keeping a step costs nothing. Which edits are tried where is decided by conflicts: when a path meets a *flaw*
(a step that cannot be taken, a violated rule, an unmet goal), the facts that would have to differ are sent back along
all paths to it as *demands*, and each node that a demand reaches offers the edits that may meet it. Every repair that
contains the edits of a flawed path contains one of the edits offered (docs/repair-search.md has the argument), so
nothing of least cost is missed; and paths that lead to the same node are searched once, so that faults far apart cost
the sum of their searches, not the product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from heapq import heappop, heappush
from itertools import count
from time import monotonic
from typing import NamedTuple

from plansafe.verifier.execution.execution import Broken, Execution, StateKey
from plansafe.verifier.execution.monitors.finding import TooManyInstances
from plansafe.verifier.execution.replay import Engine
from plansafe.verifier.execution.state import NumberTooLarge, State, StateChange
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.limits import Limited, LimitReached
from plansafe.verifier.model.nodes import And, Formula, Number
from plansafe.verifier.model.operations import mentions
from plansafe.verifier.repair.demands import Demand, Demander
from plansafe.verifier.repair.effects import Conditional, Effects, GroundEffects, identity
from plansafe.verifier.repair.model import Weights
from plansafe.verifier.repair.views import DEADLINE, LETTERS, STATE, view_of

KEEP, SKIP, INSERT, DELETE, SUBSTITUTE, DEFER, PLACE, BORROW, HALF_SUBSTITUTE = range(9)
"""Kinds of edges. ``DEFER`` and ``PLACE`` are a move to a later place, ``BORROW`` and ``SKIP`` one to an earlier.

``HALF_SUBSTITUTE``: a deletion at the price of a substitution, where that is the cheaper one. It leads to no repair;
its flaws say which substitutions are worth trying."""

MAX_HALF_SUBSTITUTED = 30
"""Steps of a plan up to which all ties are found where a deletion costs more than a substitution."""
_HALF_SUBSTITUTED = 0
"""A pseudo-step in ``borrowed``: some step before was left out by a half substitution."""

_BORROW_STEP, _ANYTHING, _FEWER = -1, -2, -3
"""Pseudo-subjects of demands: that a step (the code) be moved to an earlier place; that anything be changed; that one
of the last steps (so many as the code) be taken out."""

_NONE: frozenset[int] = frozenset()


class Edge(NamedTuple):
    """``step``: the original step concerned (from 1; 0 for an insertion). ``taken``: what is executed, if anything."""

    source: Node
    target: Node
    kind: int
    step: int
    taken: GroundAction | None
    cost: Number


class Node:
    """See the module. ``dead``: a rule is broken here; nothing but the flaw matters."""

    __slots__ = (
        "borrowed",
        "bound",
        "broken",
        "cost",
        "cost_to_go",
        "deferred",
        "demands",
        "done",
        "edges",
        "expanded",
        "flaws",
        "now",
        "parents",
        "position",
        "swaps",
        "tasks",
        "terminal",
    )

    def __init__(
        self,
        position: int,
        now: Execution,
        deferred: frozenset[int],
        borrowed: frozenset[int],
    ) -> None:
        self.position = position
        self.now = now
        self.deferred = deferred
        self.borrowed = borrowed
        self.cost: Number = 0
        self.bound: int | None = None  # the faults ahead, as bits, once estimated
        self.broken: tuple[Broken, ...] = ()
        self.edges: list[Edge] = []
        self.parents: list[Edge] = []
        self.demands: dict[Demand, tuple[Number, bool]] = {}
        self.tasks: dict[tuple[object, ...], tuple[Number, Callable[[], None]]] = {}
        self.done: set[tuple[object, ...]] = set()
        self.flaws: list[tuple[tuple[object, ...], Callable[[], None], Number]] = []
        self.expanded = False
        self.swaps = 0  # the steps, as bits, that some way here deletes; a substitution may cost no more
        self.terminal = False
        self.cost_to_go: Number | None = None

    @property
    def state(self) -> State:
        """The state here."""
        return self.now.state


class _Candidate(NamedTuple):
    """An action that may meet a demand: what its precondition says, and its effects that may do it.

    ``simple``: the literals are all of the precondition. An effect comes with the code of its condition and what to
    call that with. ``contested``: another effect may add what one deletes, and a fact that is both is true.
    """

    taken: GroundAction
    own: GroundEffects
    literals: list[tuple[int, int, bool]]
    simple: bool
    effects: list[tuple[Conditional, Callable[..., bool], tuple[int, ...]]]
    contested: bool


class Search:
    """One search. ``steps``: the original plan. Call :meth:`run`, then read :attr:`terminals` and :attr:`bound`."""

    def __init__(
        self,
        engine: Engine,
        steps: Sequence[GroundAction | IllFormed],
        weights: Weights,
        protected: frozenset[int],
        deadline: float | None,
    ) -> None:
        self.engine = engine
        self.steps = list(steps)
        self.length = len(self.steps)
        self.weights = weights
        self.protected = protected
        self.deadline = deadline
        self.lightest = min(weights)
        self.swap = min(self.lightest, max(0, weights.substitute - weights.delete))
        self.effects = Effects(engine)
        self.demander = Demander(engine)
        self.prints: list[GroundEffects | None] = [
            self.effects.of(step) if isinstance(step, GroundAction) else None for step in self.steps
        ]
        action_predicates = frozenset(engine.action_predicates.values())
        self._touching: dict[object, set[int]] = {}
        for number, own in enumerate(self.prints, 1):
            if own is not None:
                facts = [*own.sets, *[e.fact for e in own.may]]
                for fact in facts if own.action_fact is None else [*facts, own.action_fact]:
                    self._touching.setdefault(fact, set()).add(number)
                    self._touching.setdefault(fact[0], set()).add(number)
        self.views = [view_of(part, action_predicates) for part in engine.plan.parts]
        self.expanded = 0
        self.bound: Number = 0
        """No repair costs less."""
        self.insertions_only = False
        """Whether nothing but insertions is tried: a search for some repair, not for the nearest."""
        self.tie_limit: float | None = None
        """How long to look for further repairs of the cost of the first, in seconds."""
        self.ties_missing = False
        """Whether some repair of least cost may not be in the graph."""
        self._now: Number = 0
        self.terminals: list[Node] = []
        self.incomplete = ""
        """Why the search may have missed something."""
        self._nodes: dict[tuple[object, ...], Node] = {}
        self._heap: list[tuple[Number, bool, int, int, Node, tuple[object, ...]]] = []
        self._count = count()
        self._achieving: dict[Demand, list[int]] = {}
        self._achievers: dict[Demand, list[_Candidate]] = {}
        self._legal_actions: dict[StateKey, list[GroundAction]] = {}
        self.base = len(engine.task.predicates)
        self.prepare()
        self.root = Node(0, Execution.initial(engine), _NONE, _NONE)
        self._nodes[self._key(self.root)] = self.root
        self.root.broken = self.root.now.faults
        if not self.root.broken:
            self._expand_later(self.root)

    # -- the loop -----------------------------------------------------------------------------------------------------

    def run(self, max_cost: Number, everything: bool = False) -> None:
        """Search until every repair of the least cost is in the graph, or nothing up to ``max_cost`` is left.

        ``everything``: do not stop at the first cost. Raises :class:`LimitReached`; what was found by then stays, and
        another call goes on.
        """
        found: Number | None = None
        while self._heap:
            f, _, _, _, node, key = self._heap[0]
            if f > max_cost or (found is not None and f > found):
                break
            if self.deadline is not None and monotonic() > self.deadline:
                raise LimitReached(Limited.TIME)
            heappop(self._heap)
            if key in node.done:
                continue
            delta, act = node.tasks[key]
            if node.cost + delta != f:
                continue  # pushed again at another cost
            self.bound = max(self.bound, f)
            self._now = f
            node.done.add(key)
            act()
            if found is None and self.terminals and not everything:
                found = min([end.cost for end in self.terminals])
                if self.deadline is not None and self.tie_limit is not None:
                    self.deadline = min(self.deadline, monotonic() + self.tie_limit)
        self.bound = found if found is not None else self._heap[0][0] if self._heap else max_cost

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left to try at any cost."""
        return not self._heap

    def _push(self, node: Node, delta: Number, key: tuple[object, ...], act: Callable[[], None]) -> None:
        if key in node.done:
            return
        known = node.tasks.get(key)
        if known is not None and known[0] <= delta:
            return
        node.tasks[key] = (delta, act)
        self._wait(node, delta, key)

    def _wait(self, node: Node, delta: Number, key: tuple[object, ...]) -> None:
        # Of one cost, what asks for other facts comes last: edits that do something may lead to a repair before.
        heappush(self._heap, (node.cost + delta, key[0] == "enable", -node.position, next(self._count), node, key))

    def _flaw(self, node: Node, key: tuple[object, ...], act: Callable[[], None], extra: Number = 0) -> None:
        """A flaw is looked into when another edit could still be afforded."""
        node.flaws.append((key, act, extra))
        least = self.swap if node.swaps else self.lightest
        self._push(node, max(extra + least, self.estimate(node)), key, act)

    def _mark(self, node: Node, swaps: int) -> None:
        """Paths to a node delete these steps: flaws from there on may be mended by substitutions instead."""
        stack = [(node, swaps)]
        while stack:
            node, swaps = stack.pop()
            if node.swaps | swaps == node.swaps:
                continue
            node.swaps |= swaps
            for key, act, extra in node.flaws:
                self._push(node, max(extra + self.swap, self.estimate(node)), key, act)
            if not node.broken and not node.expanded:
                self._expand_later(node)
            stack += [(edge.target, node.swaps | _swapped(edge)) for edge in node.edges]

    def _expand_later(self, node: Node) -> None:
        self._push(node, self.estimate(node), ("expand",), lambda: self._expand(node))

    def prepare(self) -> None:
        """Called before the first node is estimated."""

    def estimate(self, node: Node) -> Number:  # noqa: ARG002 - a subclass knows more
        """A lower bound on what a repair costs from a node on."""
        return 0

    def preview(
        self,
        node: Node,  # noqa: ARG002 - a subclass knows more
        taken: GroundAction | None,  # noqa: ARG002
        position: int,  # noqa: ARG002
        deferred: frozenset[int],  # noqa: ARG002
        borrowed: frozenset[int],  # noqa: ARG002
        swaps: int,  # noqa: ARG002
    ) -> Number:
        """The estimate of the node that an edit will lead to, before it is made."""
        return 0

    def _postponed(self, node: Node, key: tuple[object, ...], act: Callable[[], None], delta: Number) -> bool:
        """Whether what an edit leads to is for a later level; if so, the edit waits until then."""
        if node.cost + delta <= self._now:
            return False
        node.done.discard(key)
        node.tasks.pop(key, None)
        self._push(node, delta, key, act)
        return True

    # -- nodes --------------------------------------------------------------------------------------------------------

    def _key(self, node: Node) -> tuple[object, ...]:
        return (node.position, node.deferred, node.borrowed, *node.now.key())

    def _reach(
        self,
        source: Node,
        kind: int,
        step: int,
        taken: GroundAction | None,
        cost: Number,
        position: int,
        now: Execution,
        deferred: frozenset[int],
        borrowed: frozenset[int],
    ) -> None:
        """Add an edge, and its target if it is new."""
        target = Node(position, now, deferred, borrowed)
        broken = () if taken is None else now.news
        total = source.cost + cost
        if broken:
            target.broken = broken
            target.cost = total
            self._join(Edge(source, target, kind, step, taken, cost))
            self._flaw(target, ("flaw",), partial(self._rules_flaw, target, broken))
            return
        key = self._key(target)
        known = self._nodes.get(key)
        if known is None:
            target.cost = total
            self._nodes[key] = target
            self._join(Edge(source, target, kind, step, taken, cost))
            self._expand_later(target)
            return
        if known is source:
            return
        edge = Edge(source, known, kind, step, taken, cost)
        self._join(edge)
        if total < known.cost:
            self._cheaper(known, total)
        for demand, (extra, full) in list(known.demands.items()):
            self._cross(edge, demand, extra, full)

    def _join(self, edge: Edge) -> None:
        edge.source.edges.append(edge)
        edge.target.parents.append(edge)
        self._mark(edge.target, edge.source.swaps | _swapped(edge))

    def _cheaper(self, node: Node, total: Number) -> None:
        """A cheaper way to a node: everything after it is cheaper as well."""
        stack = [(node, total)]
        while stack:
            node, total = stack.pop()
            if total >= node.cost:
                continue
            node.cost = total
            for key, (delta, _) in node.tasks.items():
                if key not in node.done:
                    self._wait(node, delta, key)
            for demand, (extra, full) in node.demands.items():
                if full and not node.broken:
                    self._offer(node, demand, extra)
            stack += [(edge.target, total + edge.cost) for edge in node.edges]

    def _take(self, node: Node, taken: GroundAction) -> Execution | None:
        """What a step leads to; ``None`` if it cannot be taken."""
        try:
            return node.now.after(taken)
        except (NumberTooLarge, TooManyInstances) as limit:
            self.incomplete = f"{type(limit).__name__} at an attempted step"
            return None

    # -- expansion ----------------------------------------------------------------------------------------------------

    def _expand(self, node: Node) -> None:
        """Keep the next step, put deferred steps down, or end."""
        self.expanded += 1
        node.expanded = True
        for step in sorted(node.deferred):
            taken = self.steps[step - 1]
            assert isinstance(taken, GroundAction)
            if not self._execute(node, PLACE, step, taken, 0, node.position, node.deferred - {step}, node.borrowed):
                self._flaw(node, ("unplaced", step), partial(self._precondition, node, taken, 0))
        if node.position == self.length:
            if not node.deferred:
                self._end(node)
            return
        step = node.position + 1
        if step in node.borrowed:
            self._reach(node, SKIP, step, None, 0, step, node.now, node.deferred, node.borrowed - {step})
            return
        following = self.steps[step - 1]
        if isinstance(following, IllFormed):
            self._flaw(node, ("ill-formed",), partial(self._removable, node, 0))
        elif not self._execute(node, KEEP, step, following, 0, step, node.deferred, node.borrowed):
            self._flaw(node, ("inexecutable",), partial(self._inexecutable, node, following, step))

    def _execute(
        self,
        node: Node,
        kind: int,
        step: int,
        taken: GroundAction,
        cost: Number,
        position: int,
        deferred: frozenset[int],
        borrowed: frozenset[int],
        wanted: Demand | None = None,
    ) -> bool:
        """Take a step, if it can be taken (and, if something is wanted of it, does that)."""
        after = self._take(node, taken)
        if after is None:
            return False
        if wanted is not None and not self._meets(wanted, taken, after.changed):
            return False
        self._reach(node, kind, step, taken, cost, position, after, deferred, borrowed)
        return True

    def _meets(self, demand: Demand, taken: GroundAction, log: list[StateChange]) -> bool:
        action_fact = self.effects.of(taken).action_fact
        if action_fact is not None and action_fact[0] == demand.subject and demand.code in (None, action_fact[1]):
            return True
        return any([p == demand.subject and demand.code in (None, c) for p, c, _ in log])

    def _end(self, node: Node) -> None:
        """The plan may end here."""
        goal = self.engine.goal(node.state)
        if goal is not True:
            self._flaw(node, ("goal",), partial(self._goal_flaw, node))
            return
        broken = node.now.ending
        if broken:
            self._flaw(node, ("flaw",), partial(self._rules_flaw, node, broken))
            return
        if _HALF_SUBSTITUTED in node.borrowed:
            # The deletion is enough. Only together with some other edit can a substitution be needed.
            if self.length <= MAX_HALF_SUBSTITUTED:
                self._flaw(
                    node, ("half-substitute",), partial(self._receive, node, Demand(_ANYTHING, None, None), 0, True)
                )
            else:
                self.ties_missing = True
            return
        node.terminal = True
        self.terminals.append(node)

    # -- flaws --------------------------------------------------------------------------------------------------------

    def _evaluator(self, node: Node) -> Evaluator:
        return Evaluator(self.engine.task, node.state.facts, node.state.fluents)

    def _inexecutable(self, node: Node, taken: GroundAction, step: int) -> None:
        self._precondition(node, taken, 0)
        self._removable(node, 0)
        self._receive(node, Demand(_BORROW_STEP, step, None), 0, True)

    def _precondition(self, node: Node, taken: GroundAction, extra: Number) -> None:
        """A step cannot be taken here: some fact of its precondition should differ."""
        binding = taken.binding
        condition = And(taken.action.start.condition)
        evaluator = self._evaluator(node)
        demands: Iterable[Demand]
        if evaluator.holds(condition, binding) is True:
            # Its effects conflict, or one of their numbers is undefined.
            demands = frozenset().union(
                *[
                    self._effect_reads(evaluator, taken, conditional.binding)
                    for conditional in self.effects.of(taken).may
                ]
            )
        else:
            demands = self.demander.flips(evaluator, condition, binding, True)
        for demand in demands:
            self._receive(node, demand, extra, True)

    def _effect_reads(self, evaluator: Evaluator, taken: GroundAction, binding: dict[int, int]) -> frozenset[Demand]:
        out: frozenset[Demand] = frozenset()
        for effect in taken.action.start.effects:
            out |= self.demander.patterns(effect.condition, binding)
            for assignment in effect.assignments:
                out |= self.demander.value(assignment.value, evaluator, binding)
        return self.demander.basic(out)

    def _goal_flaw(self, node: Node) -> None:
        evaluator = self._evaluator(node)
        for demand in self.demander.flips(evaluator, And(self.engine.task.goal), {}, True):
            self._receive(node, demand, 0, True)

    def _rules_flaw(self, node: Node, broken: tuple[Broken, ...]) -> None:
        """Rules are broken. One instance is enough: the one that says most precisely what must differ."""
        parts = self.engine.plan.parts
        one = min(broken, key=lambda b: self.views[b.part][0])
        part = parts[one.part]
        view, bound = self.views[one.part]
        binding = dict(zip([v.slot for v in part.parameters], one.binding, strict=False))
        if view == LETTERS:
            self._receive(node, Demand(_ANYTHING, None, None), 0, True)
            return
        demands: set[Demand] = set()
        formulas: list[Formula] = [f for f in (part.body, part.guard, part.step) if f is not None]
        action_predicates = frozenset(self.engine.action_predicates.values())
        of_states = view == STATE and part.mode in ("always", "end") and not mentions(part.body, action_predicates)
        if of_states and len(one.binding) == len(part.parameters):
            demands |= self.demander.flips(self._evaluator(node), part.body, binding, True)
        else:
            for formula in formulas:
                demands |= self.demander.basic(self.demander.patterns(formula, binding))
        if view == DEADLINE:
            demands.add(Demand(_FEWER, bound, None))
        for demand in demands:
            self._receive(node, demand, 0, True)

    # -- demands ------------------------------------------------------------------------------------------------------

    def _receive(self, node: Node, demand: Demand, extra: Number, full: bool) -> None:
        """A demand arrives: offer edits here, and send it on.

        ``extra``: the cost of the edits between here and the flaw. ``full`` is
        False where the demand only looks for steps that could be moved behind this place.
        """
        stack = [(node, demand, extra, full)]
        offers: dict[Number, list[tuple[Node, Demand, Number]]] = {}
        while stack:
            node, demand, extra, full = stack.pop()
            known = node.demands.get(demand)
            if known is not None and known[0] <= extra and (known[1] or not full):
                continue
            node.demands[demand] = (extra, full) if known is None else (min(known[0], extra), known[1] or full)
            if full and not node.broken:
                if demand.subject in (_BORROW_STEP, _FEWER):
                    self._offer(node, demand, extra)
                else:
                    level = node.cost + max(extra + self.lightest, self.estimate(node))
                    offers.setdefault(level, []).append((node, demand, extra))
            for edge in node.parents:
                if edge.kind == KEEP and self._indifferent(edge.step, demand):
                    stack.append((edge.source, demand, extra, full))
                else:
                    stack += self._crossing(edge, demand, extra, full)
        for level, batch in offers.items():
            first = batch[0][0]
            key = ("offers", next(self._count))
            self._push(first, level - first.cost, key, partial(self._offer_batch, batch))

    def _offer_batch(self, batch: list[tuple[Node, Demand, Number]]) -> None:
        for node, demand, extra in batch:
            self._offer_all(node, demand, extra)

    def _indifferent(self, step: int, demand: Demand) -> bool:
        """Whether a step of the original plan has nothing to do with a demand."""
        if demand.subject < 0:
            return False
        if demand.code is None:
            return step not in self._touching.get(demand.subject, ())
        return step not in self._touching.get((demand.subject, demand.code), ())

    def _cross(self, edge: Edge, demand: Demand, extra: Number, full: bool) -> None:
        for item in self._crossing(edge, demand, extra, full):
            self._receive(*item)

    def _crossing(
        self, edge: Edge, demand: Demand, extra: Number, full: bool
    ) -> list[tuple[Node, Demand, Number, bool]]:
        """What of a demand at the target of an edge is left at its source."""
        source = edge.source
        if edge.kind in (DELETE, HALF_SUBSTITUTE) and full:
            # A substitution instead of the deletion.
            if demand.subject >= 0:
                self._offer_actions(source, demand, extra)
            elif demand.subject == _ANYTHING:
                for taken in self._legal_here(source):
                    self._offer_action(source, taken, extra, None)
        extra += edge.cost
        out = [(source, demand, extra, full)]
        if edge.taken is None:
            return out
        keep = edge.kind == KEEP
        if demand.subject == _BORROW_STEP:
            return out
        if demand.subject in (_ANYTHING, _FEWER):
            if keep:
                self._removable(source, extra)
                out.append((source, Demand(_BORROW_STEP, edge.step, None), extra, True))
            if demand.subject == _FEWER:
                left = (demand.code or 0) - 1
                out[:1] = [(source, demand._replace(code=left), extra, True)] if left > 0 else []
            return out
        own = self.effects.of(edge.taken)
        if demand.code is None:
            touched = own.touches(demand.subject)
            if touched:
                if keep:
                    self._removable(source, extra)
                    out.append((source, Demand(_BORROW_STEP, edge.step, None), extra, True))
                for effect in own.conditionals(demand.subject):
                    out += [(source, d, extra, True) for d in self._deciding(source, edge.taken, effect, None)]
            return out
        fact = (demand.subject, demand.code)
        sets = own.sets.get(fact)
        may = own.conditionals(*fact)
        acts = own.action_fact == fact
        if sets is None and not may and not acts:
            return out
        if demand.value is None or acts:
            hinders = achieves = True
        else:
            hinders = sets is (not demand.value) or any([e.value is not demand.value for e in may])
            achieves = sets is demand.value or any([e.value is not (not demand.value) for e in may])
        if keep and full and hinders:
            self._removable(source, extra)
            out.append((source, Demand(_BORROW_STEP, edge.step, None), extra, True))
        elif keep and achieves:
            self._movable(source, extra)
        if full:
            for effect in may:
                out += [(source, d, extra, True) for d in self._deciding(source, edge.taken, effect, demand.value)]
            if demand.value is not None and sets is (not demand.value):
                out[0] = (source, demand, extra, False)
        return out

    def _deciding(self, node: Node, taken: GroundAction, effect: Conditional, wanted: bool | None) -> frozenset[Demand]:
        """What would have to differ before a step for an effect to bring about, or not to prevent, what is wanted."""
        evaluator = self._evaluator(node)
        if effect.value is None:
            return self._effect_reads(evaluator, taken, effect.binding)
        if wanted is None:
            return self.demander.basic(self.demander.patterns(effect.condition, effect.binding))
        return self.demander.flips(evaluator, effect.condition, effect.binding, effect.value is wanted)

    # -- edits --------------------------------------------------------------------------------------------------------

    def _removable(self, node: Node, extra: Number) -> None:
        """The next step of a node may be deleted, substituted or moved."""
        step = node.position + 1
        if step in self.protected or step in node.borrowed or node.broken:
            return
        if self.insertions_only and isinstance(self.steps[step - 1], GroundAction):
            return
        self._push(node, extra + self.weights.delete, ("delete",), partial(self._delete, node, DELETE))
        if self.weights.substitute < self.weights.delete:
            self._push(
                node,
                extra + self.weights.substitute,
                ("half-substitute",),
                partial(self._delete, node, HALF_SUBSTITUTE),
            )
        self._movable(node, extra)

    def _delete(self, node: Node, kind: int) -> None:
        step, borrowed = node.position + 1, node.borrowed
        cost = self.weights.delete
        if kind == HALF_SUBSTITUTE:
            cost, borrowed = self.weights.substitute, borrowed | {_HALF_SUBSTITUTED}
        least = cost + self.preview(node, None, step, node.deferred, borrowed, 1 << step)
        if self._postponed(
            node,
            ("half-substitute" if kind == HALF_SUBSTITUTE else "delete",),
            partial(self._delete, node, kind),
            least,
        ):
            return
        self._reach(node, kind, step, None, cost, step, node.now, node.deferred, borrowed)

    def _movable(self, node: Node, extra: Number) -> None:
        """The next step of a node may be moved behind."""
        step = node.position + 1
        if step in self.protected or step in node.borrowed or node.broken or self.insertions_only:
            return
        if isinstance(self.steps[step - 1], GroundAction):
            self._push(node, extra + self.weights.move, ("defer",), partial(self._defer, node))

    def _defer(self, node: Node) -> None:
        step = node.position + 1
        cost = self.weights.move
        least = cost + self.preview(node, None, step, node.deferred | {step}, node.borrowed, 0)
        if self._postponed(node, ("defer",), partial(self._defer, node), least):
            return
        self._reach(node, DEFER, step, None, cost, step, node.now, node.deferred | {step}, node.borrowed)

    def _offer(self, node: Node, demand: Demand, extra: Number) -> None:
        """The insertions, substitutions and moves to this place that may meet a demand: looked at when affordable."""
        if demand.subject == _FEWER:
            return
        if demand.subject == _BORROW_STEP:
            self._offer_step(node, demand.code or 0, extra)
            return
        self._push(
            node,
            max(extra + self.lightest, self.estimate(node)),
            ("offer", demand, extra),
            partial(self._offer_all, node, demand, extra),
        )

    def _offer_all(self, node: Node, demand: Demand, extra: Number) -> None:
        if demand.subject == _ANYTHING:
            for step in range(node.position + 1, self.length + 1):
                self._offer_step(node, step, extra)
            for taken in self._legal_here(node):
                self._offer_action(node, taken, extra, None)
            return
        self._offer_actions(node, demand, extra)
        for number in self._plan_achievers(demand):
            if number > node.position:
                self._offer_step(node, number, extra)

    def _offer_actions(self, node: Node, demand: Demand, extra: Number) -> None:
        """The actions that may meet a demand: those that do are tried, the others looked into at a later level."""
        subject, code, value = demand
        if value and code is not None:
            acting = self.effects.acting(subject, code, node.state)
            if acting is not None:
                for taken in {identity(taken): taken for taken in acting}.values():
                    if self._legal(node, taken):
                        self._offer_action(node, taken, extra, None)
                least = extra + min(self.weights.insert, self.weights.substitute)
                self._flaw(node, ("enable", demand), partial(self._offer_candidates, node, demand, extra, True), least)
                return
        self._offer_candidates(node, demand, extra)

    def _offer_candidates(self, node: Node, demand: Demand, extra: Number, others: bool = False) -> None:
        """Look at each action that may meet a demand; with ``others``, those that do so here have been offered."""
        facts = node.state.facts
        lacking: set[tuple[int, int, bool]] = set()
        vague: list[GroundAction] = []
        asleep: list[_Candidate] = []
        for candidate in self._candidates(demand):
            for literal in candidate.literals:
                if (literal[1] in facts[literal[0]]) is not literal[2]:
                    # One false literal of each action is enough, and many share theirs.
                    lacking.add(literal)
                    break
            else:
                if not (candidate.simple or self._legal(node, candidate.taken)):
                    vague.append(candidate.taken)
                    continue
                does = self._effect_on(node, candidate, demand)
                if does is not False:
                    if not others:
                        self._offer_action(node, candidate.taken, extra, None if does else demand)
                elif candidate.effects:
                    asleep.append(candidate)
        if lacking or vague or asleep:
            extra += min(self.weights.insert, self.weights.substitute)
            act = partial(self._enable_all, node, lacking, vague, asleep, extra)
            if others:
                act()
            else:
                self._flaw(node, ("enable", demand), act, extra)

    def _candidates(self, demand: Demand) -> list[_Candidate]:
        """The actions that may meet a demand."""
        found = self._achievers.get(demand)
        if found is None:
            found = self._achievers[demand] = []
            for taken in self.effects.achievers(*demand):
                literals, others = self.effects.precondition(taken)
                own = self.effects.of(taken)
                every = own.conditionals(demand.subject, demand.code)
                able = [e for e in every if e.value is None or (self._does(e, demand) and self.effects.possible(e))]
                effects = [(e, *self.effects.asked(e)) for e in able]
                contested = demand.value is not True and any([e.value for e in every])
                found.append(_Candidate(taken, own, literals, not others, effects, contested))
        return found

    @staticmethod
    def _does(effect: Conditional, demand: Demand) -> bool:
        return demand.value is None or effect.value is demand.value

    def _enable_all(
        self,
        node: Node,
        lacking: set[tuple[int, int, bool]],
        vague: list[GroundAction],
        asleep: list[_Candidate],
        extra: Number,
    ) -> None:
        """What would have to differ for actions that cannot be taken here, or do nothing for a demand."""
        demands = {Demand(*literal): None for literal in lacking if self.demander.changeable(literal[0])}
        evaluator = self._evaluator(node)
        for candidate in asleep:
            for effect, _, _ in candidate.effects:
                demands.update(dict.fromkeys(self.demander.flips(evaluator, effect.condition, effect.binding, True)))
        for demand in demands:
            self._receive(node, demand, extra, True)
        for taken in vague:
            self._precondition(node, taken, extra)

    def _plan_achievers(self, demand: Demand) -> list[int]:
        """The steps of the original plan that may meet a demand."""
        found = self._achieving.get(demand)
        if found is None:
            found = self._achieving[demand] = [
                number for number, own in enumerate(self.prints, 1) if own is not None and may_meet(own, demand)
            ]
        return found

    def _offer_step(self, node: Node, step: int, extra: Number) -> None:
        """A later step may be moved here."""
        if step <= node.position or step in node.borrowed or step in self.protected or self.insertions_only:
            return
        taken = self.steps[step - 1]
        if isinstance(taken, GroundAction):
            cost = self.weights.move

            self._push(node, extra + cost, ("borrow", step), partial(self._borrow, node, step, taken, extra))

    def _borrow(self, node: Node, step: int, taken: GroundAction, extra: Number) -> None:
        cost, borrowed = self.weights.move, node.borrowed | {step}
        if self._legal(node, taken):
            least = cost + self.preview(node, taken, node.position, node.deferred, borrowed, 0)
            act = partial(self._borrow, node, step, taken, extra)
            if self._postponed(node, ("borrow", step), act, least):
                return
            if self._execute(node, BORROW, step, taken, cost, node.position, node.deferred, borrowed):
                return
        extra += cost
        self._flaw(node, ("enable step", step), partial(self._precondition, node, taken, extra), extra)

    def _offer_action(self, node: Node, taken: GroundAction, extra: Number, wanted: Demand | None) -> None:
        """A legal action may be inserted here, or take the place of the next step; ``wanted``: if it meets a demand."""
        step = node.position + 1
        ways = [(INSERT, self.weights.insert)]
        if step <= self.length and step not in node.borrowed and step not in self.protected:
            replaced = self.steps[node.position]
            if isinstance(replaced, IllFormed) or not (self.insertions_only or identity(replaced) == identity(taken)):
                ways.append((SUBSTITUTE, self.weights.substitute))
        named = identity(taken)
        for kind, cost in ways:
            key = (kind, *named) if wanted is None else (kind, *named, wanted)
            attempt = partial(self._try, node, taken, kind, cost, extra, wanted)
            self._push(node, max(extra + cost, self.estimate(node)), key, attempt)

    def _effect_on(self, node: Node, candidate: _Candidate, wanted: Demand) -> bool | None:
        """Whether an action changes what is wanted here; ``None`` if only trying tells."""
        own, (subject, code, _) = candidate.own, wanted
        if own.action_fact is not None and own.action_fact[0] == subject and code in (None, own.action_fact[1]):
            return True
        if subject >= self.base:
            return None if candidate.effects else False
        facts, fluents = node.state.facts, node.state.fluents
        there = facts[subject]
        if code is None:
            if any([p == subject and (c in there) is not value for (p, c), value in own.sets.items()]):
                return True
        else:
            sets = own.sets.get((subject, code))
            if sets is not None and (code in there) is not sets:
                return True
        does: bool | None = False
        for effect, holds, objects in candidate.effects:
            if (effect.fact[1] in there) is effect.value:
                continue
            try:
                if holds(facts, fluents, *objects):
                    if not candidate.contested:
                        return True
                    does = None
            except (KeyError, ZeroDivisionError):
                does = None
        return does

    def _legal(self, node: Node, taken: GroundAction) -> bool:
        """Whether the precondition of an action holds; true where a number is undefined, for then trying tells."""
        literals, others = self.effects.precondition(taken)
        facts = node.state.facts
        for predicate, code, value in literals:
            if (code in facts[predicate]) is not value:
                return False
        if not others:
            return True
        slots = [v.slot for v in taken.action.parameters]
        holds = self.engine.full_code.precondition(taken.action, slots)
        try:
            return holds(node.state.facts, node.state.fluents, *taken.objects)
        except (KeyError, ZeroDivisionError):
            return True

    def _try(
        self, node: Node, taken: GroundAction, kind: int, cost: Number, extra: Number, wanted: Demand | None
    ) -> None:
        did = ("did", kind, *identity(taken))
        if did in node.done:
            return
        step = node.position + 1 if kind == SUBSTITUTE else 0
        position = step or node.position
        least = cost + self.preview(node, taken, position, node.deferred, node.borrowed, 0)
        key = (kind, *identity(taken)) if wanted is None else (kind, *identity(taken), wanted)
        act = partial(self._try, node, taken, kind, cost, extra, wanted)
        if self._postponed(node, key, act, least):
            return
        if self._execute(node, kind, step, taken, cost, position, node.deferred, node.borrowed, wanted):
            node.done.add(did)
            return
        extra += cost
        self._flaw(
            node, ("enable", kind, *identity(taken), wanted), partial(self._enable, node, taken, extra, wanted), extra
        )

    def _enable(self, node: Node, taken: GroundAction, extra: Number, wanted: Demand | None) -> None:
        """An action cannot be taken here, or does not what it should: what would have to differ for that?"""
        binding = taken.binding
        evaluator = self._evaluator(node)
        if evaluator.holds(And(taken.action.start.condition), binding) is not True:
            self._precondition(node, taken, extra)
            return
        if wanted is None:
            return
        for effect in self.effects.of(taken).conditionals(wanted.subject, wanted.code):
            for demand in self._deciding(node, taken, effect, wanted.value):
                self._receive(node, demand, extra, True)

    def _legal_here(self, node: Node) -> list[GroundAction]:
        key = node.now.state_key()
        found = self._legal_actions.get(key)
        if found is None:
            found = self._legal_actions[key] = list(node.now.legal())
        return found


def _swapped(edge: Edge) -> int:
    return 1 << edge.step if edge.kind in (DELETE, HALF_SUBSTITUTE) else 0


def may_meet(own: GroundEffects, demand: Demand) -> bool:
    """Whether an action may do what is demanded."""
    if demand.code is None:
        return own.touches(demand.subject)
    fact = (demand.subject, demand.code)
    if own.action_fact == fact:
        return True
    sets = own.sets.get(fact)
    if sets is not None and (demand.value is None or sets is demand.value):
        return True
    return any([demand.value is None or e.value is not (not demand.value) for e in own.conditionals(*fact)])
