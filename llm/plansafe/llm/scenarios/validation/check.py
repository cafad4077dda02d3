"""Which criteria a scenario meets: the criteria one after the other, each with its reason (docs/scenarios.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from plansafe.domains.objects import add_kinds
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.sexpr import find_syntax_errors
from plansafe.grammar.source import Source
from plansafe.llm.scenarios.validation.drafts import Draft
from plansafe.llm.scenarios.validation.merge import United, alone, unite
from plansafe.llm.scenarios.validation.model import (
    ACTIONS,
    CODES,
    CONTRAST,
    CRITERIA,
    DECLARED,
    REFERENCES,
    SOLVABLE,
    STEPS,
    UNIQUE,
    Criterion,
    Limits,
    Profile,
    Scenario,
    ScenarioReport,
    Verdict,
    Witness,
)
from plansafe.llm.scenarios.validation.new_actions import Reach, malformed, unreachable
from plansafe.llm.scenarios.validation.searches import Searches
from plansafe.llm.scenarios.validation.ways import count_ways
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import Atom
from plansafe.verifier.planning.planner import Planner, PlanningResult, PlanningStatus
from plansafe.verifier.reporting.report import Headline, Worlds

Resolve = Callable[[str, Source], Source | None]


def check(
    scenario: Scenario,
    profile: Profile | None = None,
    limits: Limits | None = None,
    resolve: Resolve | None = None,
    planner: Planner | None = None,
    lenient_types: bool = False,
) -> ScenarioReport:
    """Judge a scenario by the criteria of a profile.

    ``resolve`` finds specifications that others extend. A scenario has a domain, a base, or both: else ``ValueError``.
    Mistakes in the texts are part of the report. ``limits`` bound each search: the whole takes a small multiple.
    """
    return Examination(scenario, profile or Profile(), limits or Limits(), resolve, planner, lenient_types).report()


class Examination:
    """One scenario, read and compiled. ``checker`` is ``None`` where a text cannot be read at all."""

    def __init__(
        self,
        scenario: Scenario,
        profile: Profile,
        limits: Limits,
        resolve: Resolve | None = None,
        planner: Planner | None = None,
        lenient_types: bool = False,
    ) -> None:
        if scenario.domain is None and scenario.base is None:
            raise ValueError("a scenario needs a domain or a base")
        self.scenario = scenario
        self.profile = profile
        self.limits = limits
        self.planner = planner
        texts = (scenario.base, scenario.domain, scenario.problem, *scenario.specs, *scenario.plans)
        self.sources: dict[str, Source] = {source.name: source for source in texts if source is not None}
        self.unreadable: list[Diagnostic] = []
        self.united: United | None = self._unite()
        self.checker: Checker | None = None
        if self.united is not None:
            options = Options(lenient_types=lenient_types)
            specs = add_kinds(self.united.source, scenario.problem, scenario.specs)
            self.checker = Checker(self.united.source, scenario.problem, specs, options, resolve)
            self.sources |= {name: s for name, s in self.checker.sources.items() if name != self.united.source.name}
            self.sources.setdefault(self.united.source.name, self.united.source)
        self._reach: Reach | None = None

    def _unite(self) -> United | None:
        base = Draft(self.scenario.base, editable=False) if self.scenario.base is not None else None
        extension = Draft(self.scenario.domain) if self.scenario.domain is not None else None
        if base is None:
            assert extension is not None
            return alone(extension)
        for draft in (base, extension):
            if draft is not None and (draft.top is None or not _is_domain(draft)):
                self.unreadable += find_syntax_errors(draft.source) or [_no_domain(draft)]
        if self.unreadable:
            return None
        return unite(base, extension)

    # -- the whole ----------------------------------------------------------------------------------------------------

    def report(self) -> ScenarioReport:
        """All criteria of the profile."""
        result: dict[str, Criterion] = {}
        expected = [name for name in CRITERIA if name in self.profile.criteria]
        declared = self.declared()
        searches: Searches | None = None
        blocked = "" if declared.verdict is Verdict.YES else f"only after `{DECLARED}` is met"
        if not blocked:
            assert self.checker is not None
            if not self.checker.is_stepwise:
                reason = self.checker.compiled.explain_refusal("the search for plans")
                blocked = "something is left open" if reason is None else reason.message
            else:
                plans = self.scenario.plans
                searches = Searches(self.checker, self.profile, self.limits, self.planner, plans)
                if UNIQUE in expected:  # the shortest plan is needed anyway, and also answers other questions
                    searches.plan(searches.guarded, shortest=True)
        for name in expected:
            if name == DECLARED:
                result[name] = declared
            elif name == ACTIONS and declared.verdict is Verdict.YES:
                result[name] = self.actions()
            elif name == REFERENCES and declared.verdict is Verdict.YES:
                result[name] = self.references()
            elif searches is None:
                result[name] = Criterion(name, Verdict.SKIPPED, blocked)
            else:
                result[name] = self._searched(name, searches)
        return ScenarioReport(self.scenario.name, self.profile, tuple(result.values()), self.sources, self._notes())

    def _searched(self, name: str, searches: Searches) -> Criterion:
        judge = {SOLVABLE: self.solvable, CONTRAST: self.contrast, STEPS: self.steps, UNIQUE: self.unique}
        return judge[name](searches)

    def _notes(self) -> tuple[Diagnostic, ...]:
        if self.checker is None or self.united is None:
            return ()
        return tuple([self.united.diagnostic(d) for d in self.checker.diagnostics if d.severity is not Severity.ERROR])

    # -- declarations and actions -------------------------------------------------------------------------------------

    def declared(self) -> Criterion:
        """Whether the texts can be read, and every name is declared and used as declared."""
        wrong = list(self.unreadable)
        if self.checker is not None and self.united is not None:
            errors = [d for d in self.checker.diagnostics if d.severity is Severity.ERROR]
            wrong += [self.united.diagnostic(d) for d in errors]
        if not wrong:
            return Criterion(DECLARED, Verdict.YES, "every name is declared, and used as declared")
        reason = f"{_count(len(wrong), 'mistake')}: {wrong[0].message}"
        return Criterion(DECLARED, Verdict.NO, reason, tuple(wrong), figures={"mistakes": len(wrong)})

    def actions(self) -> Criterion:
        """Whether the actions are well-formed, do not redefine the base, and can be taken."""
        checker, united = self.checker, self.united
        assert checker is not None
        assert united is not None
        with_base = self.scenario.base is not None
        names = list(united.new_actions if with_base else checker.engine.task.actions)
        wrong = [*united.redefined, *malformed(checker, names)]
        unknown = ""
        if with_base and checker.is_stepwise:
            try:
                wrong += unreachable(checker, names, self.reach())
            except LimitReached:
                unknown = "there are too many new actions to check whether they can be taken"
        wrong = [united.diagnostic(d) for d in wrong]
        figures = {"actions": len(names), "wrong": len(wrong)}
        if wrong:
            return Criterion(ACTIONS, Verdict.NO, _first(wrong), tuple(wrong), figures=figures)
        if unknown:
            return Criterion(ACTIONS, Verdict.UNKNOWN, unknown, figures=figures)
        if not names:
            return Criterion(ACTIONS, Verdict.YES, "there is no new action", figures=figures)
        subject = f"{_count(len(names), 'new action' if with_base else 'action')}, well-formed"
        subject += " and reachable if nothing is deleted" if with_base else ""
        return Criterion(ACTIONS, Verdict.YES, subject, figures=figures)

    def reach(self) -> Reach:
        """The facts that are reachable without deletes. Raises ``LimitReached``."""
        assert self.checker is not None
        if self._reach is None:
            self._reach = Reach(self.checker.engine)
        return self._reach

    # -- plans --------------------------------------------------------------------------------------------------------

    def solvable(self, searches: Searches) -> Criterion:
        """Whether some plan reaches the goal."""
        result = searches.plan(False)
        if result.status is PlanningStatus.SOLVED:
            witness = searches.witness("reaches the goal", result.steps)
            reason = f"a plan of {_count(len(result.steps), 'step')} reaches the goal"
            return Criterion(SOLVABLE, Verdict.YES, reason, witnesses=(witness,), figures={"steps": len(result.steps)})
        if result.status is PlanningStatus.UNSOLVABLE:
            why = self._out_of_reach() or f"{result.planner or 'the search'}: {result.detail}"
            reason = f"PROVED: no plan reaches the goal ({why})"
            return Criterion(SOLVABLE, Verdict.NO, reason, (self._at_goal(SOLVABLE, reason),))
        return Criterion(SOLVABLE, Verdict.UNKNOWN, _not_found(result, "plan"))

    def _out_of_reach(self) -> str:
        try:
            missing = self.reach().missing()
        except LimitReached:
            return ""
        if not missing:
            return ""
        names = ", ".join([self._fact(atom) for atom in missing[:3]])
        return f"{names}{' ..' if len(missing) > 3 else ''} unreachable even if nothing is ever deleted"

    def _fact(self, atom: Atom) -> str:
        assert self.checker is not None
        task = self.checker.engine.task
        return f"`{task.fact_text(atom.predicate, task.encode(atom.arguments))}`"

    def contrast(self, searches: Searches) -> Criterion:
        """Whether the goal can be reached in a safe way and in an unsafe one."""
        if not searches.has_rules:
            missing = "no rule of the specification applies" if self.scenario.specs else "there are no specifications"
            return Criterion(CONTRAST, Verdict.SKIPPED, missing)
        if searches.plan(False).status is PlanningStatus.UNSOLVABLE:
            return Criterion(CONTRAST, Verdict.SKIPPED, "no plan reaches the goal")
        safe, unsafe = searches.plan(True), searches.unsafe()
        malicious = self.profile.malicious
        witnesses: list[Witness] = []
        good: list[str] = []
        bad: list[str] = []
        open_: list[str] = []
        for result, subject, expected in ((safe, "safe", not malicious), (unsafe, "unsafe", True)):
            if result.status is PlanningStatus.SOLVED:
                witnesses.append(searches.witness(f"the {subject} way", result.steps))
                (good if expected else bad).append(f"a plan of {_count(len(result.steps), 'step')} is {subject}")
            elif result.status is PlanningStatus.UNSOLVABLE:
                (bad if expected else good).append(f"PROVED: no plan to the goal is {subject} ({result.detail})")
            else:
                open_.append(_not_found(result, f"{subject} plan"))
        verdict = Verdict.NO if bad else Verdict.UNKNOWN if open_ else Verdict.YES
        reason = "; ".join([*bad, *open_, *good])
        places = (self._at_goal(CONTRAST, reason),) if bad else ()
        return Criterion(CONTRAST, verdict, reason, places, tuple(witnesses))

    def steps(self, searches: Searches) -> Criterion:
        """Whether every admissible plan is long enough."""
        least = self.profile.min_steps
        result = searches.plan(searches.guarded)
        if result.status is PlanningStatus.UNSOLVABLE:
            return Criterion(STEPS, Verdict.SKIPPED, f"there is no {_admissible(searches)} plan")
        high = len(result.steps) if result.status is PlanningStatus.SOLVED else None
        low = len(result.steps) if result.optimal else searches.bound()
        if (high is None or high >= least) and low < least:  # only the shortest plan can tell
            shortest = searches.plan(searches.guarded, shortest=True)
            if shortest.status is PlanningStatus.SOLVED and (
                high is None or len(shortest.steps) <= high or shortest.optimal
            ):
                result, high = shortest, len(shortest.steps)
                low = high if shortest.optimal else low
        figures: dict[str, object] = {"at_least": low, "at_most": high, "wanted": least}
        subject = f"the shortest {_admissible(searches)} plan"
        if high is not None and low == high:
            reason = f"{subject} has {_count(high, 'step')}, proved"
        elif high is not None:
            reason = f"{subject} has at least {low} and at most {_count(high, 'step')}"
        else:
            reason = f"{subject} has at least {_count(low, 'step')}; none was found"
        if high is not None and high < least:
            reason += f": fewer than {least}"
            witness = searches.witness("a short way", result.steps)
            return Criterion(STEPS, Verdict.NO, reason, (self._at_goal(STEPS, reason),), (witness,), figures)
        verdict = Verdict.YES if low >= least else Verdict.UNKNOWN
        return Criterion(STEPS, verdict, reason, figures=figures)

    def unique(self, searches: Searches) -> Criterion:
        """Whether there is one way to the goal."""
        result = searches.plan(searches.guarded, shortest=True)
        if result.status is PlanningStatus.UNSOLVABLE:
            return Criterion(UNIQUE, Verdict.SKIPPED, f"there is no {_admissible(searches)} plan")
        if result.status is not PlanningStatus.SOLVED:
            return Criterion(UNIQUE, Verdict.UNKNOWN, _not_found(result, f"{_admissible(searches)} plan"))
        assert self.checker is not None
        cap = max(self.limits.ways, self.profile.max_ways + 1) if result.optimal else 0
        ways = count_ways(self.checker.engine, result.steps, searches.guarded, self.limits.time_s, cap)
        witnesses = [searches.witness("one way", result.steps)]
        if ways.second is not None:
            witnesses.append(searches.witness("another way", ways.second))
        figures: dict[str, object] = {
            "length": len(result.steps),
            "shortest": result.optimal,
            "ways": ways.ways,
            "sequences": ways.sequences,
            "complete": ways.complete,
        }
        length = _count(len(result.steps), "step")
        if not result.optimal:
            reason = f"{length} is not proved to be the minimum, so the shortest plans cannot be counted"
            if ways.second is not None:
                reason += "; two plans of that length go different ways"
            return Criterion(UNIQUE, Verdict.UNKNOWN, reason, (), tuple(witnesses), figures)
        least = "" if ways.complete else "at least "
        counted = f"{least}{_count(ways.ways, 'way')} of {length} to the goal"
        if ways.complete or ways.sequences > ways.ways:
            counted += f" ({least}{_count(ways.sequences, 'sequence')} of steps)"
        if ways.ways > self.profile.max_ways:
            places = (self._at_goal(UNIQUE, counted),)
            return Criterion(UNIQUE, Verdict.NO, counted, places, tuple(witnesses), figures)
        if not ways.complete:
            counted += ": the limit has passed"
        verdict = Verdict.YES if ways.complete else Verdict.UNKNOWN
        return Criterion(UNIQUE, verdict, counted, (), tuple(witnesses[:1]), figures)

    def references(self) -> Criterion:
        """Whether the reference plans can be executed and reach the goal."""
        assert self.checker is not None
        if not self.scenario.plans:
            return Criterion(REFERENCES, Verdict.SKIPPED, "there is no reference plan")
        wrong: list[Diagnostic] = []
        unknown = 0
        for plan in self.scenario.plans:
            report = self.checker.check(plan)
            if report.headline is None or report.headline is Headline.INVALID:
                result = [f for f in report.findings if not f.rule]
                cause = (
                    result[0].message if result else next((d.message for d in report.diagnostics), "it cannot be read")
                )
                span = result[0].span if result and result[0].span is not None else Span(0, 1)
                message = f"the reference plan {plan.name} does not reach the goal: {cause}"
                wrong.append(Diagnostic(CODES[REFERENCES], message, (Label(plan.name, span, "here"),)))
            elif report.executable is not Worlds.ALL or report.goal is not Worlds.ALL:
                unknown += 1
        if wrong:
            return Criterion(REFERENCES, Verdict.NO, _first(wrong), tuple(wrong))
        if unknown:
            reason = f"{_count(unknown, 'reference plan')} could not be checked"
            return Criterion(REFERENCES, Verdict.UNKNOWN, reason)
        return Criterion(REFERENCES, Verdict.YES, f"{_count(len(self.scenario.plans), 'reference plan')} to the goal")

    def _at_goal(self, name: str, message: str) -> Diagnostic:
        """A diagnostic at the goal."""
        draft = Draft(self.scenario.problem)
        sections = draft.sections(":goal")
        labels = (Label(draft.name, draft.span(sections[0]), "this goal"),) if sections else ()
        return Diagnostic(CODES[name], message, labels)


def _is_domain(draft: Draft) -> bool:
    head = draft.form[1] if len(draft.form) > 1 else None
    return isinstance(head, list) and bool(head) and head[0] == "domain"


def _no_domain(draft: Draft) -> Diagnostic:
    label = Label(draft.name, Span(0, min(1, len(draft.text))), "expected `(define (domain name) ..)`")
    return Diagnostic(SC.STRUCTURE, f"{draft.name} is not a domain", (label,))


def _admissible(searches: Searches) -> str:
    return "safe" if searches.guarded else "admissible" if searches.has_rules else "valid"


def _not_found(result: PlanningResult, subject: str) -> str:
    return f"NOT FOUND: no {subject} ({result.detail or 'no reason was given'})"


def _first(wrong: Sequence[Diagnostic]) -> str:
    return wrong[0].message + (f", and {len(wrong) - 1} more" if len(wrong) > 1 else "")


def _count(number: int, subject: str) -> str:
    return f"{number:,} {subject}{'' if number == 1 else 's'}"
