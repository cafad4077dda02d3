"""The report on a partially ordered plan, over all its orders in all worlds."""

from __future__ import annotations

from collections.abc import Iterator

from plansafe.verifier.model.memoized import memoized
from plansafe.verifier.reporting.report import Finding, FindingClass, RuleCount, Worlds
from plansafe.verifier.reporting.summary import count_rules
from plansafe.verifier.reporting.worlds import Completion
from plansafe.verifier.rules.model import Rule, shorten_variable_names
from plansafe.verifier.symbolic.invariants.groups import Restrictions
from plansafe.verifier.symbolic.orders.explicit_orders import OrderVerdict
from plansafe.verifier.symbolic.orders.order_audit import ClosedWorld, OrderAudit, PlanProperty, WorldSource
from plansafe.verifier.symbolic.orders.partial_order import PartialOrder
from plansafe.verifier.symbolic.orders.template import Openings
from plansafe.verifier.symbolic.orders.world_search import WorldAnswer
from plansafe.verifier.symbolic.worlds.open_parts import OpenPartsReporter
from plansafe.verifier.symbolic.worlds.reporter import AuditCase
from plansafe.verifier.symbolic.worlds.verdict import (
    VIOLATED_STATUSES,
    RuleCounts,
    WorldsVerdict,
    mark_kept,
    mark_undecided,
    merge_rule_counts,
)
from plansafe.verifier.symbolic.worlds.world_replay import (
    ChoiceKey,
    close_task,
    make_certain_world,
    resolve_outcomes,
)


class OrderReporter(OpenPartsReporter):
    """Reports on one partially ordered plan."""

    decision_method = "all orders"

    def __init__(self, case: AuditCase, restrictions: Restrictions) -> None:
        super().__init__(case, restrictions)
        assert self.resolved.ordering is not None
        self.order = PartialOrder(len(self.resolved.steps), self.resolved.ordering)
        self.unordered_pair_count = self.order.count_unordered_pairs()

    def decide_verdict(self) -> WorldsVerdict:
        """Decide the verdict over all orders."""
        options, steps, parts = self.compiled.options, self.resolved.steps, self.open_parts
        compiled, open_worlds = self.compiled, None
        if parts.is_open:
            openings = Openings(parts.circuit, parts.start, parts.compiler, parts.allowed)
            closed_worlds = None if parts.open_numbers else self._iterate_closed_worlds
            open_worlds = WorldSource(openings, self._audit_world, closed_worlds)
        elif compiled.is_open:  # nothing that the task leaves open matters to these steps
            compiled = close_task(compiled, make_certain_world(steps))
        self.audit = OrderAudit(
            compiled.engine, steps, self.order, self.deadline, options.criteria, open_worlds, options.engine
        )
        return self.audit.decide_verdict()

    def _iterate_closed_worlds(self) -> Iterator[ClosedWorld | None]:
        """Each completion with each outcome, without an order; ``None`` if the solver gave up."""
        for facts in self.open_parts.iterate_completions():
            if facts is None:
                yield None
                return
            for outcomes in self.open_parts.iterate_outcomes():
                world = Completion(facts, {}, outcomes)
                engine = close_task(self.compiled, world).engine
                yield ClosedWorld(world, engine, resolve_outcomes(self.resolved.steps, world))

    def _audit_world(self, world: Completion) -> OrderVerdict:
        """The verdict on one world with its order."""
        report = self.report_until_failure(world)
        is_safe = {Worlds.ALL: True, Worlds.NONE: False}.get(report.safe)
        return OrderVerdict(report.executable is Worlds.ALL, report.goal is Worlds.ALL, is_safe)

    def choose_world(self) -> Completion:
        """A world that was replayed, or an allowed world with the first order."""
        first_order = self.order.find_linear_extension()
        return self.audit.find_replayed_world() or super().choose_world()._replace(order=first_order)

    def find_violating_world(self, rule: str) -> Completion | None:
        """A world that violates the rule with this name, if one is found."""
        return self._search_violating_world(rule).world

    @memoized
    def _search_violating_world(self, rule: str) -> WorldAnswer:
        """The answer to whether a world violates a rule; the solver is asked once for each rule."""
        parts = self.compiled.engine.rule_set.parts
        numbers = [number for number, part in enumerate(parts) if self.compiled.rules[part.rule].name == rule]
        return self.audit.encoding.find_violating_world(numbers)

    def count_rules(self, counts: RuleCounts) -> RuleCounts:
        """The status of each rule over all orders of all worlds."""
        worlds = self._find_worlds_with_instances(counts)
        counts = merge_rule_counts([counts, *[self.report_until_failure(world).rules for world in worlds]])
        final_counts: list[RuleCount] = []
        for rule, count in zip(self.compiled.rules, counts, strict=True):
            final_count = self._decide_rule_count(rule, count)
            if final_count is None:
                return self._count_in_all_orders(counts)
            final_counts.append(final_count)
        return tuple(final_counts)

    def _find_worlds_with_instances(self, counts: RuleCounts) -> list[Completion]:
        """Find a world in which all steps are executed, or a world for each step if a rule was never applied."""
        executed = self.audit.example_worlds[PlanProperty.EXECUTABLE].get(True)
        if executed is not None:
            return [executed]
        if not any([count.status == "never applied" for count in counts]):
            return []
        steps = range(1, len(self.resolved.steps) + 1)
        worlds = [self.audit.encoding.find_world_taking_step(step).world for step in steps]
        return [world for world in worlds if world is not None]

    def _decide_rule_count(self, rule: Rule, count: RuleCount) -> RuleCount | None:
        """The count of a rule with its status in all orders; ``None`` if the encoding cannot decide it."""
        if count.status in VIOLATED_STATUSES or count.status == "not applicable":
            return count
        if not self.compiled.options.criteria.includes_rule(rule):
            return None
        if self.verdict.safe is Worlds.ALL:
            return mark_kept(count)
        answer = self._search_violating_world(rule.name)
        if not answer.is_decided:
            return None
        if answer.world is None:
            return mark_kept(count)
        return count._replace(status="violated", violations=max(count.violations, 1))

    def _count_in_all_orders(self, counts: RuleCounts) -> RuleCounts:
        """The status of each rule from a run in each order; undecided if there are too many orders."""
        outcomes = self.audit.collect_outcomes()
        if outcomes is None:
            return mark_undecided(counts)
        return merge_rule_counts([count_rules(self.compiled, outcome) for outcome in outcomes])

    def decide_finding(self, finding: Finding) -> Worlds:
        """The share of worlds that have a finding, which some world has.

        It is not ALL if the property that the finding denies (executable, goal, safe) holds in some world.
        """
        match finding.finding_class:
            case FindingClass.UNMET_GOAL:
                return Worlds.ALL if self.verdict.goal is Worlds.NONE else Worlds.SOME
            case FindingClass.INEXECUTABLE | FindingClass.ILL_FORMED:
                if self.verdict.executable is Worlds.SOME:
                    return Worlds.SOME
                order = self.failing_worlds[finding.world or 0].world.order
                share = self.audit.encoding.decide_share_failing_at_step(order[finding.step - 1])
            case _:
                if self.verdict.safe is Worlds.SOME:
                    return Worlds.SOME
                share = self.audit.encoding.decide_share_violating(self._find_instances(finding))
        return Worlds.SOME if share is Worlds.NONE else share  # NONE: the finding follows from an earlier failed step

    def _find_instances(self, finding: Finding) -> list[tuple[int, tuple[int, ...]]]:
        """The parts of a finding's rule, each with the finding's binding."""
        objects = {name: self.task.object_index[value] for name, value in finding.binding}
        instances = []
        for number, part in enumerate(self.compiled.engine.rule_set.parts):
            names = shorten_variable_names([v.name for v in part.parameters])
            if self.compiled.rules[part.rule].name == finding.rule and set(names) == set(objects):
                instances.append((number, tuple([objects[name] for name in names])))
        return instances

    def list_relevant_choices(self) -> list[ChoiceKey]:
        """The choices that may matter to the verdict."""
        return [choice for choice in super().list_relevant_choices() if self.audit.encoding.may_matter(choice)]
