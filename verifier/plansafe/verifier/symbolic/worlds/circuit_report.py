"""The report on a totally ordered plan without open durations, whose worlds are encoded as one circuit.

The encoding decides the verdict and the worlds of each finding, and gives a cause and a question.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cached_property

from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.reporting.report import (
    Blame,
    Finding,
    FindingClass,
    Headline,
    Report,
    RuleCount,
    Worlds,
    make_unchecked_report,
)
from plansafe.verifier.reporting.worlds import Completion, Witness, WorldsReport
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Literal
from plansafe.verifier.symbolic.circuits.literal_values import evaluate_in_world, find_implying_literal
from plansafe.verifier.symbolic.circuits.solvers import Unsupported
from plansafe.verifier.symbolic.circuits.substitution import find_dependencies
from plansafe.verifier.symbolic.invariants.groups import Restrictions
from plansafe.verifier.symbolic.worlds.encode import encode_plan
from plansafe.verifier.symbolic.worlds.encoding import FactInput, InstanceLiteral, OutcomeInput
from plansafe.verifier.symbolic.worlds.encoding_queries import EncodingQueries, NoPossibleWorld
from plansafe.verifier.symbolic.worlds.explanation import Explanation, explain_bad_world
from plansafe.verifier.symbolic.worlds.reporter import (
    MAX_WITNESSES,
    AuditCase,
    EngineContradiction,
    FailingWorld,
    WorldsReporter,
)
from plansafe.verifier.symbolic.worlds.verdict import (
    RuleCounts,
    WorldsVerdict,
    choose_headline,
    mark_kept,
    mark_rule_undecided,
    mark_undecided,
    merge_rule_counts,
)
from plansafe.verifier.symbolic.worlds.world_replay import report_in_world
from plansafe.verifier.symbolic.worlds.world_text import describe_world

MAX_REMOVALS = 40
"""Maximum number of attempts to remove facts from a witness."""
MAX_QUERIES = 200
"""Maximum number of findings, and of instances of a rule, to ask the solver about."""
Binding = tuple[tuple[str, str], ...]


class CircuitReporter(WorldsReporter):
    """Reports on one plan by its encoding."""

    def __init__(self, case: AuditCase, restrictions: Restrictions, step_order: tuple[int, ...] = ()) -> None:
        super().__init__(case, step_order)
        self.restrictions = restrictions
        self.steps: Sequence[GroundAction | IllFormed] = self.resolved.steps
        self.encoding = encode_plan(self.compiled, self.resolved, restrictions.groups, self.deadline)
        self.queries = EncodingQueries(self.encoding, self.compiled.options.engine, self.deadline)
        encoding = self.encoding
        self.good_worlds = encoding.encode_good_worlds()
        self.failure_literals = {
            "executable": encoding.executable ^ 1,
            "goal": encoding.goal ^ 1,
            "safe": encoding.violated,
        }
        self.sample_report: Report | None = None
        self.second_engine_name = ""

    def report(self) -> Report:
        """The report. Raises :class:`LimitReached`, ``SolverMissing``."""
        try:
            verdict = self.queries.decide_verdict()
            self._add_failing_worlds(verdict)
            if self.compiled.options.double_check:
                self._double_check(verdict)
            return self._make_report(verdict)
        except NoPossibleWorld:
            return self.report_no_world()
        except EngineContradiction as contradiction:
            return self.report_contradiction(contradiction)
        except Unsupported:
            reason = "the engine `sat` does not support numbers, and the verdict depends on unknown numbers"
            return self.report_unsupported(reason, "remove --engine, or use --engine smt")
        finally:
            self.queries.close()

    # -- worlds -------------------------------------------------------------------------------------------------------

    def _add_failing_worlds(self, verdict: WorldsVerdict) -> None:
        """Replay a world for each property that fails, and for each rule that these worlds do not violate."""
        encoding = self.encoding
        for about, world in verdict.failures:
            literal = self.failure_literals[about]
            # Show one world for several failures, if possible.
            worlds = [
                f.world for f in self.failing_worlds if evaluate_in_world(encoding.circuit, [literal], f.world)[0]
            ]
            self.add_failing_world(about, worlds[0] if worlds else self._simplify_world(world, literal))
        for rule, literal in self._violation_literal_by_rule.items() if verdict.unsafe_world is not None else ():
            if len(self.failing_worlds) >= MAX_WITNESSES:
                break
            rule_world = None if self.is_violated_in_failing_world(rule) else self.queries.find_world(literal)
            if rule_world is not None:
                self.add_failing_world(rule, self._simplify_world(rule_world, literal))
        if not self.failing_worlds and not encoding.limits:
            sample_world = self.queries.find_world(TRUE)
            if sample_world is not None:
                self.sample_report = self.replay(sample_world)
                # UNKNOWN is no contradiction: the explicit engine may not decide a rule that the circuit decides.
                if self.good_worlds == TRUE and self.sample_report.headline in (Headline.INVALID, Headline.UNSAFE):
                    raise EngineContradiction("every world should be safe, and one is not")

    def _simplify_world(self, world: Completion, literal: Literal) -> Completion:
        """Remove true facts from a world in which a literal is true, so that it is true for one reason.

        Facts are removed in chunks, with at most :data:`MAX_REMOVALS` evaluations of the circuit.
        """
        circuit = self.encoding.circuit
        roots = [self.encoding.allowed, find_implying_literal(circuit, literal, world)]
        relevant = {key for node in circuit.find_inputs(roots) if isinstance(key := circuit.keys[node], FactInput)}
        smaller_world = world._replace(facts=frozenset([fact for fact in world.facts if FactInput(*fact) in relevant]))
        if all(evaluate_in_world(circuit, roots, smaller_world)):
            world = smaller_world
        facts = sorted(world.facts)
        size, attempts = len(facts), 0
        while size and attempts < MAX_REMOVALS:
            start = 0
            while start < len(facts) and attempts < MAX_REMOVALS:
                fewer_facts = facts[:start] + facts[start + size :]
                attempts += 1
                if all(evaluate_in_world(circuit, roots, world._replace(facts=frozenset(fewer_facts)))):
                    facts = fewer_facts
                else:
                    start += size
            size //= 2
        return world._replace(facts=frozenset(facts))

    def _double_check(self, verdict: WorldsVerdict) -> None:
        """Decide again with the other solver. Raises :class:`EngineContradiction` if the verdicts differ."""
        engine = "sat" if self.queries.engine_name.startswith("z3") else "smt"
        second_queries = EncodingQueries(self.encoding, engine, self.deadline)
        try:
            second_verdict = second_queries.decide_verdict()
        except Unsupported:
            return
        finally:
            second_queries.close()
        decided_values = (Worlds.ALL, Worlds.SOME, Worlds.NONE)
        for first, second in zip(verdict[:3], second_verdict[:3], strict=True):
            if first in decided_values and second in decided_values and first is not second:
                raise EngineContradiction(
                    f"{self.queries.engine_name} says {first.value}, {second_queries.engine_name} {second.value}"
                )
        self.second_engine_name = second_queries.engine_name

    def add_failing_world(self, about: str, world: Completion) -> None:
        """Replay a world in which something fails. Raises :class:`EngineContradiction` if it is not allowed."""
        if not evaluate_in_world(self.encoding.circuit, [self.encoding.allowed], world)[0]:
            raise EngineContradiction("a world that was found is not allowed")
        super().add_failing_world(about, world)

    @cached_property
    def _violation_literal_by_rule(self) -> dict[str, Literal]:
        """For each name of a deciding rule, the worlds in which one of its instances is violated."""
        parts = self.compiled.engine.rule_set.parts
        literals: dict[str, list[Literal]] = {}
        for violation in self.encoding.violations:
            name = self.compiled.rules[parts[violation.part].rule].name
            literals.setdefault(name, []).append(violation.literal)
        return {name: self.encoding.circuit.disjunction(rule_literals) for name, rule_literals in literals.items()}

    # -- the report ---------------------------------------------------------------------------------------------------

    def _make_report(self, verdict: WorldsVerdict) -> Report:
        """The report with the verdict, the findings, the status of each rule and the explanation."""
        encoding = self.encoding
        headline = choose_headline(verdict, encoding.has_instances)
        explanation = Explanation()
        if self._is_open and self.failing_worlds and not encoding.limits:
            explanation = explain_bad_world(self.queries, self.task, self.failing_worlds[0].world)
        relevant = find_dependencies(encoding.circuit, [self.good_worlds])
        keys = [encoding.circuit.keys.get(node) for node in relevant.nodes]
        worlds = WorldsReport(
            open_facts=encoding.open_fact_count,
            open_numbers=len(encoding.open_numbers),
            choices=len(encoding.alternative_counts),
            relevant=sum([isinstance(key, FactInput | OutcomeInput) for key in keys]) + len(relevant.numbers),
            witnesses=tuple([self._describe_failing_world(failing) for failing in self.failing_worlds]),
            cause=explanation.cause,
            cause_note=explanation.cause_note,
            question=explanation.question,
            question_note=explanation.question_note,
            invariants=self.restrictions.texts,
            solver=self.queries.engine_name
            + (f", checked by {self.second_engine_name}" if self.second_engine_name else ""),
        )
        shown_report = self.failing_worlds[0].report if self.failing_worlds else self.sample_report
        if shown_report is None:
            shown_report = make_unchecked_report(self.plan.name, headline=headline, steps=len(self.steps))
        return shown_report._replace(
            headline=headline,
            executable=verdict.executable,
            goal=verdict.goal,
            safe=verdict.safe,
            findings=self._list_findings_with_shares(verdict),
            rules=self._count_rules(verdict, shown_report),
            metric=shown_report.metric if not self._is_open else None,
            engine="smt" if self.queries.engine_name.startswith("z3") else "sat",
            limits=(*shown_report.limits, *encoding.limits, *encoding.skipped_messages),
            worlds=worlds if self._is_open else None,
            certificate=self._write_certificate(headline),
            verdict_basis=self.merge_verdict_bases(shown_report),
        )

    def _write_certificate(self, headline: Headline) -> str | None:
        """The proof that the plan is safe in all worlds, if it is and the options ask for the proof."""
        is_wanted = self.compiled.options.certificate and self.resolved.timed is None
        if not is_wanted or headline not in (Headline.SAFE, Headline.VALID):
            return None
        from plansafe.verifier.symbolic.certificates.writer import write_certificate  # noqa: PLC0415 - only if wanted

        kinds = {self.compiled.domain.name: "domain", self.compiled.problem.name: "problem"}
        home = self.compiled.options.home
        kinds |= {} if home is None else {home.source.name: "home"}
        files = [(kinds.get(name, "spec"), source) for name, source in self.compiled.sources.items()]
        files.append(("plan", self.plan))
        criteria = self.compiled.options.criteria
        return write_certificate(self.encoding, headline.value, files, self.task, self.steps, self.deadline, criteria)

    @property
    def _is_open(self) -> bool:
        encoding = self.encoding
        return bool(encoding.open_fact_count or encoding.open_numbers or encoding.alternative_counts)

    def _describe_failing_world(self, failing: FailingWorld) -> Witness:
        """The witness with the parts of the world that matter to the failures that are shown in it."""
        circuit = self.encoding.circuit
        literals = {**self.failure_literals, **self._violation_literal_by_rule}
        failures_in_world = [world for world in self.failing_worlds if world.world == failing.world]
        roots = [find_implying_literal(circuit, literals[f.about], failing.world) for f in failures_in_world]
        keys = [circuit.keys[node] for node in circuit.find_inputs(roots)]
        facts = [(key.predicate, key.code) for key in keys if isinstance(key, FactInput)]
        choices = {(key.step, key.number, key.objects) for key in keys if isinstance(key, OutcomeInput)}
        numbers = find_dependencies(circuit, roots).numbers
        return self.make_witness(failing, describe_world(self.task, self.steps, failing.world, facts, numbers, choices))

    def _list_findings_with_shares(self, verdict: WorldsVerdict) -> tuple[Finding, ...]:
        """The findings of all failing worlds, each with the share of worlds that have it."""
        findings: list[Finding] = []
        for index, finding in self.collect_findings():
            if self._is_open:
                worlds = self._decide_finding(finding, verdict) if len(findings) < MAX_QUERIES else Worlds.UNKNOWN
                finding = finding._replace(worlds=worlds, world=index)
            findings.append(finding)
        return tuple(findings)

    @cached_property
    def _violation_literal_by_instance(self) -> dict[tuple[str, Binding], Literal]:
        """For each instance (rule, binding), the worlds in which it is violated."""
        return self._join_literals_by_instance((*self.encoding.violations, *self.encoding.nondeciding_violations))

    @cached_property
    def _undecided_literal_by_instance(self) -> dict[tuple[str, Binding], Literal]:
        """For each instance (rule, binding), the worlds in which it is undecided."""
        return self._join_literals_by_instance(self.encoding.undecided_instances)

    def _join_literals_by_instance(self, instances: Iterable[InstanceLiteral]) -> dict[tuple[str, Binding], Literal]:
        """For each instance (rule, binding), the disjunction of its literals at all letters and of all parts."""
        literals: dict[tuple[str, Binding], list[Literal]] = {}
        for instance in instances:
            part = self.compiled.engine.rule_set.parts[instance.part]
            binding = part.show_binding(self.task.names(instance.binding))
            literals.setdefault((self.compiled.rules[part.rule].name, binding), []).append(instance.literal)
        return {instance: self.encoding.circuit.disjunction(parts) for instance, parts in literals.items()}

    def _decide_finding(self, finding: Finding, verdict: WorldsVerdict) -> Worlds:
        """The share of worlds that have a finding, which some world has."""
        encoding, undecided = self.encoding, FALSE
        match finding.finding_class:
            case FindingClass.UNMET_GOAL:
                return Worlds.ALL if verdict.goal is Worlds.NONE else Worlds.SOME
            case FindingClass.ILL_FORMED | FindingClass.INEXECUTABLE if finding.step in encoding.failing:
                has_finding = encoding.failing[finding.step]
            case _ if finding.blame is Blame.PRE_EXISTING and self.compiled.options.criteria.ignores_preexisting:
                return Worlds.UNKNOWN  # the circuit has introduced violations only
            case _:
                instance = finding.rule or "", finding.binding
                has_finding = self._violation_literal_by_instance.get(instance, FALSE)
                undecided = self._undecided_literal_by_instance.get(instance, FALSE)
        lacks_finding = encoding.circuit.both(has_finding ^ 1, undecided ^ 1)
        is_lacking_somewhere = self.queries.holds_in_some_world(lacks_finding)
        if is_lacking_somewhere is None:
            return Worlds.UNKNOWN
        if is_lacking_somewhere:
            return Worlds.SOME
        is_undecided_somewhere = self.queries.holds_in_some_world(has_finding ^ 1) is not False
        return Worlds.UNKNOWN if is_undecided_somewhere else Worlds.ALL

    def _count_rules(self, verdict: WorldsVerdict, shown_report: Report) -> RuleCounts:
        """The status of each rule over all worlds (docs/worlds.md, section 4)."""
        encoding, queries = self.encoding, self.queries
        reports = [shown_report, *[failing.report for failing in self.failing_worlds]]
        counts = merge_rule_counts([report.rules for report in reports])
        if encoding.limits:
            return mark_undecided(counts)
        is_executed = any([report.executable is Worlds.ALL for report in reports])
        if not is_executed and any([count.status == "never applied" for count in counts]):
            # The last letter that some world has: there, the most steps are executed.
            last_alive = next(
                (alive for alive in reversed(encoding.alive) if queries.holds_in_some_world(alive)), FALSE
            )
            world = queries.find_world(last_alive)
            if world is not None:
                report = report_in_world(self.compiled, self.plan, self.resolved, world, halt_only=True)
                counts = merge_rule_counts([counts, report.rules])
        violated = self._group_literals_by_rule((*encoding.violations, *encoding.nondeciding_violations))
        undecided = self._group_literals_by_rule(encoding.undecided_instances)
        final_counts = []
        for number, (rule, count) in enumerate(zip(self.compiled.rules, counts, strict=True)):
            if verdict.safe is Worlds.ALL and self.compiled.options.criteria.includes_rule(rule):
                count = mark_kept(count)
            elif count.status == "not applicable" or number in encoding.skipped_rules:
                count = mark_rule_undecided(count)
            else:
                literals = violated.get(number, []), undecided.get(number, [])
                count = self._decide_rule(count, rule.preference, *literals)
            final_counts.append(count)
        return tuple(final_counts)

    def _group_literals_by_rule(self, instances: Iterable[InstanceLiteral]) -> dict[int, list[Literal]]:
        """For each rule (by number), the literals of its instances, joined over all letters and parts."""
        literals: dict[int, dict[tuple[str, ...], list[Literal]]] = {}
        for instance in instances:
            part = self.compiled.engine.rule_set.parts[instance.part]
            values = zip(part.parameters, instance.binding, strict=True)
            binding = tuple(sorted([f"{v.name} {value}" for v, value in values]))
            literals.setdefault(part.rule, {}).setdefault(binding, []).append(instance.literal)
        join = self.encoding.circuit.disjunction
        return {rule: [join(parts) for parts in bindings.values()] for rule, bindings in literals.items()}

    def _decide_rule(
        self, count: RuleCount, is_preference: bool, violated: list[Literal], undecided: list[Literal]
    ) -> RuleCount:
        """The count of a rule with its status over all worlds, from the literals of its instances."""
        with suppress(Unsupported):
            self.queries.answer_together(violated[:MAX_QUERIES])
        answers = [self._holds_in_some_world(literal) for literal in violated[:MAX_QUERIES]]
        if len(violated) > MAX_QUERIES and not any(answers):
            answers.append(self._holds_in_some_world(self.encoding.circuit.disjunction(violated)))
        if any(answers):
            status = "preference violated" if is_preference else "violated"
            return count._replace(status=status, violations=max(count.violations, answers.count(True)))
        if None in answers or self._holds_in_some_world(self.encoding.circuit.disjunction(undecided)) is not False:
            return count._replace(status="undecided", violations=0)
        return mark_kept(count)

    def _holds_in_some_world(self, literal: Literal) -> bool | None:
        """Whether a literal is true in some world; ``None`` also for preferences with numbers and a SAT solver."""
        try:
            return self.queries.holds_in_some_world(literal)
        except Unsupported:
            return None
