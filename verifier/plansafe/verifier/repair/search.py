"""The search for repairs of least cost: A* over an alignment graph whose edits are made only where a conflict asks.

A node is a position in the original plan, a state, what the rules remember, and the steps that a move has deferred or
borrowed. Keeping a step costs nothing. Which edits are tried where is decided by conflicts: when a path meets a *flaw*
(a step that cannot be taken, a violated rule, an unmet goal), the facts that would have to differ are sent back along
all paths to it as *demands*, and each node that a demand reaches offers the edits that may meet it. Every repair that
contains the edits of a flawed path contains one of the edits offered (docs/repair.md has the argument), so
nothing of least cost is missed; and paths that lead to the same node are searched once, so that faults far apart cost
the sum of their searches, not the product.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import monotonic

from plansafe.verifier.execution.broken_instances import BrokenInstance
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.finding import TooManyInstances
from plansafe.verifier.execution.state import NumberTooLarge, StateChange
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.repair.agenda import Agenda
from plansafe.verifier.repair.demands import Demand
from plansafe.verifier.repair.edits import Edits
from plansafe.verifier.repair.flaws import Flaws
from plansafe.verifier.repair.heuristic import FaultHeuristic
from plansafe.verifier.repair.repair_task import RepairTask
from plansafe.verifier.repair.search_graph import (
    ANYTHING,
    BORROW_STEP,
    DELETE,
    FEWER,
    HALF_SUBSTITUTE,
    HALF_SUBSTITUTED,
    KEEP,
    PLACE,
    SKIP,
    Edge,
    Key,
    Node,
    swapped,
)

MAX_HALF_SUBSTITUTED = 30
"""Steps of a plan up to which all ties are found where a deletion costs more than a substitution."""
_NONE: frozenset[int] = frozenset()


class RepairSearch:
    """One search. Call :meth:`run`, then read :attr:`terminals` and :attr:`bound`.

    ``tie_limit``: how long to look for further repairs of the cost of the first, in seconds. ``progress``: called with
    the bound and the number of expanded nodes after each task of the agenda.
    """

    def __init__(
        self,
        task: RepairTask,
        tie_limit: float | None,
        insertions_only: bool = False,
        progress: Callable[[Number, int], None] | None = None,
    ) -> None:
        self.task = task
        self.engine = task.engine
        self.deadline: float | None = None
        self.work_limit: int | None = None
        self.tie_limit = tie_limit
        self.progress = progress
        self.expanded = 0
        self.work = 0
        """Steps that were tried and demands that were received: the measure of ``work_limit``."""
        self.bound: Number = 0
        """No repair costs less, as far as the search is complete (see :attr:`proved`)."""
        self._doubtful_from: Number | None = None
        self.ties_missing = False
        """Whether some repair of least cost may not be in the graph."""
        self.terminals: list[Node] = []
        self.incomplete = ""
        """Why the search may have missed something."""
        self.ahead = FaultHeuristic(task)
        self.agenda = Agenda(task, self.ahead)
        self.flaws = Flaws(task)
        self.edits = Edits(self.agenda, self.flaws, self, insertions_only)
        self._nodes: dict[Key, Node] = {}
        self.root = Node(0, Execution.initial(task.engine, criteria=task.criteria), _NONE, _NONE)
        self._nodes[self._key(self.root)] = self.root
        self.root.broken = self.root.now.lasting_violations
        if not self.root.broken:
            self._expand_later(self.root)

    def run(self, max_cost: Number | None, everything: bool = False) -> bool:
        """Search until every repair of the least cost is in the graph, or nothing up to ``max_cost`` is left.

        ``everything``: do not stop at the first cost. False if the limit for ties has passed before. Raises
        :class:`LimitReached`; its results stay, and another call goes on.
        """
        found: Number | None = None
        ties_until: float | None = None
        while (level := self.agenda.next) is not None:
            if (max_cost is not None and level > max_cost) or (found is not None and level > found):
                break
            if self.deadline is not None and monotonic() > self.deadline:
                raise LimitReached(LimitKind.TIME)
            if ties_until is not None and monotonic() > ties_until:
                return False
            if self.work_limit is not None and self.work > self.work_limit:
                raise LimitReached(LimitKind.WORK)
            if not self.agenda.act():
                continue
            self.bound = max(self.bound, level)
            if self.is_doubtful and self._doubtful_from is None:
                self.doubt(level)
            if self.progress is not None:
                self.progress(self.proved, self.expanded)
            if found is None and self.terminals and not everything:
                found = min([end.cost for end in self.terminals])
                if self.deadline is not None and self.tie_limit is not None:
                    ties_until = monotonic() + self.tie_limit
        if found is not None:
            self.bound = found
        elif level is not None:
            self.bound = level
        elif max_cost is not None:
            self.bound = max_cost
        return True

    def doubt(self, cost: Number) -> None:
        """Record that a repair of this cost may have been missed."""
        self._doubtful_from = cost if self._doubtful_from is None else min(self._doubtful_from, cost)

    @property
    def is_doubtful(self) -> bool:
        """Whether the search may have missed something."""
        return bool(self.incomplete) or self.task.effects.cut or self.ties_missing

    @property
    def proved(self) -> Number:
        """A lower bound of the cost of all repairs, also of those that the search may have missed."""
        if self._doubtful_from is not None:
            return min(self.bound, self._doubtful_from)
        return 0 if self.is_doubtful else self.bound

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left to try at any cost."""
        return self.agenda.next is None

    def _key(self, node: Node) -> Key:
        return (node.position, node.deferred, node.borrowed, *node.now.key())

    def reach(
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
        own = None if taken is None else self.task.effects.of(taken)
        broken = () if taken is None else now.new_violations
        total = source.cost + cost
        if broken:
            target.broken = broken
            target.cost = total
            self._join(Edge(source, target, kind, step, taken, own, cost))
            self.agenda.flaw(target, ("flaw",), partial(self._rules_flaw, target, broken))
            return
        key = self._key(target)
        known = self._nodes.get(key)
        if known is None:
            target.cost = total
            self._nodes[key] = target
            self._join(Edge(source, target, kind, step, taken, own, cost))
            self._expand_later(target)
            return
        if known is source:
            return
        edge = Edge(source, known, kind, step, taken, own, cost)
        self._join(edge)
        if total < known.cost:
            self._cheaper(known, total)
        for demand, (extra, full) in list(known.demands.items()):
            if edge.indifferent(demand, full, self.task):
                self.receive(source, demand, extra + cost, full)
                continue
            for item in self._crossing(edge, demand, extra, full):
                self.receive(*item)

    def _join(self, edge: Edge) -> None:
        edge.source.edges.append(edge)
        edge.target.parents.append(edge)
        self._mark(edge.target, edge.source.swaps | swapped(edge))

    def _mark(self, node: Node, swaps: int) -> None:
        """Paths to a node delete these steps: flaws from there on may be mended by substitutions instead."""
        stack = [(node, swaps)]
        while stack:
            node, swaps = stack.pop()
            if node.swaps | swaps == node.swaps:
                continue
            node.swaps |= swaps
            self.agenda.swaps(node)
            if not node.broken and not node.expanded:
                self._expand_later(node)
            stack += [(edge.target, node.swaps | swapped(edge)) for edge in node.edges]

    def _cheaper(self, node: Node, total: Number) -> None:
        """A cheaper way to a node: everything after it is cheaper as well."""
        stack = [(node, total)]
        while stack:
            node, total = stack.pop()
            if total >= node.cost:
                continue
            node.cost = total
            self.agenda.cheaper(node)
            for demand, (extra, full) in node.demands.items():
                if full and not node.broken:
                    self.edits.offer(node, demand, extra)
            stack += [(edge.target, total + edge.cost) for edge in node.edges]

    def _take(self, node: Node, taken: GroundAction) -> Execution | None:
        """What a step leads to; ``None`` if it cannot be taken."""
        self.work += 1
        try:
            return node.now.after(taken)
        except (NumberTooLarge, TooManyInstances) as limit:
            self.incomplete = f"{type(limit).__name__} at an attempted step"
            return None

    def _expand_later(self, node: Node) -> None:
        self.agenda.push(node, self.ahead.estimate(node), ("expand",), lambda: self._expand(node))

    def _expand(self, node: Node) -> None:
        """Keep the next step, put deferred steps down, or end."""
        self.expanded += 1
        node.expanded = True
        for step in sorted(node.deferred):
            taken = self.task.steps[step - 1]
            assert isinstance(taken, GroundAction)
            if not self.execute(node, PLACE, step, taken, 0, node.position, node.deferred - {step}, node.borrowed):
                self.agenda.flaw(node, ("unplaced", step), partial(self.edits.precondition, node, taken, 0))
        if node.position == self.task.length:
            if not node.deferred:
                self._end(node)
            return
        step = node.position + 1
        if step in node.borrowed:
            self.reach(node, SKIP, step, None, 0, step, node.now, node.deferred, node.borrowed - {step})
            return
        following = self.task.steps[step - 1]
        if isinstance(following, IllFormed):
            self.agenda.flaw(node, ("ill-formed",), partial(self.edits.removable, node, 0))
        elif not self.execute(node, KEEP, step, following, 0, step, node.deferred, node.borrowed):
            self.agenda.flaw(node, ("inexecutable",), partial(self._inexecutable, node, following, step))

    def execute(
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
        self.reach(node, kind, step, taken, cost, position, after, deferred, borrowed)
        return True

    def _meets(self, demand: Demand, taken: GroundAction, log: list[StateChange]) -> bool:
        if self.task.effects.of(taken).acts(demand.subject, self.task.wanted(demand)):
            return True
        return any([demand.agrees(self.engine.task, p, c) for p, c, _ in log])

    def _end(self, node: Node) -> None:
        """The plan may end here."""
        goal = self.engine.goal(node.state)
        if goal is not True:
            self.agenda.flaw(node, ("goal",), partial(self._goal_flaw, node))
            return
        broken = node.now.violations_at_end
        if broken:
            self.agenda.flaw(node, ("flaw",), partial(self._rules_flaw, node, broken))
            return
        if HALF_SUBSTITUTED in node.borrowed:
            # The deletion is enough. Only together with some other edit can a substitution be needed.
            if self.task.length <= MAX_HALF_SUBSTITUTED:
                self.agenda.flaw(
                    node, ("half-substitute",), partial(self.receive, node, Demand(ANYTHING, None, None), 0, True)
                )
            else:
                self.ties_missing = True
            return
        node.terminal = True
        self.terminals.append(node)

    def _inexecutable(self, node: Node, taken: GroundAction, step: int) -> None:
        self.edits.precondition(node, taken, 0)
        self.edits.removable(node, 0)
        self.receive(node, Demand(BORROW_STEP, step, None), 0, True)

    def _goal_flaw(self, node: Node) -> None:
        for demand in self.flaws.goal(node):
            self.receive(node, demand, 0, True)

    def _rules_flaw(self, node: Node, broken: tuple[BrokenInstance, ...]) -> None:
        for at, demand, extra in self.flaws.rules(node, broken):
            self.receive(at, demand, extra, True)

    def receive(self, node: Node, demand: Demand, extra: Number, full: bool) -> None:
        """A demand arrives: offer edits here, and send it on.

        ``extra``: the cost of the edits between here and the flaw. ``full`` is
        False where the demand only looks for steps that could be moved behind this place.
        """
        stack = [(node, demand, extra, full)]
        offers: dict[Number, list[tuple[Node, Demand, Number]]] = {}
        while stack:
            node, demand, extra, full = stack.pop()
            self.work += 1
            known = node.demands.get(demand)
            if known is not None and known[0] <= extra and (known[1] or not full):
                continue
            node.demands[demand] = (extra, full) if known is None else (min(known[0], extra), known[1] or full)
            if full and not node.broken:
                if demand.subject in (BORROW_STEP, FEWER):
                    self.edits.offer(node, demand, extra)
                else:
                    level = node.cost + self.agenda.affordable(node, extra)
                    offers.setdefault(level, []).append((node, demand, extra))
            for edge in node.parents:
                if edge.indifferent(demand, full, self.task):
                    stack.append((edge.source, demand, extra + edge.cost, full))
                else:
                    stack += self._crossing(edge, demand, extra, full)
        for level, batch in offers.items():
            first = batch[0][0]
            key = ("offers", self.agenda.unique())
            self.agenda.push(first, level - first.cost, key, partial(self._offer_batch, batch))

    def _offer_batch(self, batch: list[tuple[Node, Demand, Number]]) -> None:
        for node, demand, extra in batch:
            self.edits.offer_all(node, demand, extra)

    def _crossing(
        self, edge: Edge, demand: Demand, extra: Number, full: bool
    ) -> list[tuple[Node, Demand, Number, bool]]:
        """What of a demand at the target of an edge is left at its source."""
        source = edge.source
        if edge.kind in (DELETE, HALF_SUBSTITUTE) and full:
            self.edits.substitute(source, demand, extra)
        extra += edge.cost
        left, removable, movable = self.flaws.across(edge, demand, full)
        if removable:
            self.edits.removable(source, extra)
        elif movable:
            self.edits.movable(source, extra)
        return [(source, other, extra, fully) for other, fully in left]
