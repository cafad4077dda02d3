"""The open parts of a plan that no circuit encodes, and the base of the reports on such plans.

These are partially ordered plans, and plans with times in which durations, facts or outcomes are open.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.plan_steps import ResolvedPlan
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.nodes import Interval, Number, Task, normal_number
from plansafe.verifier.model.operations import find_atoms, list_task_formulas
from plansafe.verifier.reporting.report import Finding, Headline, Report, Worlds
from plansafe.verifier.reporting.worlds import Completion, OneofOutcomes, ShownValue, ShownWorld, WorldsReport
from plansafe.verifier.symbolic.circuits.circuit import Circuit, Literal
from plansafe.verifier.symbolic.circuits.solver_choice import create_solver
from plansafe.verifier.symbolic.invariants.groups import Restrictions
from plansafe.verifier.symbolic.worlds.encoding import FactInput
from plansafe.verifier.symbolic.worlds.formula_compiler import DerivedFacts, FormulaCompiler
from plansafe.verifier.symbolic.worlds.initial_state import FactGroup, encode_invariants, make_initial_state
from plansafe.verifier.symbolic.worlds.reporter import (
    MAX_WITNESSES,
    AuditCase,
    EngineContradiction,
    FailingWorld,
    WorldsReporter,
)
from plansafe.verifier.symbolic.worlds.verdict import RuleCounts, WorldsVerdict, choose_headline, merge_rule_counts
from plansafe.verifier.symbolic.worlds.world_replay import (
    ChoiceKey,
    OneofStatement,
    complete_outcomes,
    list_oneof_statements,
    report_in_world,
)
from plansafe.verifier.symbolic.worlds.world_text import describe_world

MAX_DECIDED_FINDINGS = 100
"""Maximum number of findings whose share of worlds is decided."""


class OpenParts:
    """The open parts of a task and plan, except order and durations: completions, and outcomes of the steps."""

    def __init__(self, compiled: CompiledTask, resolved: ResolvedPlan, groups: tuple[FactGroup, ...]) -> None:
        self.task = compiled.task
        self.circuit = Circuit()
        self.compiler = FormulaCompiler(self.task, self.circuit)
        start = make_initial_state(self.task, self.circuit, compiled.openings)
        self.start = start.state
        if self.task.axioms:
            DerivedFacts(self.compiler).update(start.state)
        invariants = encode_invariants(self.compiler, start.state, compiled.invariants, groups)
        self.allowed: Literal = self.circuit.conjunction([*start.constraints, *invariants])
        self.open_fact_count, self.open_numbers = start.open_fact_count, start.open_numbers
        self._fact_inputs = [(node, key) for node, key in self.circuit.keys.items() if isinstance(key, FactInput)]
        read_predicates = _find_read_predicates(compiled)
        self._relevant_inputs = [(node, key) for node, key in self._fact_inputs if key.predicate in read_predicates]
        self.relevant_facts = [(key.predicate, key.code) for _, key in self._relevant_inputs]
        self.choices = list(_list_choices(self.task, resolved))
        self.statements = list_oneof_statements(resolved.steps)

    @property
    def is_open(self) -> bool:
        """Whether there may be several worlds, apart from order and durations."""
        return bool(self.open_fact_count or self.open_numbers or self.choices)

    def iterate_completions(self) -> Iterator[frozenset[tuple[int, int]] | None]:
        """Yield the true open facts of one completion for each combination of values of the facts that are read.

        Yields ``None`` and ends if the solver gave up.
        """
        solver = create_solver(self.circuit, [self.allowed])
        try:
            solver.require(self.allowed)
            while (answer := solver.solve()) is not False:
                if answer is None:
                    yield None
                    return
                inputs = solver.model().inputs
                yield frozenset(
                    [(key.predicate, key.code) for node, key in self._fact_inputs if inputs.get(node, False)]
                )
                if not self._relevant_inputs:
                    return
                other_values = [
                    2 * node + 1 if inputs.get(node, False) else 2 * node for node, _ in self._relevant_inputs
                ]
                solver.require(self.circuit.disjunction(other_values))
        finally:
            solver.close()

    def choose_numbers(self) -> dict[tuple[int, int], Number]:
        """A value inside the interval of each open number."""
        unknowns = self.task.unknowns
        if unknowns is None:
            assert not self.open_numbers
            return {}
        return {
            (function, code): _choose_value(unknowns.intervals[function][code]) for function, code in self.open_numbers
        }

    def iterate_outcomes(self) -> Iterator[dict[OneofStatement, OneofOutcomes]]:
        """Every combination of outcomes."""
        keys = [key for key, _ in self.choices]
        for alternatives in product(*[range(count) for _, count in self.choices]):
            yield complete_outcomes(self.statements, dict(zip(keys, alternatives, strict=True)))


def find_open_durations(resolved: ResolvedPlan) -> dict[int, tuple[Number, Number]]:
    """For each step whose duration has a tolerance, its least and greatest duration."""
    return {
        step.number: (max(step.duration - step.tolerance, 0), step.duration + step.tolerance)
        for step in resolved.timed or ()
        if step.tolerance and step.duration is not None
    }


class OpenPartsReporter(WorldsReporter, ABC):
    """The base of the reporters on one plan with open parts that no circuit encodes.

    ``durations``: for each step with a tolerance, its least and greatest duration.
    """

    decision_method = ""
    """The name of the method that decides the verdict, for the report."""
    unordered_pair_count = 0
    """Number of pairs of steps that the plan leaves in either order."""

    def __init__(self, case: AuditCase, restrictions: Restrictions) -> None:
        super().__init__(case)
        self.restrictions = restrictions
        self.open_parts = OpenParts(self.compiled, self.resolved, restrictions.groups)
        self.durations = find_open_durations(self.resolved)

    @abstractmethod
    def decide_verdict(self) -> WorldsVerdict:
        """Decide the verdict over all worlds."""

    @abstractmethod
    def find_violating_world(self, rule: str) -> Completion | None:
        """A world that violates the rule with this name, if one is known."""

    @abstractmethod
    def count_rules(self, counts: RuleCounts) -> RuleCounts:
        """The status of each rule over all worlds, from the counts of the worlds that were examined."""

    @abstractmethod
    def decide_finding(self, finding: Finding) -> Worlds:
        """The share of worlds that have a finding; ``finding.world`` is the index of a failing world that has it."""

    def report(self) -> Report:
        """The report. Raises :class:`LimitReached`, ``SolverMissing``."""
        if next(self.open_parts.iterate_completions(), None) is None and self.open_parts.is_open:
            return self.report_no_world()
        try:
            verdict = self.verdict = self.decide_verdict()
            for about, world in verdict.failures:
                self.add_failing_world(about, world)
            if verdict.unsafe_world is not None:
                self._add_violating_worlds()
            sample = self.failing_worlds[0].report if self.failing_worlds else self.replay(self.choose_world())
            if not self.failing_worlds and verdict.safe is Worlds.ALL and sample.headline is Headline.UNSAFE:
                raise EngineContradiction("every world should be safe, and one is not")
            return self._make_report(sample)
        except EngineContradiction as contradiction:
            return self.report_contradiction(contradiction)

    def _add_violating_worlds(self) -> None:
        """Add a world for each rule that the failing worlds do not violate, up to :data:`MAX_WITNESSES` worlds."""
        for rule in self.compiled.rules:
            if not self.compiled.options.criteria.includes_rule(rule) or not rule.applicable:
                continue
            if self.is_violated_in_failing_world(rule.name):
                continue
            if len(self.failing_worlds) >= MAX_WITNESSES:
                break
            world = self.find_violating_world(rule.name)
            if world is not None:
                self.add_failing_world(rule.name, world)

    def choose_world(self) -> Completion:
        """An allowed world, with the shortest durations."""
        facts = next(self.open_parts.iterate_completions(), None) or frozenset()
        outcomes = complete_outcomes(self.open_parts.statements, {})
        durations = tuple([(step, low) for step, (low, _) in self.durations.items()])
        return Completion(facts, self.open_parts.choose_numbers(), outcomes, (), durations)

    def report_until_failure(self, world: Completion) -> Report:
        """The report on one world, in which the plan stops at the first step that fails."""
        return report_in_world(self.compiled, self.plan, self.resolved, world, halt_only=True)

    def _make_report(self, sample: Report) -> Report:
        """The report, from the report on a sample world: a failing one if there is any."""
        verdict = self.verdict
        worlds, findings = self._make_worlds_report(), self._list_findings_with_shares()
        reports = [sample, *[failing.report for failing in self.failing_worlds]]
        rules = self.count_rules(merge_rule_counts([verdict.rules, *[report.rules for report in reports]]))
        deciding_rules = [
            rule.name for rule in self.compiled.rules if self.compiled.options.criteria.can_be_decisive(rule)
        ]
        return sample._replace(
            headline=choose_headline(
                verdict, any([count.instances for count in rules if count.name in deciding_rules])
            ),
            executable=verdict.executable,
            goal=verdict.goal,
            safe=verdict.safe,
            findings=findings,
            rules=rules,
            metric=None,
            engine="smt",
            limits=(*sample.limits, *verdict.limits),
            worlds=worlds,
            verdict_basis=self.merge_verdict_bases(sample),
        )

    def _make_worlds_report(self) -> WorldsReport:
        """The numbers of open parts, and the witnesses."""
        parts, durations, pairs = self.open_parts, len(self.durations), self.unordered_pair_count
        witnesses = [
            self.make_witness(failing, self._describe_failing_world(failing)) for failing in self.failing_worlds
        ]
        relevant = len(parts.relevant_facts) + len(parts.open_numbers) + len(parts.choices) + durations + pairs
        return WorldsReport(
            open_facts=parts.open_fact_count,
            open_numbers=len(parts.open_numbers),
            choices=len(parts.choices),
            relevant=relevant,
            witnesses=tuple(witnesses),
            invariants=self.restrictions.texts,
            solver=self.decision_method,
            durations=durations,
            unordered=pairs,
        )

    def _list_findings_with_shares(self) -> tuple[Finding, ...]:
        """The findings of all failing worlds, each with the share of worlds that have it."""
        findings: list[Finding] = []
        for index, finding in self.collect_findings():
            finding = finding._replace(world=index)
            share = self.decide_finding(finding) if len(findings) < MAX_DECIDED_FINDINGS else Worlds.UNKNOWN
            findings.append(finding._replace(worlds=share))
        return tuple(findings)

    def list_relevant_choices(self) -> list[ChoiceKey]:
        """The choices that may matter to the verdict."""
        return [choice for choice, _ in self.open_parts.choices]

    def _describe_failing_world(self, failing: FailingWorld) -> ShownWorld:
        """Describe the relevant facts, numbers and outcomes of a world, its order and its durations."""
        world, parts = failing.world, self.open_parts
        choices = self.list_relevant_choices()
        shown_world = describe_world(
            self.task, self.resolved.steps, world, parts.relevant_facts, parts.open_numbers, choices
        )
        return shown_world._replace(
            order=tuple([self._format_step(step) for step in world.order]),
            durations=tuple([ShownValue(self._format_step(step), str(duration)) for step, duration in world.durations]),
        )

    def _format_step(self, number: int) -> str:
        """A step as in the plan's text, with its label; without a label, a timed step has its number."""
        timed = self.resolved.timed
        step = self.resolved.text.steps[timed[number - 1].source_index if timed else number - 1]
        text = "(" + " ".join(step.tokens) + ")"
        if step.label:
            return f"{step.label} {text}"
        return f"step {number} {text}" if timed else text


def _choose_value(interval: Interval) -> Number:
    """The middle of an interval, or a value next to its only bound."""
    low, high = interval.low, interval.high
    if low is not None and high is not None:
        return normal_number(Fraction(low + high) / 2)
    if low is not None:
        return low + 1
    return 0 if high is None else high - 1


def _find_read_predicates(compiled: CompiledTask) -> set[int]:
    """Every predicate that an action, an axiom, the goal or a rule reads."""
    formulas = list_task_formulas(compiled.task)
    for part in compiled.engine.rule_set.parts:
        formulas += [part.body] if part.guard is None else [part.body, part.guard]
    return {atom.predicate for formula in formulas for atom in find_atoms(formula)}


def _list_choices(task: Task, resolved: ResolvedPlan) -> Iterator[tuple[ChoiceKey, int]]:
    """Each binding of each ``oneof`` of each step, with the number of its alternatives."""
    for step, ground in enumerate(resolved.steps, 1):
        if not isinstance(ground, GroundAction):
            continue
        counts: dict[tuple[int, tuple[int, ...]], int] = {}
        for snap in (ground.action.start, ground.action.end):
            for effect in snap.effects if snap is not None else ():
                for choice in effect.choices:
                    for objects in product(*[task.domains[v.domain] for v in choice.variables]):
                        counts[choice.number, objects] = choice.alternative_count
        yield from [((step, number, objects), count) for (number, objects), count in counts.items()]
