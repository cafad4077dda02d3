"""The report on a plan whose worlds are one circuit: untimed, with its steps in order.

The encoding decides, says of each finding in which worlds it is there, and knows a cause and a question.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    unjudged,
)
from plansafe.verifier.reporting.worlds import Completion, Witness, WorldsReport
from plansafe.verifier.rules.model import shown_names
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Literal
from plansafe.verifier.symbolic.circuits.literal_values import evaluate_in_world, find_reason
from plansafe.verifier.symbolic.circuits.solvers import Unsupported
from plansafe.verifier.symbolic.circuits.substitution import find_dependencies
from plansafe.verifier.symbolic.invariants.groups import Restrictions
from plansafe.verifier.symbolic.worlds.encode import encode_plan
from plansafe.verifier.symbolic.worlds.encoding import FactInput, InstanceLiteral, OutcomeInput
from plansafe.verifier.symbolic.worlds.encoding_queries import EncodingQueries, NoPossibleWorld
from plansafe.verifier.symbolic.worlds.explanation import Explanation, explain
from plansafe.verifier.symbolic.worlds.reporter import AuditCase, EngineContradiction, FailingWorld, WorldsReporter
from plansafe.verifier.symbolic.worlds.verdict import (
    RuleCounts,
    WorldsVerdict,
    choose_headline,
    mark_kept,
    mark_unknown,
    merge_rule_counts,
)
from plansafe.verifier.symbolic.worlds.world_replay import report_in_world
from plansafe.verifier.symbolic.worlds.world_text import describe_world

MAX_WITNESSES = 8
"""Worlds that a report shows."""
MAX_THINNED = 40
"""Attempts to leave facts out of a world that is shown."""
MAX_ASKED = 200
"""Findings of which it is asked whether they are there in all worlds."""


class EncodedReporter(WorldsReporter):
    """One plan, judged over all worlds by an encoding."""

    def __init__(self, case: AuditCase, restricted: Restrictions, order: tuple[int, ...] = ()) -> None:
        super().__init__(case, order)
        self.restricted = restricted
        self.steps: Sequence[GroundAction | IllFormed] = self.read.steps
        self.encoding = encode_plan(self.compiled, self.steps, restricted.groups, self.deadline)
        self.judge = EncodingQueries(self.encoding, self.compiled.options.engine, self.deadline)
        e = self.encoding
        self.good = e.circuit.conjunction([e.executable, e.goal, e.violated ^ 1, e.undecided ^ 1])
        self.sample: Report | None = None
        self.checked_by = ""

    def report(self) -> Report:
        """The report. Raises :class:`LimitReached`, ``SolverMissing``."""
        try:
            verdict = self.judge.decide()
            self._witnesses(verdict)
            if self.compiled.options.double_check:
                self._again(verdict)
            return self._report(verdict)
        except NoPossibleWorld:
            return self.no_world()
        except EngineContradiction as contradiction:
            return self.disagreement(contradiction.what)
        except Unsupported:
            why = "the engine `sat` does not support numbers, and the verdict depends on unknown numbers"
            return self.unsupported(why, "remove --engine, or use --engine smt")
        finally:
            self.judge.close()

    # -- worlds -------------------------------------------------------------------------------------------------------

    def _witnesses(self, verdict: WorldsVerdict) -> None:
        """Replay a world for each value that is not ALL, and for each rule that is broken elsewhere alone."""
        e = self.encoding
        asked = [
            ("executable", e.executable ^ 1, verdict.inexecutable_world),
            ("goal", e.goal ^ 1, verdict.unmet_goal_world),
            ("safe", e.violated, verdict.unsafe_world),
        ]
        for about, literal, world in asked:
            if world is not None:  # one world for all that fails, if possible
                known = [s.world for s in self.shown if evaluate_in_world(e.circuit, [literal], s.world)[0]]
                self.show(about, known[0] if known else self._sparse(world, literal))
        for name, literal in self._by_rule() if verdict.unsafe_world is not None else ():
            if len(self.shown) >= MAX_WITNESSES:
                break
            if not any([c.name == name and c.violations for shown in self.shown for c in shown.report.rules]):
                other = self.judge.world(literal)
                if other is not None:
                    self.show(name, self._sparse(other, literal))
        if not self.shown and not e.limits:
            some = self.judge.world(TRUE)
            if some is not None:
                self.sample = self.replay(some)
                # The explicit engine may be undecided where the definition, and the circuit, is not.
                if self.good == TRUE and self.sample.headline in (Headline.INVALID, Headline.UNSAFE):
                    raise EngineContradiction("every world should be safe, and one is not")

    def _sparse(self, world: Completion, literal: Literal) -> Completion:
        """A world in which a literal is true for one reason, with few true facts: the others say less to who reads it.

        Facts are taken out in chunks, at most :data:`MAX_THINNED` times; each attempt costs an evaluation.
        """
        circuit = self.encoding.circuit
        wanted = [self.encoding.allowed, find_reason(circuit, literal, world)]
        near = {key for node in circuit.inputs(wanted) if isinstance(key := circuit.keys[node], FactInput)}
        alone = world._replace(facts=frozenset([fact for fact in world.facts if FactInput(*fact) in near]))
        if all(evaluate_in_world(circuit, wanted, alone)):
            world = alone
        facts = sorted(world.facts)
        size, attempts = len(facts), 0
        while size and attempts < MAX_THINNED:
            start = 0
            while start < len(facts) and attempts < MAX_THINNED:
                fewer = facts[:start] + facts[start + size :]
                attempts += 1
                if all(evaluate_in_world(circuit, wanted, world._replace(facts=frozenset(fewer)))):
                    facts = fewer
                else:
                    start += size
            size //= 2
        return world._replace(facts=frozenset(facts))

    def _again(self, verdict: WorldsVerdict) -> None:
        """Let the other solver decide; what it finds otherwise is an error of ours or of a solver's."""
        engine = "sat" if self.judge.name.startswith("z3") else "smt"
        other = EncodingQueries(self.encoding, engine, self.deadline)
        try:
            second = other.decide()
        except Unsupported:
            return
        finally:
            other.close()
        known = (Worlds.ALL, Worlds.SOME, Worlds.NONE)
        for first, again in zip(verdict[:3], second[:3], strict=True):
            if first in known and again in known and first is not again:
                raise EngineContradiction(f"{self.judge.name} says {first.value}, {other.name} {again.value}")
        self.checked_by = other.name

    def show(self, about: str, world: Completion) -> None:
        """Replay a world in which something fails, if the description allows it."""
        if not evaluate_in_world(self.encoding.circuit, [self.encoding.allowed], world)[0]:
            raise EngineContradiction("a world that was found is not allowed")
        super().show(about, world)

    def _by_rule(self) -> Iterable[tuple[str, Literal]]:
        parts = self.compiled.engine.rule_set.parts
        found: dict[str, list[Literal]] = {}
        for violation in self.encoding.violations:
            found.setdefault(self.compiled.rules[parts[violation.part].rule].name, []).append(violation.literal)
        return [(name, self.encoding.circuit.disjunction(literals)) for name, literals in found.items()]

    # -- the report ---------------------------------------------------------------------------------------------------

    def _report(self, verdict: WorldsVerdict) -> Report:
        encoding, compiled = self.encoding, self.compiled
        said = choose_headline(verdict, encoding.checked)
        why = Explanation()
        if self._open and self.shown and not encoding.limits:
            why = explain(encoding, self.task, compiled.options.engine, self.deadline, self.shown[0].world)
        reached = find_dependencies(encoding.circuit, [self.good])
        kinds = (FactInput, OutcomeInput)
        inputs = [n for n in reached.nodes if isinstance(encoding.circuit.keys.get(n), kinds)]
        worlds = WorldsReport(
            encoding.open_facts,
            encoding.open_numbers,
            len(encoding.outcomes),
            len(inputs) + len(reached.numbers),
            tuple([self._witness(shown) for shown in self.shown]),
            why.cause,
            why.cause_note,
            why.question,
            why.question_note,
            self.restricted.texts,
            self.judge.name + (f", checked by {self.checked_by}" if self.checked_by else ""),
        )
        base = self.shown[0].report if self.shown else self.sample
        if base is None:
            base = unjudged(self.plan.name, headline=said, steps=len(self.steps))
        return base._replace(
            headline=said,
            executable=verdict.executable,
            goal=verdict.goal,
            safe=verdict.safe,
            findings=self._findings(verdict),
            rules=self._rules(verdict, base),
            metric=base.metric if not self._open else None,
            engine="smt" if self.judge.name.startswith("z3") else "sat",
            limits=(*base.limits, *encoding.limits, *encoding.skipped),
            worlds=worlds if self._open else None,
            certificate=self._certificate(said),
            verdict_basis=self.decided(base),
        )

    def _certificate(self, said: Headline | None) -> str | None:
        """The proof that no world breaks the plan, if one was asked for and none does."""
        if not self.compiled.options.certificate or said not in (Headline.SAFE, Headline.VALID):
            return None
        from plansafe.verifier.symbolic.certificates.certificate import write_certificate  # noqa: PLC0415 - where it is asked for

        kinds = {self.compiled.domain.name: "domain", self.compiled.problem.name: "problem"}
        home = self.compiled.options.home
        kinds |= {} if home is None else {home.source.name: "home"}
        files = [(kinds.get(name, "spec"), source) for name, source in self.compiled.sources.items()]
        files.append(("plan", self.plan))
        criteria = self.compiled.options.criteria
        return write_certificate(self.encoding, said.value, files, self.task, self.steps, self.deadline, criteria)

    @property
    def _open(self) -> bool:
        e = self.encoding
        return bool(e.open_facts or e.open_numbers or e.outcomes)

    def _witness(self, shown: FailingWorld) -> Witness:
        """A world with what matters to anything that is shown to fail in it."""
        circuit, e = self.encoding.circuit, self.encoding
        literals = {"executable": e.executable, "goal": e.goal, "safe": e.violated, **dict(self._by_rule())}
        failing = [literals[other.about] ^ (other.about in ("executable", "goal")) for other in self.shown]
        same = zip(failing, self.shown, strict=True)
        roots = [find_reason(circuit, literal, shown.world) for literal, other in same if other.world == shown.world]
        keys = [circuit.keys[node] for node in circuit.inputs(roots)]
        facts = [(key.predicate, key.code) for key in keys if isinstance(key, FactInput)]
        choices = {(key.step, key.number, key.objects) for key in keys if isinstance(key, OutcomeInput)}
        values = find_dependencies(circuit, roots).numbers
        said = describe_world(self.task, list(self.steps), shown.world, facts, values, choices)
        replayed = all([f.replayed for f in shown.report.findings]) if shown.report.findings else None
        return Witness(shown.about, said, replayed, self.as_written(shown.world))

    def _findings(self, verdict: WorldsVerdict) -> tuple[Finding, ...]:
        """The findings of all worlds shown, with the worlds that they are there in."""
        instances = self._instances
        out = []
        for number, finding in self.findings().values():
            if not self._open:
                out.append(finding)
                continue
            worlds = self._worlds_of(finding, verdict, instances) if len(out) < MAX_ASKED else Worlds.UNKNOWN
            out.append(finding._replace(worlds=worlds, world=number))
        return tuple(out)

    @cached_property
    def _instances(self) -> dict[tuple[str, tuple[tuple[str, str], ...]], Literal]:
        """For each rule and binding, the worlds in which it is violated."""
        engine = self.compiled.engine
        found: dict[tuple[str, tuple[tuple[str, str], ...]], list[Literal]] = {}
        places: dict[int, list[tuple[str, int]]] = {}
        for violation in (*self.encoding.violations, *self.encoding.soft):
            part = engine.rule_set.parts[violation.part]
            if violation.part not in places:
                names = shown_names([v.name for v in part.parameters])
                places[violation.part] = sorted(zip(names, range(len(names)), strict=True))
            objects = self.task.names(violation.binding)
            binding = tuple([(name, objects[place]) for name, place in places[violation.part]])
            found.setdefault((self.compiled.rules[part.rule].name, binding), []).append(violation.literal)
        return {key: self.encoding.circuit.disjunction(literals) for key, literals in found.items()}

    def _worlds_of(
        self,
        finding: Finding,
        verdict: WorldsVerdict,
        instances: dict[tuple[str, tuple[tuple[str, str], ...]], Literal],
    ) -> Worlds:
        e = self.encoding
        match finding.finding_class:
            case FindingClass.UNMET_GOAL:
                return Worlds.ALL if verdict.goal is Worlds.NONE else Worlds.SOME
            case FindingClass.ILL_FORMED | FindingClass.INEXECUTABLE if finding.step <= len(e.alive):
                before = e.alive[finding.step - 1]
                after = e.alive[finding.step] if finding.step < len(e.alive) else FALSE
                literal = e.circuit.both(before, after ^ 1)
            case _ if finding.blame is Blame.PRE_EXISTING and self.compiled.options.criteria.only_introduced:
                return Worlds.UNKNOWN  # the circuit has what the plan brought about
            case _:
                literal = instances.get((finding.rule or "", finding.binding), FALSE)
        otherwise = self.judge.some(literal ^ 1)
        return Worlds.UNKNOWN if otherwise is None else Worlds.SOME if otherwise else Worlds.ALL

    def _rules(self, verdict: WorldsVerdict, base: Report) -> RuleCounts:
        """What is so of each rule in some world (docs/worlds.md, section 4)."""
        e = self.encoding
        reports = [base, *[shown.report for shown in self.shown]]
        seen = merge_rule_counts([report.rules for report in reports])
        if e.limits:
            return mark_unknown(seen)
        whole = any([report.executable is Worlds.ALL for report in reports])
        if not whole and any([count.status == "never applied" for count in seen]):
            longest = next((literal for literal in reversed(e.alive) if self.judge.some(literal)), FALSE)
            world = self.judge.world(longest)
            if world is not None:
                seen = merge_rule_counts(
                    [seen, report_in_world(self.compiled, self.plan, self.read, world, halt_only=True).rules]
                )
        broken = self._single((*e.violations, *e.soft))
        undecided = self._single(e.undecided_at)
        out = []
        for number, (rule, count) in enumerate(zip(self.compiled.rules, seen, strict=True)):
            if verdict.safe is Worlds.ALL and self.compiled.options.criteria.includes(rule):
                out.append(mark_kept(count))
            elif count.status == "not applicable" or number in e.given_up:
                out.append(mark_unknown((count,))[0])
            else:
                out.append(self._status(count, rule.preference, broken.get(number, []), undecided.get(number, [])))
        return tuple(out)

    def _single(self, instances: Iterable[InstanceLiteral]) -> dict[int, list[Literal]]:
        """For each rule by number, the worlds in which each of its bindings is so."""
        engine = self.compiled.engine
        found: dict[int, dict[tuple[str, ...], list[Literal]]] = {}
        for part, binding, _, literal in instances:
            bound = engine.rule_set.parts[part]
            named = tuple(sorted([f"{v.name} {value}" for v, value in zip(bound.parameters, binding, strict=True)]))
            found.setdefault(bound.rule, {}).setdefault(named, []).append(literal)
        return {rule: [self.encoding.circuit.disjunction(x) for x in own.values()] for rule, own in found.items()}

    def _status(self, count: RuleCount, preference: bool, broken: list[Literal], undecided: list[Literal]) -> RuleCount:
        some = [self._some(literal) for literal in broken[:MAX_ASKED]]
        if len(broken) > MAX_ASKED and not any(some):
            some.append(self._some(self.encoding.circuit.disjunction(broken)))
        if any(some):
            status = "preference violated" if preference else "violated"
            return count._replace(status=status, violations=max(count.violations, some.count(True)))
        if None in some or self._some(self.encoding.circuit.disjunction(undecided)) is not False:
            return count._replace(status="undecided", violations=0)
        return mark_kept(count)

    def _some(self, literal: Literal) -> bool | None:
        """Whether a world has it; of preferences that read open numbers, a SAT solver does not know."""
        try:
            return self.judge.some(literal)
        except Unsupported:
            return None
