"""Dangers of the initial state that the agent can end, as obligations of the plan (docs/language.md, section 6)."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.sexpr import quote_text
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.replay import HALT, LetterRecorder, Replay
from plansafe.verifier.model.nodes import Formula, Temporal, bind
from plansafe.verifier.model.operations import mentions, subformulas, substitute
from plansafe.verifier.model.printing import Printer
from plansafe.verifier.repair.api import repair
from plansafe.verifier.repair.model import RepairOptions, RepairStatus
from plansafe.verifier.reporting.report import Headline, Report, cap_at_unknown
from plansafe.verifier.rules.model import Rule, RulePart
from plansafe.verifier.rules.verdict_criteria import MITIGATE

SPECIFICATION_NAME = "mitigation.safe (generated)"
"""The name of the generated specification."""
MAX_WORK = 4_000
"""Search operations for one danger."""
MAX_DANGERS = 50
"""Dangers that are searched; further ones are undecided."""


class Danger(NamedTuple):
    """A state rule that is violated in the initial state: the rule, its objects, and the condition that must hold."""

    rule: Rule
    objects: tuple[str, ...]
    condition: Formula

    @property
    def text(self) -> str:
        """The rule and its objects."""
        return f"`{self.rule.name}`" + (f" for {', '.join(self.objects)}" if self.objects else "")


class MitigatingChecker(Checker):
    """A checker whose rules demand that the plan ends the dangers that the agent can end.

    ``strict_checker`` also demands that it ends the dangers for which that is undecided; ``None`` if there are none.
    ``has_unknown_dangers``: the initial state has unknown facts, or time is continuous; then dangers are undecided.
    """

    strict_checker: Checker | None = None
    undecided_dangers: tuple[Danger, ...] = ()
    has_unknown_dangers = False

    def check(self, plan: Source, *, confirm: bool = True, recorder: LetterRecorder | None = None) -> Report:
        """Return the verdict on one plan; UNKNOWN if it leaves a danger that the agent can perhaps end."""
        report = super().check(plan, confirm=confirm, recorder=recorder)
        if report.headline not in (Headline.SAFE, Headline.VALID):
            return report
        if self.has_unknown_dangers:
            is_continuous = self.engine.task.is_continuous
            task = "a task in continuous time" if is_continuous else "an initial state with unknown facts"
            text = f"--judge mitigate: the dangers of {task} are not decided"
        elif (
            self.strict_checker is not None
            and self.strict_checker.check(plan, confirm=False).headline is Headline.UNSAFE
        ):
            dangers = "; ".join([danger.text for danger in self.undecided_dangers])
            text = f"it is undecided whether the agent can end a danger that the plan leaves: {dangers}"
        else:
            return report
        warning = Diagnostic(SC.UNDECIDED_DANGER, text, severity=Severity.WARNING)
        report = cap_at_unknown(report, (warning,), safety_alone=True)
        return report._replace(limits=(*report.limits, "dangers of the initial state are undecided"))


def with_mitigation(checker: Checker) -> Checker:
    """Add the obligations of ``--judge mitigate`` to a checker; other checkers are returned as they are."""
    if not checker.ok or checker.options.judge != MITIGATE:
        return checker
    if not checker.is_stepwise:
        mitigating_checker = MitigatingChecker.from_compiled(checker.compiled)
        assert isinstance(mitigating_checker, MitigatingChecker)
        mitigating_checker.has_unknown_dangers = True
        return mitigating_checker
    removable_dangers: list[Danger] = []
    undecided_dangers: list[Danger] = []
    for number, danger in enumerate(find_dangers(checker)):
        is_removable = can_agent_end(checker, danger) if number < MAX_DANGERS else None
        if is_removable is None:
            undecided_dangers.append(danger)
        elif is_removable:
            removable_dangers.append(danger)
    mitigating_checker = _compile(checker, removable_dangers)
    if undecided_dangers:
        mitigating_checker.undecided_dangers = tuple(undecided_dangers)
        mitigating_checker.strict_checker = _compile(checker, [*removable_dangers, *undecided_dangers])
    return mitigating_checker


def find_dangers(checker: Checker) -> list[Danger]:
    """Find the decisive state rules that are violated in the initial state, each for its objects.

    A state rule is a process rule without a step, or a termination rule, whose formula has no temporal operator and no
    action.
    """
    engine, criteria = checker.engine, checker.options.criteria
    run = Replay(engine, HALT)
    run.run_steps([])
    dangers: dict[tuple[int, tuple[int, ...]], Danger] = {}
    for violation in run.finish(0).violations:
        part = engine.rule_set.parts[violation.part]
        rule = engine.rules[part.rule]
        objects = tuple(engine.task.names(violation.binding))
        if not criteria.includes_rule(rule) or criteria.find_exemption(rule.name, objects) is not None:
            continue
        if _is_state_rule(checker, part):
            condition = substitute(part.body, bind(part.parameters, violation.binding))
            danger = Danger(rule, objects, condition)
            dangers.setdefault((violation.part, tuple(violation.binding)), danger)
    return list(dangers.values())


def _is_state_rule(checker: Checker, part: RulePart) -> bool:
    if part.mode not in ("always", "end") or part.step is not None or part.guard is not None:
        return False
    actions = frozenset(checker.engine.action_predicates.values())
    return not mentions(part.body, actions) and not any([isinstance(f, Temporal) for f in subformulas(part.body)])


def can_agent_end(checker: Checker, danger: Danger, max_work: int = MAX_WORK) -> bool | None:
    """Whether some plan ends a danger and causes no violation; ``None`` if the search ended at its limit."""
    task = checker.engine.task._replace(goal=(danger.condition,))
    checker_with_goal = Checker.from_compiled(checker.compiled.make_variant(task))
    options = RepairOptions(max_work=max_work, time_limit_s=None, max_repairs=1)
    status = repair(checker_with_goal, Source("mitigation.plan", ""), options).status
    if status in (RepairStatus.FOUND, RepairStatus.ALREADY_SAFE):
        return True
    return False if status is RepairStatus.PROVED_NONE else None


def _compile(checker: Checker, dangers: list[Danger]) -> MitigatingChecker:
    """Compile a task with the obligations to end these dangers."""
    compiled = checker.compiled
    specs = list(compiled.specs)
    if dangers:
        specs.append(write_obligations(checker, dangers))
    mitigating_checker = MitigatingChecker(compiled.domain, compiled.problem, specs, compiled.options, compiled.resolve)
    assert mitigating_checker.ok, mitigating_checker.diagnostics
    return mitigating_checker


def write_obligations(checker: Checker, dangers: list[Danger]) -> Source:
    """Write a specification that demands that these dangers have ended when the plan ends."""
    printer = Printer(checker.engine.task)
    used_names = {rule.name for rule in checker.rules}
    lines = []
    for danger in dangers:
        rule = danger.rule
        name, number = f"mitigate-{rule.name}", 1
        while name in used_names:
            number += 1
            name = f"mitigate-{rule.name}-{number}"
        used_names.add(name)
        objects = f" ({', '.join(danger.objects)})" if danger.objects else ""
        texts = {
            ":message": f"{rule.name}{objects} is violated from the start to the end, and the agent can end it",
            ":rationale": rule.rationale,
            ":fix": rule.fix,
        }
        metadata = [f":hazard {rule.hazard}"] if rule.hazard else []
        metadata += [f":target ({' '.join(rule.targets)})"] if rule.targets else []
        metadata += [f":severity {rule.severity}"]
        for key, text in texts.items():
            if text:  # a brace in a message would be read as the name of a parameter
                metadata.append(f"{key} {quote_text(text.replace('{', '(').replace('}', ')'))}")
        formula = printer.format_formula(danger.condition)
        lines.append(f"  (:trajectory {name} :formula (at end {formula})\n    {' '.join(metadata)})")
    return Source(SPECIFICATION_NAME, "(define (safety mitigation)\n" + "\n".join(lines) + ")\n")
