"""The one service behind every door: plans and settings in, one result for each plan out.

A user's mistake is a diagnostic in the result. An exception while one plan is checked is a bug; it is part of that
plan's result, and the batch goes on.
"""

from __future__ import annotations

import math
import os
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from plansafe.app.options.shared import flag_of
from plansafe.app.project.discovery import Discovery
from plansafe.app.project.file_kinds import Kind, heading, plans_below
from plansafe.app.project.inputs import Choice, Finder, Input, Inputs
from plansafe.app.session.model import Prepared, Result, Settings, compiled
from plansafe.app.system.file_writing import Guard
from plansafe.app.system.time_limit import Alarm, OutOfTime
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.source import Source
from plansafe.verifier.reporting.report import Finding, Headline, Report, cap_at_unknown, unjudged
from plansafe.verifier.rules.question import EVERY_VIOLATION

if TYPE_CHECKING:
    from plansafe.app.session.home_world import Foreign
    from plansafe.verifier.api import Checker
    from plansafe.verifier.rules.home import Entry

Done = TypeVar("Done")
INTERNAL = 4
_CHECKERS_KEPT = 4
_NUMBER = re.compile(r"(?:\d{1,20}(?:\.\d{1,20})?|\.\d{1,20})\Z")


def audit(plans: Iterable[str | Source], settings: Settings | None = None) -> Iterator[Result]:
    """Check plans one after the other.

    A plan is a path, ``-`` for standard input, or a :class:`Source` (its name stands for its path). Domain, problem
    and specifications are compiled once for as long as they stay the same.
    """
    settings = settings or Settings()
    for name, several in (("plans", plans), ("specs", settings.specs)):
        if isinstance(several, str | Source):
            raise TypeError(f"{name} takes several, not one {type(several).__name__}: write [..] around it")
    session = Session(settings)
    return session.each(plans, session.audit, settings.time_limit)


def expand(paths: Iterable[str], settings: Settings | None = None) -> list[str]:
    """Replace folders by the plans in them. A folder without plans stays, and :func:`audit` reports it."""
    out: list[str] = []
    for path in paths:
        out += (list(_plans(path, settings)) if os.path.isdir(path) else []) or [path]
    return out


def with_folders(settings: Settings, plans: Iterable[str]) -> Settings:
    """Settings that know which folders the plans were given in; ``plans`` as the user named them."""
    return settings._replace(folders=tuple([p if os.path.isdir(p) else os.path.dirname(p) or "." for p in plans]))


def guard(plans: Iterable[str], settings: Settings) -> Guard:
    """What an output must not touch: the files that are named, and under ``--gate`` what lies elsewhere."""
    project = settings.project.path if settings.project is not None else None
    named = (settings.domain, settings.problem, *settings.specs, settings.scene, settings.goal, settings.home, project)
    named = (*named, settings.baseline)
    inputs = {*plans, *[path for path in named if path is not None]}
    return Guard(inputs, settings.folders if settings.gate else None)


def _plans(folder: str, settings: Settings | None) -> Iterator[str]:
    if settings is None or settings.world is None:
        return plans_below(folder)
    from plansafe.app.session.home_world import foreign_plans  # noqa: PLC0415 - not needed for PDDL

    return foreign_plans(folder, settings)


def combined_exit_code(codes: Iterable[int]) -> int:
    """The exit code of a batch: the first present of 4, 2, 1, 3, 0; never a count."""
    present = set(codes)
    return next((code for code in (INTERNAL, 2, 1, 3) if code in present), 0)


def no_rules(inapplicable: int = 0) -> Diagnostic:
    """Refuse a plan that no rule was checked on; ``inapplicable`` rules exist, but none can apply to the task."""
    if inapplicable:
        which = "the only rule cannot" if inapplicable == 1 else f"none of {inapplicable} rules can"
        message = f"{which} apply to this task: a plan without applicable rules does not pass --gate"
        advice = "name a specification that fits the task with --spec FILE, or pass --allow-no-rules"
        return Diagnostic(SC.GATE_WITHOUT_RULES, message, help=advice)
    message = "there are no rules: a plan without rules does not pass --gate"
    advice = "name a specification with --spec FILE, or pass --allow-no-rules if there is none"
    return Diagnostic(SC.GATE_WITHOUT_RULES, message, help=advice)


class Session:
    """Finds, reads and compiles what plans need; what several plans need is compiled once.

    ``finder`` says where inputs come from; without one they are files, as docs/getting-started.md says.
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
        self._foreign: Foreign | None = None
        self._home_sources: dict[str, Source] = {}

    def each(
        self, plans: Iterable[str | Source], work: Callable[[Prepared], Done], seconds: float
    ) -> Iterator[Result | Done]:
        """Do some work with each plan, within ``seconds``; a :class:`Result` says why it could not be done."""
        with Alarm(seconds) as alarm:
            for plan in plans:
                yield self._timed(plan, work, alarm, seconds)

    def _timed(
        self, plan: str | Source, work: Callable[[Prepared], Done], alarm: Alarm, seconds: float
    ) -> Result | Done:
        """One plan within the limits; what goes wrong there is part of its result."""
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
            report = unjudged(name, late, headline=Headline.UNKNOWN)._replace(limits=("time",))
            return Result(name, report, (), {})
        except MemoryError:
            self._checkers.clear()
            limit = Diagnostic(SC.OUT_OF_MEMORY, "out of memory: the plan was not judged", help="raise --memory-limit")
            report = unjudged(name, limit, headline=Headline.UNKNOWN)._replace(limits=("memory",))
            return Result(name, report, (), {})
        except Exception:
            import traceback  # noqa: PLC0415 - for bugs alone

            from plansafe.app.system.terminal_text import escaped  # noqa: PLC0415 - where something is shown

            bug = Diagnostic(SC.INTERNAL_ERROR, "internal error: this is a bug in safecheck, not in the plan")
            return Result(name, unjudged(name, bug), (), {}, escaped(traceback.format_exc()))

    def audit(self, prepared: Prepared, *, confirm: bool = True) -> Result:
        """The verdict on a plan; without ``confirm`` before the kernel was asked."""
        return self.result(prepared, prepared.checker.check(prepared.plan, confirm=confirm))

    def result(self, prepared: Prepared, report: Report) -> Result:
        """A report with what it was made from, and with what must be said beside it."""
        report = cap_at_unknown(self._with_idle_rules(report), prepared.remarks)
        if self._settings.gate and not self._settings.allow_no_rules and report.safety is None:
            report = report._replace(diagnostics=(*report.diagnostics, no_rules(report.inapplicable)))
        text = prepared.inputs[0].source
        if prepared.plan.name != text.name:
            report = _placed(report, prepared, text.name)._replace(answer=self._settings.loose)
        if prepared.notes:
            report = report._replace(diagnostics=(*prepared.notes, *report.diagnostics))
        return Result(text.name, report, prepared.inputs, prepared.sources)

    def missing_rules(self, checker: Checker) -> Diagnostic | None:
        """The error of ``--gate`` if no applicable rule can decide; ``None`` if there is one, or without ``--gate``."""
        if not self._settings.gate or self._settings.allow_no_rules:
            return None
        may_decide = checker.options.question.may_decide
        rules = zip(checker.rules, checker.compiled.bindings, strict=True)
        deciding = [bindings for rule, bindings in rules if may_decide(rule.name, rule.severity)]
        return None if any(deciding) else no_rules(len(deciding))

    def prepare(self, given: str | Source) -> Prepared | Result:
        """Find and compile what a plan needs; a :class:`Result` says why there is none."""
        if isinstance(given, Source):
            plan: Input | Diagnostic = Input("plan", given.name, "given", given)
        else:
            within = self._settings.folders if self._settings.gate else None
            plan = self._discovery.read(given, "plan", "given", keep=False, within=within)
        if isinstance(plan, Diagnostic):
            if isinstance(given, str) and os.path.isdir(given):
                plan = Diagnostic(SC.NOT_A_PLAN, f"no plan in the folder {given}", help="name the plan file itself")
            name = given if isinstance(given, str) else given.name
            return Result(name, unjudged(name, plan), (), {})
        home = self._home()
        if home is not None and not isinstance(home, Input):
            sources = {plan.source.name: plan.source, **self._home_sources}
            return Result(plan.source.name, unjudged(plan.source.name, *home), (plan,), sources)
        if self._settings.world is not None:
            return self._of_world(plan, self._settings.wanted is None)
        name = plan.source.name
        said = heading(plan.source.text)
        if said.kind in (Kind.DOMAIN, Kind.PROBLEM, Kind.SAFETY, Kind.MAPPING):
            wrong = _not_a_plan(name, said.kind)
            return Result(name, unjudged(name, wrong), (plan,), {name: plan.source})
        found = self._discovery.find(plan, said)
        every = (plan, *self._project(), found.domain, found.problem, *found.specs)
        used = tuple(i for i in every if i is not None)
        sources = {i.source.name: i.source for i in used}
        if found.domain is None or found.problem is None or found.diagnostics:
            return Result(name, unjudged(name, *found.diagnostics), used, sources)
        problem = found.problem
        if self._settings.wanted is not None:
            problem = _wanting(problem, self._settings.wanted)
            used = tuple([problem if one is found.problem else one for one in used])
            sources[problem.source.name] = problem.source
        entries, remarks = self._allowed(plan.source)
        if any(d.severity is Severity.ERROR for d in remarks):
            return Result(name, unjudged(name, *remarks), used, sources)
        checker, extended = self._checker(found, found.domain, problem, plan.source, entries)
        used = (*used, *extended)
        sources = {**sources, **{i.source.name: i.source for i in extended}}
        if not checker.ok:
            sources = {**checker.sources, **sources}
            return Result(name, unjudged(name, *checker.diagnostics), used, sources)
        prepared = Prepared(plan.source, checker, used, sources, remarks)
        return self._understood(prepared) if self._settings.loose else prepared

    def wanting(self, goal: str) -> Session:
        """The same for another goal (``Settings.wanted``). Files are not read again, tasks are compiled anew."""
        other = Session(self._settings._replace(wanted=goal))
        other._discovery = self._discovery
        return other

    def written(self) -> Session:
        """The same for plans that are there, each with the problem that is found for it."""
        return Session(self._settings._replace(wanted=None, problem=None))

    def _project(self) -> tuple[Input, ...]:
        """The project file and the profile of a home, as inputs."""
        project, home = self._settings.project, self._home()
        homes = (home,) if isinstance(home, Input) else ()
        if project is None:
            return homes
        how = "in the current folder" if os.path.dirname(project.path) == "" else "above the current folder"
        found = self._discovery.read(project.path, "project", how)
        return (found, *homes) if isinstance(found, Input) else homes

    def _home(self) -> Input | list[Diagnostic] | None:
        """The profile of a home, read once; diagnostics say why there is none."""
        path = self._settings.home
        if path is None:
            self._choose()
            return None
        found = self._discovery.read(path, "home", "--home or the project file")
        if isinstance(found, Diagnostic):
            return [found]
        if self._settings.profile is None:
            from plansafe.app.project.home_profile import read_home  # noqa: PLC0415 - where there is one

            read = read_home(found.source)
            self._home_sources = {found.source.name: found.source}
            if read.profile is None:
                return list(read.diagnostics)
            self._settings = self._settings._replace(profile=read.profile)
        self._choose()
        return found

    def _choose(self) -> None:
        """Add the rules that are ignored or selected, and the kinds of classes, to the profile."""
        if self._settings.ignore or self._settings.select or self._settings.classes:
            from plansafe.app.session.rule_choices import with_choices  # noqa: PLC0415 - where there is something to choose

            self._settings = self._settings._replace(profile=with_choices(self._settings.profile, self._settings, ()))

    def _allowed(self, plan: Source) -> tuple[tuple[Entry, ...], tuple[Diagnostic, ...]]:
        """What comments of a plan in PDDL allow, and what is said about them."""
        if self._settings.loose or ";" not in plan.text or "safecheck" not in plan.text.lower():
            return (), ()
        from plansafe.app.session.rule_choices import allowed  # noqa: PLC0415 - where a plan says so

        return allowed(plan, self._settings)

    def _of_world(self, plan: Input, written: bool = True) -> Prepared | Result:
        """Prepare a plan in the format of another world."""
        if self._foreign is None:
            from plansafe.app.session.home_world import Foreign  # noqa: PLC0415 - not needed for PDDL

            self._foreign = Foreign(self._settings, self._discovery)
        return _with_project(self._foreign.prepare(plan, written), self._project())

    def reference(self, path: str, prepared: Prepared) -> Source | tuple[Diagnostic, ...]:
        """Read another plan of the same task, written in the same manner; diagnostics say why there is none."""
        found = self._discovery.read(path, "plan", "--reference")
        if isinstance(found, Diagnostic):
            return (found,)
        read = None
        if self._settings.world is not None:
            read = self._of_world(found)
        elif self._settings.loose:
            read = self._understood(prepared._replace(plan=found.source))
        if isinstance(read, Prepared) and read.remarks:
            return tuple([remark._replace(severity=Severity.ERROR) for remark in read.remarks])
        if isinstance(read, Result):
            return tuple([d for d in read.report.diagnostics if d.severity is Severity.ERROR])
        plan = found.source if read is None else read.plan
        return prepared.checker.read(plan).text.diagnostics or plan

    def _understood(self, prepared: Prepared) -> Prepared | Result:
        """A plan in loose text as a plan in PDDL."""
        from plansafe.llm.loose.candidates import accepted  # noqa: PLC0415 - not needed for PDDL
        from plansafe.llm.loose.reader import read_loose  # noqa: PLC0415 - not needed for PDDL

        said = read_loose(prepared.plan, prepared.checker)
        if said.plan is None:
            report = unjudged(prepared.plan.name, *said.notes, *said.diagnostics)
            return Result(prepared.plan.name, report, prepared.inputs, prepared.sources)
        notes = (*said.notes, *said.diagnostics)
        places = tuple([step.span for step in said.steps])
        prepared = prepared._replace(plan=said.plan, notes=notes, places=places)
        if self._settings.accept_remarks:
            return prepared._replace(notes=(*notes, *map(accepted, said.remarks)))
        return prepared._replace(remarks=said.remarks)

    def _checker(
        self, found: Inputs, domain: Input, problem: Input, plan: Source, entries: tuple[Entry, ...]
    ) -> tuple[Checker, tuple[Input, ...]]:
        """Compile, or take what was compiled before; with it come the specifications that others extend."""
        key = (domain.path, problem.path, *(spec.path for spec in found.specs))
        settings = self._settings
        if entries:  # of this plan alone
            from plansafe.app.session.rule_choices import with_choices  # noqa: PLC0415 - where a plan says so

            key = (*key, plan.name, plan.text)
            settings = settings._replace(profile=with_choices(settings.profile, settings, entries, plan))
        known = self._checkers.get(key)
        if known is not None:
            return known
        while len(self._checkers) >= _CHECKERS_KEPT:
            del self._checkers[next(iter(self._checkers))]
        specs = [spec.source for spec in found.specs]
        self._checkers[key] = compiled(self._discovery, domain.source, problem.source, specs, settings)
        return self._checkers[key]

    def _with_idle_rules(self, report: Report) -> Report:
        """Say it aloud when no rule had anything to check: such a specification must not look like safety."""
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
            narrow = report.decided.question._replace(judge=EVERY_VIOLATION.judge) != EVERY_VIOLATION
            which = "that can decide " if narrow else ""
            text = f"no rule {which}ever applied: the plan was not checked for safety"
            idle = Diagnostic(SC.RULE_NEVER_APPLIED, text, notes=notes, help=advice, severity=Severity.WARNING)
        return report._replace(diagnostics=(*report.diagnostics, idle))


def _wanting(problem: Input, goal: str) -> Input:
    """A problem with another goal."""
    from plansafe.app.session.goal_text import with_goal  # noqa: PLC0415 - where a plan is to be written

    return problem._replace(
        source=with_goal(problem.source, goal), how=f"{problem.how}, with another goal" if goal else problem.how
    )


def _with_project(done: Prepared | Result, project: tuple[Input, ...]) -> Prepared | Result:
    """Add the project file to the inputs, behind the plan."""
    if not project:
        return done
    sources = {**done.sources, **{i.source.name: i.source for i in project}}
    return done._replace(inputs=(*done.inputs[:1], *project, *done.inputs[1:]), sources=sources)


def _placed(report: Report, prepared: Prepared, name: str) -> Report:
    """A report on what was understood of a loose text, with places in that text."""
    from plansafe.grammar.plan_text import read_plan  # noqa: PLC0415 - loaded by now

    read = [step.span for step in read_plan(prepared.plan).steps]
    starts = [span.start for span in read]

    def place(span: Span) -> Span | None:
        """The place of the step that a span lies in; an ill-formed step is shown by the word that is wrong with it."""
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
    exempted = tuple([e._replace(findings=tuple(map(placed, e.findings))) for e in report.decided.exempted])
    report = report._replace(decided=report.decided._replace(exempted=exempted))
    diagnostics = [d._replace(labels=tuple([moved(label) for label in d.labels])) for d in report.diagnostics]
    return report._replace(plan=name, findings=tuple(findings), diagnostics=tuple(diagnostics))


def _not_a_plan(name: str, kind: Kind) -> Diagnostic:
    what = "safety specification" if kind is Kind.SAFETY else kind.value
    flag = {Kind.DOMAIN: "--domain", Kind.PROBLEM: "--problem"}.get(kind, "--spec")
    return Diagnostic(SC.NOT_A_PLAN, f"{name} is a {what}, not a plan", help=f"safecheck PLAN {flag} {name}")


def usage_problem(settings: Settings, spelling: Callable[[str], str] = flag_of) -> Diagnostic | None:
    """Say what is wrong with settings that no type can express; ``None`` if nothing is.

    ``spelling`` is the name of an option in the interface of the user.
    """

    def wrong(message: str, advice: str | None = None) -> Diagnostic:
        return Diagnostic(SC.BAD_OPTION, message, help=advice)

    if _NUMBER.match(settings.tolerance) is None:
        return wrong(f"{spelling('tolerance')} takes a number such as 0.001, not {settings.tolerance!a}")
    world, loose = spelling("world"), f"{spelling('reading')} text"
    if settings.world is None and (settings.scene or settings.goal or settings.task):
        files = f"{spelling('scene')}, {spelling('goal')} and {spelling('task')}"
        return wrong(f"{files} need {world}", f"name the world that the file belongs to, such as {world} virtualhome")
    if settings.accept_remarks and not settings.loose:
        return wrong(f"{spelling('accept_remarks')} needs {loose}", "plan files have no remarks; leave it out")
    if settings.world is not None and settings.loose:
        return wrong(f"{world} says how plans are written; {loose} says otherwise", "leave one out")
    if settings.certificate and (settings.ignore or settings.select or settings.classes):
        choices = [spelling(name) for name in ("ignore_rules", "select_rules", "kinds", "assume_harmless")]
        message = f"{spelling('certificate')} goes with none of {', '.join(choices[:-1])} and {choices[-1]}"
        home = f"{spelling('home')} FILE"
        return wrong(message, f"write it in the profile of a home, which --verify-certificate takes as well: {home}")
    if not math.isfinite(settings.time_limit) or settings.time_limit < 0:
        return wrong(f"{spelling('time_limit')} takes a number of seconds")
    return None
