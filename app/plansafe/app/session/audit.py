"""Audit plans for every interface: one result for each plan, checked with the given settings.

A user error is a diagnostic in the result. An exception during the check of a plan is a bug; the result of that plan
reports it, and the batch continues.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from plansafe.app.project.discovery import Discovery
from plansafe.app.project.file_kinds import Kind, heading, plans_below
from plansafe.app.project.inputs import Choice, Finder, Input, Inputs
from plansafe.app.session.model import Prepared, Result, Settings, compiled
from plansafe.app.system.file_writing import Guard
from plansafe.app.system.time_limit import Alarm, OutOfTime
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span, with_article
from plansafe.grammar.source import Source
from plansafe.verifier.reporting.report import Finding, Headline, Report, cap_at_unknown, make_unchecked_report
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION

if TYPE_CHECKING:
    from plansafe.app.session.home_world import WorldTasks
    from plansafe.verifier.api import Checker
    from plansafe.verifier.execution.replay import LetterRecorder
    from plansafe.verifier.rules.home_profile import ProfileEntry

Done = TypeVar("Done")
INTERNAL = 4
_CHECKERS_KEPT = 4


def audit(plans: Iterable[str | Source], settings: Settings | None = None) -> Iterator[Result]:
    """Audit plans in order.

    A plan is a path, ``-`` for standard input, or a :class:`Source`, whose name is used as its path. Plans with
    the same domain, problem and specifications share one compiled task.
    """
    settings = settings or Settings()
    for name, values in (("plans", plans), ("specs", settings.specs)):
        if isinstance(values, str | Source):
            raise TypeError(f"{name} takes a list, not {with_article(type(values).__name__)}: write [..] around it")
    session = Session(settings)
    return session.process(plans, session.audit, settings.time_limit)


def expand(paths: Iterable[str], settings: Settings | None = None) -> list[str]:
    """Replace folders by the plans in them. A folder without plans stays in the list; :func:`audit` reports it."""
    plan_paths: list[str] = []
    for path in paths:
        plan_paths += (list(_plans(path, settings)) if os.path.isdir(path) else []) or [path]
    return plan_paths


def with_folders(settings: Settings, plans: Iterable[str]) -> Settings:
    """Add the folders of the given plans to the settings; ``plans`` are the paths on the command line."""
    return settings._replace(folders=tuple([p if os.path.isdir(p) else os.path.dirname(p) or "." for p in plans]))


def guard(plans: Iterable[str], settings: Settings) -> Guard:
    """Restrict outputs: they cannot overwrite a named input or, under ``--gate``, leave the given folders by a link."""
    project = settings.project.path if settings.project is not None else None
    named_files = (
        settings.domain,
        settings.problem,
        *settings.specs,
        settings.scene,
        settings.goal,
        settings.home,
        project,
    )
    named_files = (*named_files, project, settings.baseline)
    inputs = {*plans, *[path for path in named_files if path is not None]}
    return Guard(inputs, settings.folders if settings.gate else None)


def _plans(folder: str, settings: Settings | None) -> Iterator[str]:
    if settings is None or settings.world is None:
        return plans_below(folder)
    from plansafe.app.session.home_world import world_plans  # noqa: PLC0415 - PDDL plans do not need it

    return world_plans(folder, settings)


def combined_exit_code(codes: Iterable[int]) -> int:
    """The exit code of a batch: the first of 4, 2, 1, 3 that occurs, otherwise 0."""
    present = set(codes)
    return next((code for code in (INTERNAL, 2, 1, 3) if code in present), 0)


def no_rules(inapplicable: int = 0) -> Diagnostic:
    """The error for a task without applicable rules; ``inapplicable`` counts the rules that cannot apply."""
    if inapplicable:
        which = "the only rule cannot" if inapplicable == 1 else f"none of {inapplicable} rules can"
        message = f"{which} apply to this task: a plan without applicable rules does not pass --gate"
        advice = "name a specification that fits the task with --spec FILE, or pass --set allow_no_rules=true"
        return Diagnostic(SC.GATE_WITHOUT_RULES, message, help=advice)
    message = "the task has no rules: a plan without rules does not pass --gate"
    advice = "name a specification with --spec FILE, or pass --set allow_no_rules=true"
    return Diagnostic(SC.GATE_WITHOUT_RULES, message, help=advice)


class Session:
    """Finds, reads and compiles the inputs of plans; plans share compiled tasks.

    ``finder`` finds the inputs; the default searches files, in the order of docs/getting-started.md.
    """

    def __init__(self, settings: Settings, finder: Finder | None = None) -> None:
        self._settings = settings
        choice = Choice(
            settings.domain,
            settings.problem,
            settings.specs,
            settings.default_spec,
            settings.gate,
            settings.project,
            settings.ltl,
        )
        self._discovery: Finder = Discovery(choice, settings.hashes) if finder is None else finder
        self._checkers: dict[tuple[str, ...], tuple[Checker, tuple[Input, ...]]] = {}
        self._world_tasks: WorldTasks | None = None
        self._home_sources: dict[str, Source] = {}

    def process(
        self, plans: Iterable[str | Source], work: Callable[[Prepared], Done], seconds: float
    ) -> Iterator[Result | Done]:
        """Call ``work`` on each prepared plan, within ``seconds``; a :class:`Result` reports a failure."""
        with Alarm(seconds) as alarm:
            for plan in plans:
                yield self._timed(plan, work, alarm, seconds)

    def _timed(
        self, plan: str | Source, work: Callable[[Prepared], Done], alarm: Alarm, seconds: float
    ) -> Result | Done:
        """Process a plan within the limits; the result reports exceeded limits and exceptions."""
        name = plan if isinstance(plan, str) else plan.name
        try:
            alarm.arm()
            try:
                prepared = self.prepare(plan)
                return prepared if isinstance(prepared, Result) else work(prepared)
            finally:
                alarm.disarm()
        except OutOfTime:
            self._checkers.clear()
            late = Diagnostic(SC.OUT_OF_TIME, f"the time limit of {seconds:g} s has passed", help="raise --time-limit")
            report = make_unchecked_report(name, late, headline=Headline.UNKNOWN)._replace(limits=("time",))
            return Result(name, report, (), {})
        except MemoryError:
            self._checkers.clear()
            limit = Diagnostic(SC.OUT_OF_MEMORY, "out of memory: the plan was not audited", help="raise --memory-limit")
            report = make_unchecked_report(name, limit, headline=Headline.UNKNOWN)._replace(limits=("memory",))
            return Result(name, report, (), {})
        except Exception:
            import traceback  # noqa: PLC0415 - only bugs need it

            from plansafe.app.system.terminal_text import escaped  # noqa: PLC0415 - only bugs need it

            bug = Diagnostic(SC.INTERNAL_ERROR, "internal error: this is a bug in safecheck, not in the plan")
            return Result(name, make_unchecked_report(name, bug), (), {}, escaped(traceback.format_exc()))

    def audit(self, prepared: Prepared, *, confirm: bool = True, recorder: LetterRecorder | None = None) -> Result:
        """Audit a plan. ``confirm`` and ``recorder`` as in :meth:`Checker.check`."""
        return self.result(prepared, prepared.checker.check(prepared.plan, confirm=confirm, recorder=recorder))

    def result(self, prepared: Prepared, report: Report) -> Result:
        """Make the result of a report: add the inputs, and the diagnostics of the settings and the plan text."""
        report = cap_at_unknown(self._with_idle_rules(report), prepared.remarks)
        if self._settings.gate and not self._settings.allow_no_rules and report.safety is None:
            report = report._replace(diagnostics=(*report.diagnostics, no_rules(report.rule_count_if_none_applicable)))
        text = prepared.inputs[0].source
        if prepared.plan.name != text.name:
            report = _in_loose_text(report, prepared, text.name)._replace(answer=self._settings.loose)
        if prepared.notes:
            report = report._replace(diagnostics=(*prepared.notes, *report.diagnostics))
        return Result(text.name, report, prepared.inputs, prepared.sources)

    def missing_rules(self, checker: Checker) -> Diagnostic | None:
        """The error of ``--gate`` if no applicable rule can affect the verdict; ``None`` without ``--gate``."""
        if not self._settings.gate or self._settings.allow_no_rules:
            return None
        may_decide = checker.options.criteria.may_decide
        rules = zip(checker.rules, checker.compiled.binding_counts, strict=True)
        deciding = [bindings for rule, bindings in rules if may_decide(rule.name, rule.severity)]
        return None if any(deciding) else no_rules(len(deciding))

    def prepare(self, plan_input: str | Source) -> Prepared | Result:
        """Find and compile the inputs of a plan; a :class:`Result` reports errors in them."""
        if isinstance(plan_input, Source):
            plan: Input | Diagnostic = Input("plan", plan_input.name, "given", plan_input)
        else:
            within = self._settings.folders if self._settings.gate else None
            plan = self._discovery.read(plan_input, "plan", "given", keep=False, within=within)
        if isinstance(plan, Diagnostic):
            if isinstance(plan_input, str) and os.path.isdir(plan_input):
                plan = Diagnostic(
                    SC.NOT_A_PLAN, f"no plan in the folder {plan_input}", help="name the plan file itself"
                )
            name = plan_input if isinstance(plan_input, str) else plan_input.name
            return Result(name, make_unchecked_report(name, plan), (), {})
        home = self._home()
        if home is not None and not isinstance(home, Input):
            sources = {plan.source.name: plan.source, **self._home_sources}
            return Result(plan.source.name, make_unchecked_report(plan.source.name, *home), (plan,), sources)
        if self._settings.world is not None:
            return self._of_world(plan, self._settings.wanted is None)
        name = plan.source.name
        plan_heading = heading(plan.source.text)
        if plan_heading.kind in (Kind.DOMAIN, Kind.PROBLEM, Kind.SAFETY, Kind.MAPPING):
            wrong = _not_a_plan(name, plan_heading.kind)
            return Result(name, make_unchecked_report(name, wrong), (plan,), {name: plan.source})
        inputs = self._discovery.find(plan, plan_heading)
        all_inputs = (plan, *self._project(), inputs.domain, inputs.problem, *inputs.specs)
        used = tuple([part for i in all_inputs if i is not None for part in i.parts or (i,)])
        sources = {i.source.name: i.source for i in used}
        if inputs.domain is None or inputs.problem is None or inputs.diagnostics:
            return Result(name, make_unchecked_report(name, *inputs.diagnostics), used, sources)
        problem = inputs.problem
        if self._settings.wanted and problem.parts:
            several = Diagnostic(SC.BAD_OPTION, "--goal cannot replace the goals of several agents")
            return Result(name, make_unchecked_report(name, several), used, sources)
        if self._settings.wanted is not None:
            problem = _with_other_goal(problem, self._settings.wanted)
            used = tuple([problem if used_input is inputs.problem else used_input for used_input in used])
            sources[problem.source.name] = problem.source
        entries, remarks = self._comment_exemptions(plan.source)
        if any(d.severity is Severity.ERROR for d in remarks):
            return Result(name, make_unchecked_report(name, *remarks), used, sources)
        checker, extended = self._checker(inputs, inputs.domain, problem, plan.source, entries)
        used = (*used, *extended)
        sources = {**sources, **{i.source.name: i.source for i in extended}}
        if not checker.ok:
            sources = {**checker.sources, **sources}
            return Result(name, make_unchecked_report(name, *checker.diagnostics), used, sources)
        prepared = Prepared(plan.source, checker, used, sources, remarks)
        return self._from_loose_text(prepared) if self._settings.loose else prepared

    def with_goal(self, goal: str) -> Session:
        """A session for another goal (``Settings.wanted``). It shares the files of this one, and compiles new tasks."""
        session = Session(self._settings._replace(wanted=goal))
        session._discovery = self._discovery
        return session

    def for_existing_plans(self) -> Session:
        """A session for existing plans: without another goal, and with the problem found for each plan."""
        return Session(self._settings._replace(wanted=None, problem=None))

    def _project(self) -> tuple[Input, ...]:
        """The project file and the home profile, as inputs."""
        project, home = self._settings.project, self._home()
        homes = (home,) if isinstance(home, Input) else ()
        if project is None:
            return homes
        how = "in the current folder" if os.path.dirname(project.path) == "" else "above the current folder"
        input_file = self._discovery.read(project.path, "project", how)
        return (input_file, *homes) if isinstance(input_file, Input) else homes

    def _home(self) -> Input | list[Diagnostic] | None:
        """Read the home profile once; diagnostics on failure."""
        path = self._settings.home
        if path is None:
            self._add_choices()
            return None
        input_file = self._discovery.read(path, "home", "--home or the project file")
        if isinstance(input_file, Diagnostic):
            return [input_file]
        if self._settings.profile is None:
            from plansafe.app.project.home_profile import read_home  # noqa: PLC0415 - only home profiles need it

            home = read_home(input_file.source)
            self._home_sources = {input_file.source.name: input_file.source}
            if home.profile is None:
                return list(home.diagnostics)
            self._settings = self._settings._replace(profile=home.profile)
        self._add_choices()
        return input_file

    def _add_choices(self) -> None:
        """Add the ignored and selected rules and the kinds of classes to the profile."""
        if self._settings.ignore or self._settings.select or self._settings.classes:
            from plansafe.app.session.rule_choices import with_choices  # noqa: PLC0415 - only needed for these options

            self._settings = self._settings._replace(profile=with_choices(self._settings.profile, self._settings, ()))

    def _comment_exemptions(self, plan: Source) -> tuple[tuple[ProfileEntry, ...], tuple[Diagnostic, ...]]:
        """Read the exemptions in comments of a PDDL plan, and the diagnostics about them."""
        if self._settings.loose or ";" not in plan.text or "safecheck" not in plan.text.lower():
            return (), ()
        from plansafe.app.session.rule_choices import allowed  # noqa: PLC0415 - only needed for comments

        return allowed(plan, self._settings)

    def _of_world(self, plan: Input, written: bool = True) -> Prepared | Result:
        """Prepare a plan in the format of a home world."""
        if self._world_tasks is None:
            from plansafe.app.session.home_world import WorldTasks  # noqa: PLC0415 - PDDL plans do not need it

            self._world_tasks = WorldTasks(self._settings, self._discovery)
        return _with_project_files(self._world_tasks.prepare(plan, written), self._project())

    def reference(self, path: str, prepared: Prepared) -> Source | tuple[Diagnostic, ...]:
        """Read a reference plan of the same task in the same format; diagnostics on failure."""
        input_file = self._discovery.read(path, "plan", "--reference")
        if isinstance(input_file, Diagnostic):
            return (input_file,)
        prepared_reference = None
        if self._settings.world is not None:
            prepared_reference = self._of_world(input_file)
        elif self._settings.loose:
            prepared_reference = self._from_loose_text(prepared._replace(plan=input_file.source))
        if isinstance(prepared_reference, Prepared) and prepared_reference.remarks:
            return tuple([remark._replace(severity=Severity.ERROR) for remark in prepared_reference.remarks])
        if isinstance(prepared_reference, Result):
            return tuple([d for d in prepared_reference.report.diagnostics if d.severity is Severity.ERROR])
        plan = input_file.source if prepared_reference is None else prepared_reference.plan
        return prepared.checker.read(plan).text.diagnostics or plan

    def _from_loose_text(self, prepared: Prepared) -> Prepared | Result:
        """Convert a plan in loose text to a PDDL plan."""
        from plansafe.llm.loose.candidates import accepted  # noqa: PLC0415 - PDDL plans do not need it
        from plansafe.llm.loose.reader import read_loose  # noqa: PLC0415 - PDDL plans do not need it

        reading = read_loose(prepared.plan, prepared.checker)
        if reading.plan is None:
            report = make_unchecked_report(prepared.plan.name, *reading.notes, *reading.diagnostics)
            return Result(prepared.plan.name, report, prepared.inputs, prepared.sources)
        notes = (*reading.notes, *reading.diagnostics)
        places = tuple([step.span for step in reading.steps])
        prepared = prepared._replace(plan=reading.plan, notes=notes, places=places)
        if self._settings.accept_remarks:
            return prepared._replace(notes=(*notes, *map(accepted, reading.remarks)))
        return prepared._replace(remarks=reading.remarks)

    def _checker(
        self, inputs: Inputs, domain: Input, problem: Input, plan: Source, entries: tuple[ProfileEntry, ...]
    ) -> tuple[Checker, tuple[Input, ...]]:
        """Compile a task or reuse a compiled one; also returns the extended specifications."""
        key = (domain.path, problem.path, *(spec.path for spec in inputs.specs))
        settings = self._settings
        if entries:  # these apply to this plan only
            from plansafe.app.session.rule_choices import with_choices  # noqa: PLC0415 - only needed for comments

            key = (*key, plan.name, plan.text)
            settings = settings._replace(profile=with_choices(settings.profile, settings, entries, plan))
        cached = self._checkers.get(key)
        if cached is not None:
            return cached
        while len(self._checkers) >= _CHECKERS_KEPT:
            del self._checkers[next(iter(self._checkers))]
        specs = [spec.source for spec in inputs.specs]
        self._checkers[key] = compiled(self._discovery, domain.source, problem.source, specs, settings)
        return self._checkers[key]

    def _with_idle_rules(self, report: Report) -> Report:
        """Report that no rule was triggered, so that such a specification does not look like safety."""
        if report.headline is not Headline.VALID or not (report.rules or self._settings.require_rules):
            return report
        if any(d.code == SC.NOTHING_TO_CHECK for d in report.diagnostics):
            return report
        notes = tuple(f"rule `{rule.name}`: {rule.status}" for rule in report.rules[:8])
        advice = "choose a specification that fits the domain with --spec FILE"
        if self._settings.require_rules:
            text = "no rule had anything to check, and --require-rules was given"
            idle = Diagnostic(SC.NOTHING_TO_CHECK, text, notes=notes, help=advice)
        else:
            narrow = report.verdict_basis.criteria._replace(judge=EVERY_VIOLATION.judge) != EVERY_VIOLATION
            which = "that can decide " if narrow else ""
            text = f"no rule {which}ever applied: the plan was not checked for safety"
            idle = Diagnostic(SC.RULE_NEVER_APPLIED, text, notes=notes, help=advice, severity=Severity.WARNING)
        return report._replace(diagnostics=(*report.diagnostics, idle))


def _with_other_goal(problem: Input, goal: str) -> Input:
    """Replace the goal of a problem."""
    from plansafe.app.session.goal_text import with_goal  # noqa: PLC0415 - only needed for new plans

    return problem._replace(
        source=with_goal(problem.source, goal), how=f"{problem.how}, with another goal" if goal else problem.how
    )


def _with_project_files(prepared: Prepared | Result, project: tuple[Input, ...]) -> Prepared | Result:
    """Add the project file to the inputs, after the plan."""
    if not project:
        return prepared
    sources = {**prepared.sources, **{i.source.name: i.source for i in project}}
    return prepared._replace(inputs=(*prepared.inputs[:1], *project, *prepared.inputs[1:]), sources=sources)


def _in_loose_text(report: Report, prepared: Prepared, name: str) -> Report:
    """Map the places in a report from the parsed plan to the loose text that it was read from."""
    from plansafe.grammar.plan_text import read_plan  # noqa: PLC0415 - already loaded

    read = [step.span for step in read_plan(prepared.plan).steps]
    starts = [span.start for span in read]

    def place(span: Span) -> Span | None:
        """The span in the loose text of the step that contains ``span``."""
        number = bisect_right(starts, span.start) - 1
        return prepared.places[number] if number >= 0 and span.end <= read[number].end else None

    def moved(label: Label) -> Label:
        if label.source != prepared.plan.name:
            return label
        return label._replace(source=name, span=place(label.span) or Span(0, 0))

    def placed(finding: Finding) -> Finding:
        return finding._replace(
            source=name if finding.source == prepared.plan.name else finding.source,
            span=place(finding.span) if finding.span is not None else None,
            related=tuple([moved(label) for label in finding.related]),
        )

    findings = [placed(finding) for finding in report.findings]
    exempted = tuple([e._replace(findings=tuple(map(placed, e.findings))) for e in report.verdict_basis.exempted])
    report = report._replace(verdict_basis=report.verdict_basis._replace(exempted=exempted))
    diagnostics = [d._replace(labels=tuple([moved(label) for label in d.labels])) for d in report.diagnostics]
    return report._replace(plan=name, findings=tuple(findings), diagnostics=tuple(diagnostics))


def _not_a_plan(name: str, kind: Kind) -> Diagnostic:
    noun = with_article("safety specification" if kind is Kind.SAFETY else kind.value)
    flag = {Kind.DOMAIN: "--domain", Kind.PROBLEM: "--problem"}.get(kind, "--spec")
    return Diagnostic(SC.NOT_A_PLAN, f"{name} is {noun}, not a plan", help=f"safecheck PLAN {flag} {name}")
