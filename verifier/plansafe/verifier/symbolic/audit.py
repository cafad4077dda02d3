"""The report on a plan over all worlds.

The encoding decides; what is reported about a world is what the explicit engine says of that world: its findings, with
their places, tables and readings. So a world in which something fails is replayed before it is shown, and engine and
encoding disagreeing is an internal error, never a verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.source import Source
from plansafe.verifier.engine.steps import IllFormed, Taken
from plansafe.verifier.report import Finding, FindingClass, Headline, Report, RuleCount, Worlds
from plansafe.verifier.rules.model import shown_names
from plansafe.verifier.symbolic.circuit import FALSE, TRUE, Literal
from plansafe.verifier.symbolic.encode import encode
from plansafe.verifier.symbolic.model import Encoding, FactInput, OutcomeInput, Verdict, Witness, World, WorldsReport
from plansafe.verifier.symbolic.reasons import Reasons, reasons
from plansafe.verifier.symbolic.replaying import in_world
from plansafe.verifier.symbolic.solvers import Unsupported
from plansafe.verifier.symbolic.texts import world_said
from plansafe.verifier.symbolic.verdict import Judge, NoWorld

if TYPE_CHECKING:
    from plansafe.verifier.api import Checker, ReadSteps

MAX_WITNESSES = 8
"""Worlds that a report shows."""
MAX_ASKED = 200
"""Findings of which it is asked whether they are there in all worlds."""


class Shown(NamedTuple):
    """A world with the explicit engine's report on it."""

    about: str
    world: World
    report: Report


class Audit:
    """One plan, judged over all worlds by an encoding."""

    def __init__(self, checker: Checker, plan: Source, read: ReadSteps, deadline: float | None) -> None:
        assert checker.engine is not None
        self.checker, self.plan, self.read, self.deadline = checker, plan, read, deadline
        self.task = checker.engine.task
        self.steps: Sequence[Taken | IllFormed] = read.steps
        self.shown: list[Shown] = []

    def report(self) -> Report:
        """The report. Raises :class:`~.engine.replay.TimeUp`."""
        checker, options = self.checker, self.checker.options
        self.encoding = encoding = encode(checker, self.steps, (), self.deadline)
        self.judge = judge = Judge(encoding, options.engine, self.deadline)
        try:
            verdict = judge.decide()
            wrong = self._witnesses(verdict)
            if wrong is not None:
                return self._disagreement(wrong)
            return self._report(verdict)
        except NoWorld:
            return self._no_world()
        except Unsupported:
            return self._unsupported()
        finally:
            judge.close()

    # -- worlds -------------------------------------------------------------------------------------------------------

    def _witnesses(self, verdict: Verdict) -> str | None:
        """Replay a world for each value that is not ALL, and for each rule broken elsewhere; what disagrees, if so."""
        e = self.encoding
        asked = [
            ("executable", e.executable ^ 1, verdict.not_executable),
            ("goal", e.goal ^ 1, verdict.not_goal),
            ("safe", e.violated, verdict.not_safe),
        ]
        for about, literal, world in asked:
            if world is not None:
                wrong = self._show(about, literal, world)
                if wrong is not None:
                    return wrong
        if verdict.not_safe is not None:
            for name, literal in self._by_rule():
                if len(self.shown) >= MAX_WITNESSES:
                    break
                if not any([f.rule == name for shown in self.shown for f in shown.report.findings]):
                    world = self.judge.world(literal)
                    if world is not None:
                        self._show(name, literal, world)
        if not self.shown and not e.limits:
            world = self.judge.world(TRUE)
            if world is not None:
                report = self._replay(world)
                self.sample = report
                good = self.encoding.undecided == FALSE and verdict.safe is Worlds.ALL
                if good and report.headline not in (Headline.SAFE, Headline.VALID):
                    return f"all worlds are safe, but one of them is {report.headline.value if report.headline else ''}"
        return None

    def _show(self, about: str, literal: Literal, world: World) -> str | None:
        for shown in self.shown:
            if self._holds(literal, shown.world):
                self.shown.append(Shown(about, shown.world, shown.report))
                return None
        report = self._replay(world)
        self.shown.append(Shown(about, world, report))
        fails = {
            "executable": report.executable is not Worlds.ALL,
            "goal": report.goal is not Worlds.ALL,
            "safe": report.safe is Worlds.NONE,
        }
        if not fails.get(about, any([f.rule == about for f in report.findings])):
            return f"in a world where `{about}` should fail it does not"
        return None

    def _holds(self, literal: Literal, world: World) -> bool:
        """Whether a literal is true in a world; numbers are not looked at, so where they matter the answer is no."""
        circuit = self.encoding.circuit
        values = {}
        for node in circuit.inputs([literal]):
            key = circuit.keys[node]
            if isinstance(key, FactInput):
                values[node] = (key.predicate, key.code) in world.facts
            elif isinstance(key, OutcomeInput):
                values[node] = world.outcomes[key.step, key.number, key.objects] == key.alternative
            else:
                return False
        return circuit.evaluate([literal], values)[0]

    def _replay(self, world: World) -> Report:
        return in_world(self.checker, self.plan, self.read, world)

    def _by_rule(self) -> Iterable[tuple[str, Literal]]:
        parts = self.checker.engine.plan.parts  # type: ignore[union-attr]
        found: dict[str, list[Literal]] = {}
        for violation in self.encoding.violations:
            found.setdefault(self.checker.rules[parts[violation.part].rule].name, []).append(violation.literal)
        return [(name, self.encoding.circuit.disjunction(literals)) for name, literals in found.items()]

    # -- the report ---------------------------------------------------------------------------------------------------

    def _report(self, verdict: Verdict) -> Report:
        encoding, checker = self.encoding, self.checker
        base = self.shown[0].report if self.shown else self.sample
        good = encoding.circuit.conjunction(
            [encoding.executable, encoding.goal, encoding.violated ^ 1, encoding.undecided ^ 1]
        )
        headline = _headline(verdict, encoding)
        open_ = self._open
        why = Reasons()
        if open_ and headline in (Headline.INVALID, Headline.UNSAFE):
            worst = self.shown[0].world if self.shown else None
            why = reasons(encoding, self.task, checker.options.engine, self.deadline, worst)
        findings = self._findings(verdict)
        relevant = encoding.circuit.inputs([good])
        worlds = WorldsReport(
            encoding.open_facts,
            encoding.open_numbers,
            len(encoding.outcomes),
            len([n for n in relevant if isinstance(encoding.circuit.keys[n], FactInput | OutcomeInput)]),
            tuple([self._witness(shown) for shown in self.shown]),
            why.cause,
            why.cause_note,
            why.question,
            why.question_note,
            (),
            self.judge.name,
        )
        return base._replace(
            headline=headline,
            executable=verdict.executable,
            goal=verdict.goal,
            safe=verdict.safe,
            findings=findings,
            rules=self._rules(base),
            metric=base.metric if not open_ else None,
            engine="smt" if self.judge.name.startswith("z3") else "sat",
            limits=(*base.limits, *encoding.limits, *encoding.skipped),
            worlds=worlds if open_ else None,
        )

    @property
    def _open(self) -> bool:
        e = self.encoding
        return bool(e.open_facts or e.open_numbers or e.outcomes)

    def _witness(self, shown: Shown) -> Witness:
        circuit = self.encoding.circuit
        e = self.encoding
        literal = {"executable": e.executable, "goal": e.goal, "safe": e.violated}.get(shown.about)
        roots = [literal] if literal is not None else [lit for name, lit in self._by_rule() if name == shown.about]
        keys = [circuit.keys[node] for node in circuit.inputs(roots)]
        facts = [(key.predicate, key.code) for key in keys if isinstance(key, FactInput)]
        choices = {(key.step, key.number, key.objects) for key in keys if isinstance(key, OutcomeInput)}
        values = e.values if len(facts) + len(choices) < len(keys) else ()
        said = world_said(self.task, list(self.steps), shown.world, facts, values, choices)
        replayed = all([f.replayed for f in shown.report.findings]) if shown.report.findings else None
        return Witness(shown.about, said, replayed)

    def _findings(self, verdict: Verdict) -> tuple[Finding, ...]:
        """The findings of all worlds shown, each once, with the worlds that they are there in."""
        instances = self._instances()
        seen: dict[object, Finding] = {}
        for number, shown in enumerate(self.shown):
            for finding in shown.report.findings:
                key = (finding.code, finding.rule, finding.binding, finding.step, finding.at_end)
                if key in seen or len(seen) >= self.checker.options.max_findings:
                    continue
                worlds = self._worlds_of(finding, verdict, instances) if len(seen) < MAX_ASKED else Worlds.UNKNOWN
                seen[key] = finding._replace(worlds=worlds, world=number) if self._open else finding
        return tuple(seen.values())

    def _instances(self) -> dict[tuple[str, tuple[tuple[str, str], ...]], Literal]:
        """For each rule and binding, the worlds in which it is violated."""
        engine = self.checker.engine
        assert engine is not None
        found: dict[tuple[str, tuple[tuple[str, str], ...]], list[Literal]] = {}
        for violation in self.encoding.violations:
            part = engine.plan.parts[violation.part]
            names = shown_names([v.name for v in part.parameters])
            binding = tuple(sorted(zip(names, self.task.names(violation.binding), strict=True)))
            found.setdefault((self.checker.rules[part.rule].name, binding), []).append(violation.literal)
        return {key: self.encoding.circuit.disjunction(literals) for key, literals in found.items()}

    def _worlds_of(
        self, finding: Finding, verdict: Verdict, instances: dict[tuple[str, tuple[tuple[str, str], ...]], Literal]
    ) -> Worlds:
        e = self.encoding
        match finding.finding_class:
            case FindingClass.UNMET_GOAL:
                return Worlds.ALL if verdict.goal is Worlds.NONE else Worlds.SOME
            case FindingClass.ILL_FORMED | FindingClass.INEXECUTABLE if finding.step <= len(e.alive):
                before = e.alive[finding.step - 1]
                after = e.alive[finding.step] if finding.step < len(e.alive) else FALSE
                literal = e.circuit.both(before, after ^ 1)
            case _:
                literal = instances.get((finding.rule or "", finding.binding), FALSE)
        otherwise = self.judge.some(literal ^ 1)
        return Worlds.UNKNOWN if otherwise is None else Worlds.SOME if otherwise else Worlds.ALL

    def _rules(self, base: Report) -> tuple[RuleCount, ...]:
        """The counts of one world, with the violations of all."""
        broken: dict[str, int] = {}
        for name, _ in self._instances():
            broken[name] = broken.get(name, 0) + 1
        out = []
        for count in base.rules:
            if count.name in broken and count.status in ("kept", "violated", "never applied", "undecided"):
                out.append(count._replace(violations=max(broken[count.name], count.violations), status="violated"))
            else:
                out.append(count)
        return tuple(out)

    # -- what is no verdict -------------------------------------------------------------------------------------------

    def _no_world(self) -> Report:
        label = self._opening()
        message = "what is said of the open facts contradicts itself: no world agrees with all of it"
        help = "an `or` or `oneof` without a possible alternative, an empty interval, or an invariant that S0 breaks"
        return self._nothing(Diagnostic("SC117", message, label, help=help))

    def _opening(self) -> tuple[Label, ...]:
        unknowns = self.task.unknowns
        if unknowns is not None and isinstance(unknowns.node, list):
            from plansafe.verifier.elaborate.context import At  # noqa: PLC0415 - for a mistake alone

            return (self.checker.context.label(At(unknowns.node), "open"),)
        return (Label(self.checker.problem.name, Span(0, 1), "this problem"),)

    def _unsupported(self) -> Report:
        diagnostic = Diagnostic(
            "SC507",
            "the engine `sat` knows no numbers, and the verdict depends on some that are open",
            severity=Severity.WARNING,
            help="leave --engine out, or take --engine smt",
        )
        return self._nothing(diagnostic, Headline.UNKNOWN)

    def _disagreement(self, what: str) -> Report:
        help = "this is a bug in safecheck: please report it with the files; nothing is claimed about the plan"
        message = f"the explicit engine does not confirm the symbolic one: {what}"
        return self._nothing(Diagnostic("SC901", message, (Label(self.plan.name, Span(0, 0)),), help=help))

    def _nothing(self, diagnostic: Diagnostic, headline: Headline | None = None) -> Report:
        unknown = Worlds.UNKNOWN
        diagnostics = (*self.checker.diagnostics, diagnostic)
        return Report(self.plan.name, headline, unknown, unknown, unknown, len(self.steps), diagnostics=diagnostics)


def _headline(verdict: Verdict, encoding: Encoding) -> Headline:
    """The first that applies (docs/worlds.md, section 2)."""
    if verdict.not_executable is not None or verdict.not_goal is not None:
        return Headline.INVALID
    if verdict.not_safe is not None:
        return Headline.UNSAFE
    if Worlds.UNKNOWN in (verdict.executable, verdict.goal, verdict.safe):
        return Headline.UNKNOWN
    return Headline.SAFE if encoding.checked else Headline.VALID


def audit(checker: Checker, plan: Source, read: ReadSteps, deadline: float | None = None) -> Report:
    """The verdict on one plan over all worlds. Raises :class:`~.engine.replay.TimeUp`, ``SolverMissing``."""
    return Audit(checker, plan, read, deadline).report()
