"""``Checker``: a domain, a problem and specifications compiled once, and the verdict on any number of plans.

The service, the command line and other clients all come through here. A user's mistake is a diagnostic, never an
exception.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from math import prod
from time import monotonic
from typing import TYPE_CHECKING

from plansafe.grammar.diagnostics import Diagnostic, Label, Span
from plansafe.grammar.plan_text import plain_chunks
from plansafe.grammar.sexpr import Places, problems, read_all
from plansafe.grammar.source import Source, expect_sources
from plansafe.verifier.elaborate.context import Context
from plansafe.verifier.elaborate.task import Elaborated, elaborate
from plansafe.verifier.execution.one_world import task_is_open
from plansafe.verifier.execution.reading import ReadSteps, read_steps
from plansafe.verifier.execution.replay import FORCE, HALT, SKIP, Engine, Outcome, Run
from plansafe.verifier.execution.settings import Options
from plansafe.verifier.execution.steps import Tolerance, rounded
from plansafe.verifier.execution.timed import TimedRun
from plansafe.verifier.model.limits import Limited, LimitReached
from plansafe.verifier.model.nodes import OpenPredicate, WorldInvariant
from plansafe.verifier.reporting.report import FindingClass, Headline, Report, Worlds
from plansafe.verifier.rules.elaborate import Rules
from plansafe.verifier.rules.expand import Expander
from plansafe.verifier.rules.expanded import Expanded
from plansafe.verifier.rules.model import Rule

if TYPE_CHECKING:
    from plansafe.verifier.reporting.confirmation import Confirmer

__all__ = ["Checker", "Options"]

# Formulas may nest as deep as memory allows. Python frames of Python functions live on the heap (3.11 and later), so
# the limit only
# guards against runaway recursion.
RECURSION = 1_000_000
# 65,536 bits, the largest number there is, in decimal.
DIGITS = 20_100


_SHAPE = frozenset(("SC002", "SC003"))


class Checker:
    """A compiled task with its rules.

    ``diagnostics`` are what was found in the domain, problem and specifications; unless ``ok``, no plan can be checked.
    ``sources`` are all texts that labels may refer to, by name.
    """

    def __init__(
        self,
        domain: Source,
        problem: Source,
        specs: Sequence[Source] = (),
        options: Options | None = None,
        resolve: Callable[[str, Source], Source | None] | None = None,
    ) -> None:
        expect_sources(domain=domain, problem=problem)
        if isinstance(specs, Source | str):
            raise TypeError(f"specs takes a sequence of Sources, not one {type(specs).__name__}: write [..] around it")
        for spec in specs:
            expect_sources(specs=spec)
        if sys.getrecursionlimit() < RECURSION:
            sys.setrecursionlimit(RECURSION)
        if 0 < sys.get_int_max_str_digits() < DIGITS:
            sys.set_int_max_str_digits(DIGITS)
        collecting = gc.isenabled()
        gc.disable()  # loading makes millions of objects and no garbage
        try:
            self._load(domain, problem, specs, options or Options(), resolve)
        finally:
            if collecting:
                gc.enable()

    def _load(
        self,
        domain: Source,
        problem: Source,
        specs: Sequence[Source],
        options: Options,
        resolve: Callable[[str, Source], Source | None] | None,
    ) -> None:
        self.options = options
        self.domain, self.problem = domain, problem
        self.sources: dict[str, Source] = {source.name: source for source in (domain, problem, *specs)}
        self.context = Context(options.lenient_types)
        self.engine: Engine | None = None
        self.elaborated: Elaborated | None = None
        self.expanded = Expanded([], [])
        self.rules: list[Rule] = []
        self.openings: tuple[OpenPredicate, ...] = ()
        self.invariants: tuple[WorldInvariant, ...] = ()
        self.condition_labels: dict[tuple[str, str], Label] = {}
        self.changers: dict[tuple[int, bool], list[str]] = {}
        self._confirmer: Confirmer | None = None
        tops = []
        for source in (domain, problem):
            top = read_all(source)
            if top is None:
                found = problems(source)
                self.context.diagnostics.extend(found)
                self.context.errors += max(len(found), 1)
            else:
                self.context.places.append(Places(source, top))
                tops.append(top)
        if len(tops) == 2:
            self.elaborated = elaborate(self.context, tops[0], tops[1])
        self._rules(specs, resolve)
        self._open = False
        if self.ok:
            assert self.elaborated is not None
            self._open = bool(self.openings or self.invariants) or task_is_open(self.elaborated.task)
            self.engine = Engine(
                self.elaborated.task,
                self.rules,
                self.elaborated.symbols.action_predicates,
                lenient_types=options.lenient_types,
                max_instances=options.max_instances,
            )
            if self._open:
                from plansafe.verifier.execution.one_world import refusal  # noqa: PLC0415 - for open descriptions alone

                self.engine.refused = refusal(self, "the replay in one world")
        kinds = {domain.name: "domain", problem.name: "problem"}
        self.diagnostics: tuple[Diagnostic, ...] = self._expected(tuple(self.context.diagnostics), kinds)

    def _expected(self, diagnostics: tuple[Diagnostic, ...], kinds: dict[str, str]) -> tuple[Diagnostic, ...]:
        """Add to the first mistake of shape in each text what the grammar expected there."""
        if not any([d.code in _SHAPE for d in diagnostics]):
            return diagnostics
        from plansafe.grammar.expected import expectation  # noqa: PLC0415 - loads lark

        told: set[str] = set()
        out = []
        for diagnostic in diagnostics:
            name = diagnostic.labels[0].source if diagnostic.labels else ""
            if diagnostic.code in _SHAPE and name in self.sources and name not in told:
                told.add(name)
                notes = expectation(kinds.get(name, "specification"), self.sources[name])
                diagnostic = diagnostic._replace(notes=(*diagnostic.notes, *notes))
            out.append(diagnostic)
        return tuple(out)

    def _rules(self, specs: Sequence[Source], resolve: Callable[[str, Source], Source | None] | None) -> None:
        def remember(name: str, beside: Source) -> Source | None:
            found = resolve(name, beside) if resolve is not None else None
            if found is not None:
                self.sources[found.name] = found
            return found

        if self.elaborated is None:
            return
        rules = Rules(self.elaborated.symbols)
        rules.constraints(self.elaborated.constraints)
        if specs:
            expander = Expander(self.context, self.elaborated.task.name, remember)
            try:
                self.expanded = expander.expand(list(specs))
                rules.specifications(self.expanded)
            except LimitReached:
                label = Label(specs[0].name, Span(0, 1), "this specification")
                self.context.diagnostics.append(
                    Diagnostic("SC503", "templates and macros expand to more than a million nodes", (label,))
                )
                self.context.errors += 1
        self.rules = rules.rules
        self.openings, self.invariants = tuple(rules.openings), tuple(rules.invariants)

    @property
    def ok(self) -> bool:
        """Whether plans can be checked."""
        return self.elaborated is not None and self.context.errors == 0

    @cached_property
    def bindings(self) -> tuple[int, ...]:
        """How many bindings of its parameters each rule has; none if it is not applicable."""
        assert self.elaborated is not None
        domains = self.elaborated.task.domains
        return tuple([prod([len(domains[v.domain]) for v in r.declared]) if r.applicable else 0 for r in self.rules])

    # -- plans --------------------------------------------------------------------------------------------------------

    def check(self, plan: Source) -> Report:
        """The verdict on one plan."""
        expect_sources(plan=plan)
        if self.engine is None:
            return unreadable(plan.name, self.diagnostics)
        deadline = None if self.options.time_limit_s is None else monotonic() + self.options.time_limit_s
        try:
            report = self._check(plan, deadline)
        except LimitReached as limit:
            if limit.what is not Limited.TIME:
                raise
            from plansafe.verifier.reporting.summary import out_of_time  # noqa: PLC0415

            return out_of_time(self, plan)
        except ModuleNotFoundError as error:
            from plansafe.verifier.symbolic.refusals import missing_solver  # noqa: PLC0415 - hardly ever needed

            missing = missing_solver(error)
            if missing is None:
                raise
            return unreadable(plan.name, (*self.diagnostics, missing))
        report = _not_known(report)
        if self._open or (not report.findings and self.options.replay != "always"):
            return report
        return self.confirmer().confirm(plan, report)

    def confirmer(self) -> Confirmer:
        """What asks the independent kernel."""
        from plansafe.verifier.reporting.confirmation import Confirmer  # noqa: PLC0415 - loads the kernel

        if self._confirmer is None:
            self._confirmer = Confirmer(self)
        return self._confirmer

    @property
    def open(self) -> bool:
        """Whether the description leaves anything open: then there are many worlds (docs/worlds.md)."""
        return self._open

    def _over_worlds(self, plan: Source, read: ReadSteps, deadline: float | None) -> Report:
        """The verdict over all worlds."""
        if self.options.engine == "explicit":
            return self._undecided(plan, read)
        from plansafe.verifier.symbolic.audit import audit  # noqa: PLC0415 - for open descriptions alone

        return audit(self, plan, read, deadline)

    def _undecided(self, plan: Source, read: ReadSteps | None) -> Report:
        """The report where many worlds are left open, which explicit replay cannot judge."""
        from plansafe.verifier.execution.one_world import refusal  # noqa: PLC0415 - for open descriptions alone

        diagnostic = refusal(self, "the explicit engine", read)
        assert diagnostic is not None
        if self.options.engine == "explicit":
            from plansafe.verifier.symbolic.refusals import not_explicit  # noqa: PLC0415 - for a mistake alone

            return unreadable(plan.name, (*self.diagnostics, not_explicit(diagnostic)))
        steps = 0 if read is None else len(read.steps)
        unknown = Worlds.UNKNOWN
        diagnostics = (*self.diagnostics, diagnostic)
        return Report(plan.name, Headline.UNKNOWN, unknown, unknown, unknown, steps, diagnostics=diagnostics)

    def _check(self, plan: Source, deadline: float | None) -> Report:
        engine = self.engine
        assert engine is not None
        from plansafe.verifier.reporting.summary import summarise  # noqa: PLC0415 - imports the report's parts

        if self._open or self.options.engine in ("sat", "smt"):
            read = self.read(plan)
            if read.text.diagnostics:
                return unreadable(plan.name, (*self.diagnostics, *read.text.diagnostics))
            return self._noted(plan, read, self._over_worlds(plan, read, deadline))
        halt: Run | None = None
        blocks = plain_chunks(plan.text)
        if blocks is not None and not any([literal.time for literal in engine.task.timed_literals]):
            run = Run(engine, HALT, deadline=deadline)
            steps = run.chunks(blocks)
            if steps >= 0 and not run.failures and run.limit is None:
                return summarise(self, plan, None, [run.outcome(steps)])
            if steps >= 0:
                halt = run
        read = self.read(plan)
        if read.text.diagnostics:
            return unreadable(plan.name, (*self.diagnostics, *read.text.diagnostics))
        if read.open:
            return self._noted(plan, read, self._over_worlds(plan, read, deadline))
        if halt is not None and halt.failures:
            before = halt.failures[0].step - 1
            runs = [halt, *[halt.resume(reading) for reading in (SKIP, FORCE)]]
            for number, run in enumerate(runs[1:], 1):
                run.told = frozenset().union(*[earlier.reasons for earlier in runs[:number]])
                run.steps(read.steps[before:], before)
            outcomes = [run.outcome(len(read.steps)) for run in runs]
        else:
            outcomes = [halt.outcome(len(read.steps)) if halt is not None else self.replay(read, HALT, deadline)]
            if outcomes[0].failures:
                outcomes += [self.replay(read, reading, deadline) for reading in (SKIP, FORCE)]
        return self._noted(plan, read, summarise(self, plan, read, outcomes), outcomes[0].rounded)

    def _noted(self, plan: Source, read: ReadSteps, report: Report, forgiven: Collection[int] = frozenset()) -> Report:
        """A report with notes on the times of a plan: what means nothing, and what was forgiven."""
        if read.text.decimals is None:
            return report
        from plansafe.verifier.reporting.plan_notes import notes  # noqa: PLC0415 - for timed plans alone

        return report._replace(diagnostics=(*report.diagnostics, *notes(plan, read, self.tolerance(read), forgiven)))

    def replay(self, read: ReadSteps, reading: str, deadline: float | None = None) -> Outcome:
        """One reading of a plan that was read with places."""
        assert self.engine is not None
        if read.timed is not None:
            timed = TimedRun(self.engine, reading, read.timed, self.tolerance(read), deadline)
            timed.run()
            return timed.outcome(len(read.steps))._replace(rounded=frozenset(timed.rounded))
        run = Run(self.engine, reading, deadline=deadline)
        run.steps(read.steps)
        return run.outcome(len(read.steps))

    def tolerance(self, read: ReadSteps) -> Tolerance:
        """The tolerance of durations and separation in a plan, with what its last decimal is forgiven."""
        return rounded(self.options.tolerance, read.text.decimals)

    def read(self, plan: Source) -> ReadSteps:
        """Read a plan with places, and resolve its steps."""
        assert self.engine is not None
        return read_steps(self.engine, plan)


def _not_known(report: Report) -> Report:
    """The same; of a plan with an ill-formed step, nobody knows whether it is safe (docs/language.md, section 6)."""
    if not report.rules or not any([f.finding_class is FindingClass.ILL_FORMED for f in report.findings]):
        return report
    known = (Worlds.NONE, Worlds.UNKNOWN)
    readings = [r if r.safe in known else r._replace(safe=Worlds.UNKNOWN) for r in report.readings]
    safe = report.safe if report.safe in known else Worlds.UNKNOWN
    return report._replace(safe=safe, readings=tuple(readings))


def unreadable(plan: str, diagnostics: Sequence[Diagnostic]) -> Report:
    """A report that judges nothing, because something could not be read."""
    unknown = Worlds.UNKNOWN
    return Report(plan, None, unknown, unknown, unknown, 0, diagnostics=tuple(diagnostics))
