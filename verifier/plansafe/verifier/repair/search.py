"""The search for repairs of least cost: A* over an alignment graph that has edits only where a conflict needs them.

A node is a position in the original plan, a state, what the rules remember, and the steps that a move has deferred or
borrowed. Keeping a step costs nothing. Conflicts decide which edits are tried where: when a path reaches a *flaw* (a
step that is not applicable, a violated rule, an unmet goal), the facts that would have to differ are sent back along
all paths to it as *demands*, and each node that a demand reaches offers the edits that may meet it. Every repair that
contains the edits of a flawed path also contains one of the edits offered (README.md has the argument), so no repair of
least cost is missed. Paths that lead to the same node are searched once, so the searches for faults that are far apart
add up instead of multiplying.
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
from plansafe.verifier.repair.edits import EditOffers
from plansafe.verifier.repair.flaws import FlawDemands, PlacedDemand
from plansafe.verifier.repair.heuristic import FaultHeuristic
from plansafe.verifier.repair.repair_task import RepairTask
from plansafe.verifier.repair.search_graph import (
    ANY_CHANGE,
    BORROW_STEP,
    FEWER_STEPS,
    HALF_SUBSTITUTED,
    Edge,
    EdgeKind,
    Node,
    NodeKey,
    Transition,
)

MAX_STEPS_HALF_SUBSTITUTED = 30
"""The longest plan for which all ties are found if a deletion costs more than a substitution."""
_NO_STEPS: frozenset[int] = frozenset()
_PendingDemand = tuple[Node, Demand, Number, bool]
"""A demand that a node is to receive, its ``cost_to_flaw`` and its ``all_edits`` (see :class:`.search_graph.Node`)."""


class RepairSearch:
    """One search. Call :meth:`run`, then read :attr:`terminals` and :attr:`bound`.

    ``max_tie_work``: the most work to look for further repairs that cost as much as the first; it applies only if there
    is a ``deadline``. ``insertions_only``: see :class:`EditOffers`. ``report_progress``: called with the bound and the
    number of expanded nodes after each task of the agenda.
    """

    def __init__(
        self,
        task: RepairTask,
        max_tie_work: int,
        insertions_only: bool = False,
        report_progress: Callable[[Number, int], None] | None = None,
    ) -> None:
        self.task = task
        self.engine = task.engine
        self.deadline: float | None = None
        """The time (of :func:`monotonic`) at which the search stops; ``None``: never."""
        self.work_limit: int | None = None
        self.max_tie_work = max_tie_work
        self.report_progress = report_progress
        self.expanded_count = 0
        self.work = 0
        """The number of steps tried and demands received; ``work_limit`` bounds it."""
        self.bound: Number = 0
        """No repair costs less, as far as the search is complete (see :attr:`proved_bound`)."""
        self._doubtful_from: Number | None = None
        """The least cost of a repair that may have been missed."""
        self.may_miss_ties = False
        """Whether some repair of least cost may not be in the graph."""
        self.terminals: list[Node] = []
        self.incompleteness = ""
        """Why the search may have missed a repair; empty if nothing was skipped."""
        self.heuristic = FaultHeuristic(task)
        self.agenda = Agenda(task, self.heuristic, edit_early=insertions_only)
        self.flaw_demands = FlawDemands(task, facts_only=insertions_only)
        self.offers = EditOffers(self.agenda, self.flaw_demands, self, insertions_only)
        self._nodes: dict[NodeKey, Node] = {}
        self.root = Node(0, Execution.initial(task.engine, criteria=task.criteria), _NO_STEPS, _NO_STEPS)
        self._nodes[self._make_key(self.root)] = self.root
        self.root.broken_instances = self.root.execution.lasting_violations
        if not self.root.broken_instances:
            self._queue_expansion(self.root)

    def run(self, max_cost: Number | None, all_costs: bool = False) -> bool:
        """Search until every repair of the least cost is in the graph, or nothing up to ``max_cost`` is left.

        ``max_cost``: ``None`` if any cost is allowed. ``all_costs``: do not stop at the least cost. Returns false if
        the limit for ties was reached first. Raises :class:`LimitReached` at the other limits; what was found is
        kept, and another call continues the search.
        """
        least_cost: Number | None = None
        tie_work_limit: int | None = None
        while (cost := self.agenda.next_cost) is not None:
            if (max_cost is not None and cost > max_cost) or (least_cost is not None and cost > least_cost):
                break
            if self.deadline is not None and monotonic() > self.deadline:
                raise LimitReached(LimitKind.TIME)
            if tie_work_limit is not None and self.work > tie_work_limit:
                return False
            if self.work_limit is not None and self.work > self.work_limit:
                raise LimitReached(LimitKind.WORK)
            if not self.agenda.run_next():
                continue
            self.bound = max(self.bound, cost)
            if self.is_doubtful and self._doubtful_from is None:
                self.record_doubt(cost)
            if self.report_progress is not None:
                self.report_progress(self.proved_bound, self.expanded_count)
            if least_cost is None and self.terminals and not all_costs:
                least_cost = min([node.cost for node in self.terminals])
                if self.deadline is not None:
                    tie_work_limit = self.work + self.max_tie_work
        if least_cost is not None:
            self.bound = least_cost
        elif cost is not None:
            self.bound = cost
        elif max_cost is not None:
            self.bound = max_cost
        return True

    def record_doubt(self, cost: Number) -> None:
        """Record that a repair of this cost may have been missed."""
        self._doubtful_from = cost if self._doubtful_from is None else min(self._doubtful_from, cost)

    @property
    def is_doubtful(self) -> bool:
        """Whether the search may have missed a repair."""
        return bool(self.incompleteness) or self.task.effect_index.has_cut_lists or self.may_miss_ties

    @property
    def proved_bound(self) -> Number:
        """A lower bound of the cost of all repairs, also of those that the search may have missed."""
        if self._doubtful_from is not None:
            return min(self.bound, self._doubtful_from)
        return 0 if self.is_doubtful else self.bound

    @property
    def is_exhausted(self) -> bool:
        """Whether no task is left at any cost."""
        return self.agenda.next_cost is None

    # -- the graph ----------------------------------------------------------------------------------------------------

    def _make_key(self, node: Node) -> NodeKey:
        return (node.position, node.deferred, node.borrowed, *node.execution.key())

    def add_edge(self, source: Node, transition: Transition, execution: Execution) -> None:
        """Add an edge, and its target if it is new."""
        kind, number, step, cost, position, deferred, borrowed = transition
        target = Node(position, execution, deferred, borrowed)
        effects = None if step is None else self.task.effect_index.get_effects(step)
        broken = () if step is None else execution.new_violations
        existing_node: Node | None = None
        if not broken:
            existing_node = self._nodes.setdefault(self._make_key(target), target)
            if existing_node is source:
                return
        target_cost = source.cost + cost
        edge = Edge(source, existing_node or target, kind, number, step, effects, cost, transition.deleted)
        if existing_node is None or existing_node is target:
            target.cost = target_cost
            target.broken_instances = broken
            self._connect(edge)
            if broken:
                self.agenda.add_flaw(target, ("flaw",), partial(self._demand_rules, target, broken))
            else:
                self._queue_expansion(target)
            return
        self._connect(edge)
        if target_cost < existing_node.cost:
            self._lower_cost(existing_node, target_cost)
        for demand, (cost_to_flaw, all_edits) in list(existing_node.demands.items()):
            if edge.is_indifferent_to(demand, all_edits, self.task):
                self.receive(source, demand, cost_to_flaw + cost, all_edits)
                continue
            for pending_demand in self._propagate(edge, demand, cost_to_flaw, all_edits):
                self.receive(*pending_demand)

    def _connect(self, edge: Edge) -> None:
        edge.source.edges.append(edge)
        edge.target.parents.append(edge)
        self._mark_deleted(edge.target, edge.source.deleted | edge.deleted)

    def _mark_deleted(self, node: Node, deleted: int) -> None:
        """Record that a path to a node deletes these steps: later flaws may be repaired by substitutions instead."""
        stack = [(node, deleted)]
        while stack:
            node, deleted = stack.pop()
            if node.deleted | deleted == node.deleted:
                continue
            node.deleted |= deleted
            self.agenda.requeue_flaws(node)
            if not node.broken_instances and not node.is_expanded:
                self._queue_expansion(node)
            stack += [(edge.target, node.deleted | edge.deleted) for edge in node.edges]

    def _lower_cost(self, node: Node, cost: Number) -> None:
        """Lower the cost of a node and of the nodes after it, and requeue their tasks."""
        stack = [(node, cost)]
        while stack:
            node, cost = stack.pop()
            if cost >= node.cost:
                continue
            node.cost = cost
            self.agenda.requeue(node)
            for demand, (cost_to_flaw, all_edits) in node.demands.items():
                if all_edits and not node.broken_instances:
                    self.offers.schedule_offer(node, demand, cost_to_flaw)
            stack += [(edge.target, cost + edge.cost) for edge in node.edges]

    def execute(self, node: Node, transition: Transition, demand: Demand | None = None) -> bool:
        """Execute a step and add its edge; false if the step is not applicable or does not meet a demand."""
        step = transition.step
        assert step is not None
        self.work += 1
        try:
            after = node.execution.after(step)
        except (NumberTooLarge, TooManyInstances) as limit:
            self.incompleteness = f"{type(limit).__name__} at an attempted step"
            return False
        if after is None or (demand is not None and not self._meets(demand, step, after.changed)):
            return False
        self.add_edge(node, transition, after)
        return True

    def _meets(self, demand: Demand, step: GroundAction, changes: list[StateChange]) -> bool:
        effects = self.task.effect_index.get_effects(step)
        if effects.matches_action_fact(demand.subject, self.task.get_pattern(demand)):
            return True
        return any([demand.is_about(self.engine.task, index, code) for index, code, _ in changes])

    # -- expansion ----------------------------------------------------------------------------------------------------

    def _queue_expansion(self, node: Node) -> None:
        self.agenda.add(node, self.heuristic.estimate(node), ("expand",), lambda: self._expand(node))

    def _expand(self, node: Node) -> None:
        """Keep the next step, place deferred steps, or end the plan."""
        self.expanded_count += 1
        node.is_expanded = True
        for number in sorted(node.deferred):
            moved_step = self.task.steps[number - 1]
            assert isinstance(moved_step, GroundAction)
            deferred = node.deferred - {number}
            place = Transition(EdgeKind.PLACE, number, moved_step, 0, node.position, deferred, node.borrowed)
            if not self.execute(node, place):
                demand_precondition = partial(self.offers.demand_precondition, node, moved_step, 0)
                self.agenda.add_flaw(node, ("unplaced", number), demand_precondition)
        if node.position == self.task.length:
            if not node.deferred:
                self._end_plan(node)
            return
        number = node.position + 1
        if number in node.borrowed:
            skip = Transition(EdgeKind.SKIP, number, None, 0, number, node.deferred, node.borrowed - {number})
            self.add_edge(node, skip, node.execution)
            return
        step = self.task.steps[number - 1]
        if isinstance(step, IllFormed):
            self.agenda.add_flaw(node, ("ill-formed",), partial(self.offers.offer_removal, node, 0))
        elif not self.execute(node, Transition(EdgeKind.KEEP, number, step, 0, number, node.deferred, node.borrowed)):
            self.agenda.add_flaw(node, ("inexecutable",), partial(self._demand_applicability, node, step, number))

    def _end_plan(self, node: Node) -> None:
        """Make a node a terminal if the plan may end there."""
        if self.engine.evaluate_goal(node.state) is not True:
            self.agenda.add_flaw(node, ("goal",), partial(self._demand_goal, node))
            return
        broken = node.execution.violations_at_end
        if broken:
            self.agenda.add_flaw(node, ("flaw",), partial(self._demand_rules, node, broken))
            return
        if HALF_SUBSTITUTED in node.borrowed:
            # The deletion is enough. A substitution can be needed only together with another edit.
            if self.task.length <= MAX_STEPS_HALF_SUBSTITUTED:
                demand_any_change = partial(self.receive, node, Demand(ANY_CHANGE, None, None), 0, all_edits=True)
                self.agenda.add_flaw(node, ("half-substitute",), demand_any_change)
            else:
                self.may_miss_ties = True
            return
        node.is_terminal = True
        self.terminals.append(node)

    # -- flaws and demands --------------------------------------------------------------------------------------------

    def _demand_applicability(self, node: Node, step: GroundAction, number: int) -> None:
        """Demand that an original step becomes applicable, is removed, or is moved to an earlier place."""
        self.offers.demand_precondition(node, step, 0)
        self.offers.offer_removal(node, 0)
        self.receive(node, Demand(BORROW_STEP, number, None), 0, all_edits=True)

    def _demand_goal(self, node: Node) -> None:
        for demand in self.flaw_demands.demand_goal(node):
            self.receive(node, demand, 0, all_edits=True)

    def _demand_rules(self, node: Node, broken: tuple[BrokenInstance, ...]) -> None:
        for source, demand, cost_to_flaw in self.flaw_demands.demand_no_violation(node, broken):
            self.receive(source, demand, cost_to_flaw, all_edits=True)

    def receive(self, node: Node, demand: Demand, cost_to_flaw: Number, all_edits: bool) -> None:
        """Receive a demand: offer edits at the node, and send it on to the nodes before.

        For ``cost_to_flaw`` and ``all_edits`` see :class:`.search_graph.Node`.
        """
        stack: list[_PendingDemand] = [(node, demand, cost_to_flaw, all_edits)]
        offers_by_cost: dict[Number, list[PlacedDemand]] = {}
        while stack:
            node, demand, cost_to_flaw, all_edits = stack.pop()
            self.work += 1
            received_demand = node.demands.get(demand)
            if received_demand is None:
                node.demands[demand] = (cost_to_flaw, all_edits)
            else:
                least_cost, had_all_edits = received_demand
                if least_cost <= cost_to_flaw and (had_all_edits or not all_edits):
                    continue
                node.demands[demand] = (min(least_cost, cost_to_flaw), had_all_edits or all_edits)
            if all_edits and not node.broken_instances:
                if demand.subject in (BORROW_STEP, FEWER_STEPS):
                    self.offers.schedule_offer(node, demand, cost_to_flaw)
                else:
                    cost = node.cost + self.agenda.bound_with_edit(node, cost_to_flaw)
                    offers_by_cost.setdefault(cost, []).append(PlacedDemand(node, demand, cost_to_flaw))
            for edge in node.parents:
                if edge.is_indifferent_to(demand, all_edits, self.task):
                    stack.append((edge.source, demand, cost_to_flaw + edge.cost, all_edits))
                else:
                    stack += self._propagate(edge, demand, cost_to_flaw, all_edits)
        for cost, demands in offers_by_cost.items():
            first_node = demands[0].node
            key = ("offers", self.agenda.get_unique_number())
            self.agenda.add(first_node, cost - first_node.cost, key, partial(self._offer_edits, demands))

    def _offer_edits(self, demands: list[PlacedDemand]) -> None:
        for node, demand, cost_to_flaw in demands:
            self.offers.offer(node, demand, cost_to_flaw)

    def _propagate(self, edge: Edge, demand: Demand, cost_to_flaw: Number, all_edits: bool) -> list[_PendingDemand]:
        """Offer edits of an edge's step for a demand at its target; returns the demands at its source."""
        source = edge.source
        if edge.deleted and all_edits:
            self.offers.offer_substitutions(source, demand, cost_to_flaw)
        cost_to_flaw += edge.cost
        demands, is_removable, is_movable = self.flaw_demands.propagate(edge, demand, all_edits)
        if is_removable:
            self.offers.offer_removal(source, cost_to_flaw)
        elif is_movable:
            self.offers.offer_move(source, cost_to_flaw)
        return [(source, source_demand, cost_to_flaw, all_edits) for source_demand, all_edits in demands]
