"""The circuit of a partially ordered plan, built at first use, and what a solver decides about it.

A query whose circuit is too hard, or on which the solver gives up, stays undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.reporting.report import Worlds
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, VerdictCriteria
from plansafe.verifier.symbolic.circuits.circuit import TRUE, Literal
from plansafe.verifier.symbolic.circuits.solvers import Unsupported
from plansafe.verifier.symbolic.orders.exclusive_pairs import find_implied_literals
from plansafe.verifier.symbolic.orders.fact_timeline import FactTimeline
from plansafe.verifier.symbolic.orders.partial_order import PartialOrder, holds_in_every_order
from plansafe.verifier.symbolic.orders.rule_violations import InstanceViolation, RuleEncoding
from plansafe.verifier.symbolic.orders.template import Openings, PlanTemplate, TooHard, make_empty_openings
from plansafe.verifier.symbolic.orders.world_search import WorldAnswer, WorldSearch

UNDECIDABLE_ERRORS = (TooHard, NumberTooLarge, Unsupported)
"""The exceptions that mean that no circuit decides a question about the plan."""


class OrderEncoding:
    """The circuit of a partially ordered plan, and the search for worlds in which a literal of it is true.

    ``openings``: what the task leaves open in addition to the order; ``None`` if only the order is open. ``timeline``
    is ``None`` until the circuit is built.
    """

    def __init__(
        self,
        engine: Engine,
        steps: Sequence[GroundAction | IllFormed],
        order: PartialOrder,
        deadline: float | None,
        criteria: VerdictCriteria,
        openings: Openings | None,
        solver: str,
    ) -> None:
        self.engine = engine
        self.steps = steps
        self.order = order
        self.deadline = deadline
        self.criteria = criteria
        self.openings = openings
        self.solver = solver
        self.timeline: FactTimeline | None = None
        self._search: WorldSearch | None = None
        self._all_violations: list[InstanceViolation] | None = None
        self._reachability: Literal | None = None

    def build(self) -> FactTimeline:
        """Build the circuit, if it is not built yet, and return it. Raises one of ``UNDECIDABLE_ERRORS``."""
        if self.timeline is None:
            openings = make_empty_openings(self.engine) if self.openings is None else self.openings
            template = PlanTemplate(self.engine, openings, self.steps, self.deadline)
            timeline = FactTimeline(template, self.order, self.deadline)
            self._search = WorldSearch(timeline, openings.allowed, self.solver)
            self.timeline = timeline
        return self.timeline

    def find_world(self, literal: Literal) -> WorldAnswer:
        """Search for a world in which a literal is true. Raises one of ``UNDECIDABLE_ERRORS``."""
        self.build()
        assert self._search is not None
        return self._search.find_world(literal)

    def iterate_doubtful_preconditions(self, timeline: FactTimeline) -> Iterator[tuple[int, Literal]]:
        """Yield the conjuncts of preconditions that may fail, each with its step.

        The truth criterion does not show that they hold in every order.
        """
        for step in range(1, self.order.size + 1):
            for part in timeline.circuit.list_conjuncts(timeline.template.steps[step].precondition):
                fact = timeline.find_fact(part)
                if fact is None:
                    if timeline.encode_literal(part, step) != TRUE:
                        yield step, part
                elif not holds_in_every_order(self.order, timeline.find_writers(fact), step, not part & 1):
                    yield step, part

    def encode_is_safe(self, timeline: FactTimeline) -> Literal:
        """Return the literal that no instance of a rule is violated."""
        return timeline.circuit.disjunction([violation.literal for violation in self._encode_violations(timeline)]) ^ 1

    def _encode_violations(self, timeline: FactTimeline) -> list[InstanceViolation]:
        """Return the violations of all instances, encoded once. Raises :class:`TooHard`."""
        if self._all_violations is None:
            if self.criteria != EVERY_VIOLATION:
                raise TooHard("which violations count is judged on single orders")
            self._all_violations = RuleEncoding(timeline).encode_violations()
        return self._all_violations

    def restrict_to_reachable(self, literal: Literal) -> Literal:
        """Restrict a literal to reachable worlds: the literals that taken steps imply must be true."""
        timeline = self.build()
        circuit = timeline.circuit
        if timeline.are_all_taken:
            return literal
        if self._reachability is None:
            self._reachability = circuit.conjunction(
                [
                    circuit.either(timeline.encode_is_taken(step) ^ 1, circuit.conjunction(parts))
                    for step, parts in find_implied_literals(timeline).items()
                ]
            )
        return circuit.both(literal, self._reachability)

    # -- queries -------------------------------------------------------------------------------------------------------

    def may_matter(self, choice: tuple[int, int, tuple[int, ...]]) -> bool:
        """Whether a choice (step, number, objects) may change anything; True if the circuit is not built."""
        return self.timeline is None or choice in self.timeline.template.step_encoder.alternative_counts

    def decide_share_violating(self, instances: Iterable[tuple[int, tuple[int, ...]]]) -> Worlds:
        """Return the share of worlds in which some of these instances (part, binding) are violated."""
        chosen_instances = set(instances)
        return self._decide_share(
            lambda timeline: self._encode_any_violation(timeline, lambda v: (v.part, v.binding) in chosen_instances)
        )

    def decide_share_failing_at_step(self, step: int) -> Worlds:
        """Return the share of worlds in which a step is the first that cannot be taken."""
        return self._decide_share(
            lambda timeline: timeline.circuit.both(
                timeline.encode_is_reached(step), timeline.encode_is_applicable(step) ^ 1
            )
        )

    def find_violating_world(self, parts: Iterable[int]) -> WorldAnswer:
        """Search for a world in which one of these parts of rules is violated."""
        chosen_parts = set(parts)
        return self._search_world(
            lambda timeline: self._encode_any_violation(timeline, lambda v: v.part in chosen_parts)
        )

    def find_world_taking_step(self, step: int) -> WorldAnswer:
        """Search for a world in which a step is taken."""
        return self._search_world(lambda timeline: timeline.encode_is_taken(step))

    def _encode_any_violation(self, timeline: FactTimeline, is_wanted: Callable[[InstanceViolation], bool]) -> Literal:
        """Return the worlds in which some wanted instance is violated."""
        violations = [violation for violation in self._encode_violations(timeline) if is_wanted(violation)]
        return timeline.circuit.disjunction([violation.literal for violation in violations])

    def _decide_share(self, encode: Callable[[FactTimeline], Literal]) -> Worlds:
        """Return the share of worlds in which the literal that ``encode`` returns is true."""
        answer = self._search_world(encode)
        if not answer.is_decided:
            return Worlds.UNKNOWN
        counterexample = self._search_world(lambda timeline: encode(timeline) ^ 1)
        if not counterexample.is_decided:
            return Worlds.UNKNOWN
        if answer.world is None:
            return Worlds.NONE
        return Worlds.ALL if counterexample.world is None else Worlds.SOME

    def _search_world(self, encode: Callable[[FactTimeline], Literal]) -> WorldAnswer:
        """Search for a reachable world in which the literal that ``encode`` returns is true."""
        try:
            return self.find_world(self.restrict_to_reachable(encode(self.build())))
        except (*UNDECIDABLE_ERRORS, LimitReached):
            return WorldAnswer(None, False)
