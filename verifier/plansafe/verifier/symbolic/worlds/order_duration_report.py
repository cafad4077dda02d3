"""The report on a plan whose order or whose durations are open, and on timed plans of which anything else is.

What decides here (:mod:`.orders`, :mod:`.durations`, :mod:`.enumeration`) gives three values and worlds in which each
fails. In which worlds a finding is there follows from the values as far as it does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.reporting.report import Finding, FindingClass, Headline, Report, RuleCount, Worlds
from plansafe.verifier.reporting.summary import rule_counts
from plansafe.verifier.reporting.worlds import Completion, ShownValue, ShownWorld, Witness, WorldsReport
from plansafe.verifier.rules.model import shown_names
from plansafe.verifier.symbolic.invariants.groups import Restrictions
from plansafe.verifier.symbolic.worlds.enumeration import OpenWorlds, judge_each_world
from plansafe.verifier.symbolic.worlds.reporter import AuditCase, EngineContradiction, FailingWorld, WorldsReporter
from plansafe.verifier.symbolic.worlds.verdict import (
    VIOLATED_STATUSES,
    RuleCounts,
    WorldsVerdict,
    choose_headline,
    mark_kept,
    mark_unknown,
    merge_rule_counts,
)
from plansafe.verifier.symbolic.worlds.world_replay import (
    SingleWorldValues,
    close_compiled_task,
    complete_outcomes,
    make_certain_world,
    report_in_world,
    resolve_outcomes,
    single_world_values,
)
from plansafe.verifier.symbolic.worlds.world_text import describe_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plansafe.verifier.symbolic.orders.order_audit import ClosedWorld, OrderAudit
    from plansafe.verifier.symbolic.orders.world_search import WorldAnswer

MAX_WITNESSES = 8
"""Worlds that a report shows."""
MAX_ASKED = 100
"""Findings of which it is asked whether they are there in all worlds."""
_OF_BOOLEAN = {True: Worlds.ALL, False: Worlds.NONE, None: Worlds.UNKNOWN}


Key = tuple[object, ...]


class OrderDurationReporter(WorldsReporter):
    """One plan with times, or partially ordered, judged over all worlds."""

    def __init__(self, case: AuditCase, restricted: Restrictions) -> None:
        super().__init__(case)
        self.restricted = restricted
        self.openness = OpenWorlds(self.compiled, self.read, restricted.groups)
        self.by = ""
        self.everywhere: set[Key] | None = None
        """What was found in every world, where each was replayed."""
        self.orders: OrderAudit | None = None
        self._answers: dict[str, WorldAnswer] = {}

    def report(self) -> Report:
        """The report. Raises :class:`LimitReached`, ``SolverMissing``."""
        if next(self.openness.completions(), None) is None and self.openness.is_open:
            return self.no_world()
        try:
            verdict = self._ordered() if self.read.ordering is not None else self._timed()
            asked = (
                ("executable", verdict.inexecutable_world),
                ("goal", verdict.unmet_goal_world),
                ("safe", verdict.unsafe_world),
            )
            for about, world in asked:
                if world is not None:
                    self.show(about, world)
            self._show_other_rules(verdict)
            sample = self.shown[0].report if self.shown else self.replay(self._some_world())
            if not self.shown and verdict.safe is Worlds.ALL and sample.headline is Headline.UNSAFE:
                raise EngineContradiction("every world should be safe, and one is not")
            return self._report(verdict, sample)
        except EngineContradiction as contradiction:
            return self.disagreement(contradiction.what)

    def _show_other_rules(self, verdict: WorldsVerdict) -> None:
        """A world for each rule that is broken in none of those shown."""
        if verdict.unsafe_world is None:
            return
        for name, world in self._breaking(verdict):
            if len(self.shown) >= MAX_WITNESSES:
                break
            if world is not None:
                self.show(name, world)

    def _breaking(self, verdict: WorldsVerdict) -> Iterator[tuple[str, Completion | None]]:
        """Rules that are broken in none of the worlds shown, each with a world that breaks it, if one is known."""
        found, asks = dict(verdict.rule_witnesses), self.compiled.options.criteria.includes
        for rule in self.compiled.rules:
            known = any([c.name == rule.name and c.violations for shown in self.shown for c in shown.report.rules])
            if not asks(rule) or not rule.applicable or known:
                continue
            if self.orders is None:
                yield rule.name, found.get(rule.name)
            else:
                yield rule.name, self._violating(self.orders, rule.name).world

    def _violating(self, orders: OrderAudit, rule: str) -> WorldAnswer:
        """A world that breaks a rule, if there is one; each rule is asked for once."""
        if rule not in self._answers:
            engine = self.compiled.engine
            parts = [n for n, part in enumerate(engine.rule_set.parts) if self.compiled.rules[part.rule].name == rule]
            self._answers[rule] = orders.find_violation(parts)
        return self._answers[rule]

    # -- verdicts -----------------------------------------------------------------------------------------------------

    def _ordered(self) -> WorldsVerdict:
        from plansafe.verifier.symbolic.orders.explicit_orders import OrderVerdict  # noqa: PLC0415
        from plansafe.verifier.symbolic.orders.order_audit import OrderAudit, WorldSource  # noqa: PLC0415 - for such plans alone
        from plansafe.verifier.symbolic.orders.partial_order import PartialOrder  # noqa: PLC0415
        from plansafe.verifier.symbolic.orders.template import Openings  # noqa: PLC0415

        options, steps = self.compiled.options, self.read.steps
        assert self.read.ordering is not None
        self.by = "all orders"
        compiled, open_worlds = self.compiled, None
        if self.openness.is_open:
            start = self.openness
            openings = Openings(start.circuit, start.start, start.evaluation, start.allowed)
            each = None if start.numbers else self._each
            open_worlds = WorldSource(openings, lambda world: OrderVerdict(*self._values(world)), each)
        elif compiled.is_open:  # of what the task leaves open nothing matters to these steps
            compiled = close_compiled_task(compiled, make_certain_world(steps))
        order = PartialOrder(len(steps), self.read.ordering)
        self.orders = OrderAudit(
            compiled.engine, steps, order, self.deadline, options.criteria, open_worlds, options.engine
        )
        return self.orders.verdict()

    def _each(self) -> Iterator[ClosedWorld | None]:
        """Each world but for its order."""
        from plansafe.verifier.symbolic.orders.order_audit import ClosedWorld  # noqa: PLC0415 - for such plans alone

        for facts in self.openness.completions():
            if facts is None:
                yield None
                return
            for outcomes in self.openness.outcomes():
                world = Completion(facts, {}, outcomes)
                engine = close_compiled_task(self.compiled, world).engine
                yield ClosedWorld(world, engine, resolve_outcomes(self.read.steps, world))

    def _values(self, world: Completion) -> SingleWorldValues:
        return single_world_values(self._in_world(world))

    def _in_world(self, world: Completion) -> Report:
        return report_in_world(self.compiled, self.plan, self.read, world, halt_only=True)

    def _timed(self) -> WorldsVerdict:
        intervals = self._intervals()
        if intervals and not self.openness.is_open:
            self.by = "all durations"
            return self._over_durations(self.compiled, make_certain_world(self.read.steps), intervals)
        self.by = "one world after the other"

        def judge(world: Completion) -> tuple[tuple[Worlds, Worlds, Worlds], WorldsVerdict]:
            if intervals:
                verdict = self._over_durations(close_compiled_task(self.compiled, world), world, intervals)
                return (verdict.executable, verdict.goal, verdict.safe), verdict
            report = self._in_world(world)
            values = single_world_values(report)
            found = {_key(finding) for finding in report.findings}
            self.everywhere = found if self.everywhere is None else self.everywhere & found
            failing = [world if value is False else None for value in values]
            executable, goal, safe = [_OF_BOOLEAN[value] for value in values]
            rules = mark_unknown(report.rules) if report.limits else report.rules
            breaking = tuple([(count.name, world) for count in rules if count.status in VIOLATED_STATUSES])
            verdict = WorldsVerdict(executable, goal, safe, failing[0], failing[1], failing[2], (), rules, breaking)
            return (executable, goal, safe), verdict

        verdict = judge_each_world(self.openness, judge, self.deadline)
        if verdict.limits:
            self.everywhere = None
        return verdict

    def _over_durations(
        self, compiled: CompiledTask, world: Completion, intervals: dict[int, tuple[Number, Number]]
    ) -> WorldsVerdict:
        from plansafe.verifier.symbolic.durations.duration_audit import audit_durations  # noqa: PLC0415 - for such plans alone

        assert self.read.timed is not None
        steps = resolve_outcomes(self.read.steps, world)
        timed = [step._replace(resolved=taken) for step, taken in zip(self.read.timed, steps, strict=True)]
        verdict = audit_durations(compiled, timed, intervals, self.deadline, self.read.text.decimals)
        failing = [
            None if w is None else world._replace(durations=w.durations)
            for w in (verdict.inexecutable_world, verdict.unmet_goal_world, verdict.unsafe_world)
        ]
        breaking = tuple([(rule, world._replace(durations=w.durations)) for rule, w in verdict.rule_witnesses])
        return verdict._replace(
            inexecutable_world=failing[0], unmet_goal_world=failing[1], unsafe_world=failing[2], rule_witnesses=breaking
        )

    def _intervals(self) -> dict[int, tuple[Number, Number]]:
        out: dict[int, tuple[Number, Number]] = {}
        for step in self.read.timed or ():
            if step.tolerance and step.duration is not None:
                out[step.number] = max(step.duration - step.tolerance, 0), step.duration + step.tolerance
        return out

    def _some_world(self) -> Completion:
        replayed = None if self.orders is None else self.orders.any_replayed_world()
        if replayed is not None:
            return replayed
        facts = next(self.openness.completions(), None) or frozenset()
        order = _an_order(len(self.read.steps), self.read.ordering) if self.read.ordering is not None else ()
        outcomes = complete_outcomes(self.openness.statements, {})
        durations = tuple([(number, low) for number, (low, _) in self._intervals().items()])
        return Completion(facts, self.openness.some_values(), outcomes, order, durations)

    # -- the report ---------------------------------------------------------------------------------------------------

    def _report(self, verdict: WorldsVerdict, sample: Report) -> Report:
        pairs = _unordered(len(self.read.steps), self.read.ordering) if self.read.ordering is not None else 0
        durations = len(self._intervals())
        openness = self.openness
        worlds = WorldsReport(
            openness.open_facts,
            len(openness.numbers),
            len(openness.choices),
            len(openness.facts) + len(openness.numbers) + len(openness.choices) + durations + pairs,
            tuple([self._witness(shown) for shown in self.shown]),
            invariants=self.restricted.texts,
            solver=self.by,
            durations=durations,
            unordered=pairs,
        )
        findings = [
            finding._replace(
                worlds=self._worlds_of(finding, verdict, number) if asked < MAX_ASKED else Worlds.UNKNOWN, world=number
            )
            for asked, (number, finding) in enumerate(self.findings().values())
        ]
        rules = self._rules(verdict, sample)
        deciding = [rule.name for rule in self.compiled.rules if self.compiled.options.criteria.can_decide(rule)]
        return sample._replace(
            headline=choose_headline(verdict, any([count.instances for count in rules if count.name in deciding])),
            executable=verdict.executable,
            goal=verdict.goal,
            safe=verdict.safe,
            findings=tuple(findings),
            rules=rules,
            metric=None,
            engine="smt",
            limits=(*sample.limits, *verdict.limits),
            worlds=worlds,
            verdict_basis=self.decided(sample),
        )

    def _rules(self, verdict: WorldsVerdict, sample: Report) -> RuleCounts:
        """What is so of each rule in some world."""
        seen = merge_rule_counts([verdict.rules, sample.rules, *[shown.report.rules for shown in self.shown]])
        if self.orders is None:
            return seen if verdict.rules else mark_unknown(seen)
        return self._of_orders(self.orders, verdict, seen)

    def _of_orders(self, orders: OrderAudit, verdict: WorldsVerdict, seen: RuleCounts) -> RuleCounts:
        """What is so of each rule in some order of some world, of which ``seen`` are a few."""
        from plansafe.verifier.symbolic.orders.order_audit import EXECUTABLE  # noqa: PLC0415 - for such plans alone
        from plansafe.verifier.symbolic.orders.world_search import WorldAnswer  # noqa: PLC0415

        some = orders.example_worlds[EXECUTABLE].get(True)
        taking = [] if some is None else [some]
        if some is None and any([count.status == "never applied" for count in seen]):
            found = [orders.find_world_taking(step).world for step in range(1, len(self.read.steps) + 1)]
            taking = [world for world in found if world is not None]
        seen = merge_rule_counts([seen, *[self._in_world(world).rules for world in taking]])
        out: list[RuleCount] = []
        for rule, count in zip(self.compiled.rules, seen, strict=True):
            answer = None
            if count.status in VIOLATED_STATUSES or count.status == "not applicable":
                out.append(count)
                continue
            if self.compiled.options.criteria.includes(rule):
                answer = WorldAnswer(None, True) if verdict.safe is Worlds.ALL else self._violating(orders, rule.name)
            if answer is None or not answer.decided:
                return self._one_by_one(orders, seen)
            if answer.world is None:
                out.append(mark_kept(count))
            else:
                out.append(count._replace(status="violated", violations=max(count.violations, 1)))
        return tuple(out)

    def _one_by_one(self, orders: OrderAudit, seen: RuleCounts) -> RuleCounts:
        outcomes = orders.collect_outcomes()
        if outcomes is None:
            return mark_unknown(seen)
        return merge_rule_counts([rule_counts(self.compiled, outcome) for outcome in outcomes])

    def _worlds_of(self, finding: Finding, verdict: WorldsVerdict, number: int) -> Worlds:
        """A finding of one world is there in some; that it is not in all follows where something is fine in some."""
        if self.everywhere is not None:
            return Worlds.ALL if _key(finding) in self.everywhere else Worlds.SOME
        match finding.finding_class:
            case FindingClass.UNMET_GOAL:
                return Worlds.ALL if verdict.goal is Worlds.NONE else Worlds.SOME
            case FindingClass.INEXECUTABLE | FindingClass.ILL_FORMED:
                if verdict.executable is Worlds.SOME or self.orders is None:
                    return Worlds.SOME if verdict.executable is Worlds.SOME else Worlds.UNKNOWN
                order = self.shown[number].world.order
                found = self.orders.share_failing_at(order[finding.step - 1])
            case _:
                if verdict.safe is Worlds.SOME or self.orders is None:
                    return Worlds.SOME if verdict.safe is Worlds.SOME else Worlds.UNKNOWN
                found = self.orders.share_violating(self._instances(finding))
        return Worlds.SOME if found is Worlds.NONE else found  # there after a failed step alone

    def _instances(self, finding: Finding) -> list[tuple[int, tuple[int, ...]]]:
        """The parts of a finding's rule, with its binding."""
        engine = self.compiled.engine
        binding = dict(finding.binding)
        out = []
        for number, part in enumerate(engine.rule_set.parts):
            names = shown_names([v.name for v in part.parameters])
            if self.compiled.rules[part.rule].name == finding.rule and set(names) == set(binding):
                out.append((number, tuple([self.task.object_index[binding[name]] for name in names])))
        return out

    def _witness(self, shown: FailingWorld) -> Witness:
        openness, world = self.openness, shown.world
        facts = [(key.predicate, key.code) for _, key in openness.facts]
        choices = [key for key, _ in openness.choices if self.orders is None or self.orders.may_matter(key)]
        said = describe_world(self.task, list(self.read.steps), world, facts, openness.numbers, choices)
        durations = tuple([ShownValue(self._step_text(number), str(duration)) for number, duration in world.durations])
        order = tuple([self._step_text(number) for number in world.order])
        replayed = all([f.replayed for f in shown.report.findings]) if shown.report.findings else None
        told = ShownWorld(said.facts, said.outcomes, order, durations)
        return Witness(shown.about, told, replayed, self.as_written(world))

    def _step_text(self, number: int) -> str:
        index = number - 1
        if self.read.timed is not None:
            index = self.read.timed[number - 1].source_index
        step = self.read.text.steps[index]
        text = "(" + " ".join(step.tokens) + ")"
        return f"{step.label} {text}" if step.label else f"step {number} {text}" if self.read.timed else text


def _key(finding: Finding) -> Key:
    """What a finding is about: a rule and a binding wherever they are violated, else a step."""
    return finding.finding_class, finding.rule, finding.binding, 0 if finding.rule is not None else finding.step


def _an_order(steps: int, pairs: tuple[tuple[int, int], ...]) -> tuple[int, ...]:
    """The first order that the pairs allow, as the plan lists its steps."""
    waiting = {number: {a for a, b in pairs if b == number} for number in range(1, steps + 1)}
    out: list[int] = []
    while waiting:
        number = next(n for n, before in waiting.items() if before <= set(out))
        out.append(number)
        del waiting[number]
    return tuple(out)


def _unordered(steps: int, pairs: tuple[tuple[int, int], ...]) -> int:
    """How many pairs of steps may come in either order."""
    after: dict[int, set[int]] = {number: set() for number in range(1, steps + 1)}
    following: dict[int, list[int]] = {number: [] for number in after}
    for a, b in pairs:
        following[a].append(b)
    for number in reversed(_an_order(steps, pairs)):
        for later in following[number]:
            after[number] |= {later} | after[later]
    return steps * (steps - 1) // 2 - sum([len(later) for later in after.values()])
