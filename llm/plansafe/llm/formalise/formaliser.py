"""One sentence to one rule: ask, read, group, count, and show the rule with the most votes.

A plan that breaks a rule and one that keeps it, in a given problem: few steps, each judged by the checker.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.source import Source
from plansafe.llm.formalise.asking import FormaliseOptions, Limits, once_more, question
from plansafe.llm.formalise.grouping import grouped
from plansafe.llm.formalise.in_words import in_words
from plansafe.llm.formalise.model import Formalised, Group, RuleExample, Sample, Status
from plansafe.llm.formalise.reading import ANSWER, compiled_with, inexpressible, read_answer
from plansafe.llm.models.answer import Answer
from plansafe.llm.models.batch import Failure, ask_all
from plansafe.llm.models.cache import Cache
from plansafe.llm.models.port import Model, ModelError
from plansafe.llm.models.request import Request
from plansafe.llm.prompts.formalising import Language, one_line
from plansafe.specs.lint.api import lint
from plansafe.specs.lint.lint_problem import LintProblem
from plansafe.specs.lint.model import LintOptions
from plansafe.specs.lint.trace_search import find_satisfying_plan
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.steps import GroundAction, step_text
from plansafe.verifier.planning.planner import PlanningStatus
from plansafe.verifier.repair.api import repair
from plansafe.verifier.repair.model import RepairOptions, Weights
from plansafe.verifier.reporting.report import Headline
from plansafe.verifier.symbolic.circuits.solvers import SolverMissing

_USELESS = (SC.RULE_NEVER_VIOLATED, SC.RULE_NEVER_SATISFIED)
"""A rule with such a proof of the linter gets no vote."""
_MOST_TIED = 3


def formalise(
    sentence: str, compiled: CompiledTask, model: Model, wishes: FormaliseOptions, cache: Cache | None = None
) -> Formalised:
    """Turn one sentence into a rule. ``compiled`` is the task in which rules are tried; it leaves nothing open.

    Raises :class:`plansafe.llm.models.port.ModelError` where the model gives no answer.
    """
    line = one_line(sentence)
    refused = inexpressible(line, compiled) if wishes.check else None
    if refused is not None:
        return Formalised(line, Status.REFUSED, (), (), outcome=refused)
    return decided(line, compiled, _samples(line, compiled, model, wishes, cache), wishes.limits)


def decided(sentence: str, compiled: CompiledTask, samples: Sequence[Sample], limits: Limits) -> Formalised:
    """Group the samples, and show the rule with the most votes, or those that tie."""
    groups, looked_at, linted, checked = _groups(compiled, samples, limits)
    votes = [group.votes for group in groups]
    declined = [sample.declined for sample in checked if sample.declined is not None]
    least = 1 if len(checked) == 1 else 2
    undecided = Formalised(sentence, Status.NONE, checked, groups, looked_at=looked_at)
    if len(declined) > max(votes, default=least - 1):
        return _with(undecided, Status.REFUSED, (), _declined(declined))
    if not groups:
        return _with(undecided, Status.NONE, (), _nothing(checked))
    leading = [group for group in groups if group.votes == votes[0]]
    alone = len(leading) == 1 and len(declined) < votes[0] and votes[0] >= least
    leading_examples = tuple(
        [_example_of(group.rule, compiled, limits, linted) for group in leading[: 1 if alone else _MOST_TIED]]
    )
    if alone:
        return _with(undecided, Status.FOUND, leading_examples, None)
    return _with(undecided, Status.TIED, leading_examples, _tied(len(checked), votes, len(declined)))


def _with(
    result: Formalised, status: Status, leading_examples: tuple[RuleExample, ...], outcome: Diagnostic | None
) -> Formalised:
    return Formalised(
        result.sentence, status, result.samples, result.groups, leading_examples, outcome, result.looked_at
    )


# -- samples ----------------------------------------------------------------------------------------------------------


def _samples(
    sentence: str, compiled: CompiledTask, model: Model, wishes: FormaliseOptions, cache: Cache | None
) -> list[Sample]:
    requests = [question(sentence, compiled, wishes, number) for number in range(wishes.samples)]
    samples = _ask(requests, compiled, model, wishes.language, cache)
    for _ in range(wishes.rounds - 1):
        again = [n for n, sample in enumerate(samples) if sample.wrong is not None]
        for n in again:
            wrong = samples[n].wrong
            assert wrong is not None
            requests[n] = once_more(requests[n], samples[n].text, wrong.message)
        for n, sample in zip(
            again, _ask([requests[n] for n in again], compiled, model, wishes.language, cache), strict=True
        ):
            samples[n] = sample
    return samples


def _ask(
    requests: list[Request], compiled: CompiledTask, model: Model, language: Language, cache: Cache | None
) -> list[Sample]:
    out = []
    sample_by_text: dict[str, Sample] = {}
    for answer in ask_all(model, requests, cache):
        if isinstance(answer, Failure):
            raise ModelError(answer.diagnostic)
        if answer.text not in sample_by_text:
            sample_by_text[answer.text] = read_sample(answer, compiled, language)
        out.append(sample_by_text[answer.text])
    return out


def read_sample(answer: Answer, compiled: CompiledTask, language: Language) -> Sample:
    """An answer as a sample."""
    answer_read = read_answer(answer.text, compiled, language)
    return Sample(answer.text, answer_read.rule, answer_read.declined, answer_read.wrong)


# -- groups -----------------------------------------------------------------------------------------------------------


def _groups(
    compiled: CompiledTask, samples: Sequence[Sample], limits: Limits
) -> tuple[tuple[Group, ...], str, dict[str, tuple[str, ...]], tuple[Sample, ...]]:
    """The groups, the most votes first; the examination; the linter's findings about rules; the samples after it."""
    rules = list(dict.fromkeys([sample.rule for sample in samples if sample.rule is not None]))
    linted: dict[str, tuple[str, ...]] = {}
    useless: dict[str, Diagnostic] = {}
    for rule in rules if limits.lint_s else []:
        linted[rule], wrong = _linted(rule, compiled, limits)
        if wrong is not None:
            useless[rule] = wrong
    checked = tuple(
        [Sample(s.text, wrong=useless[s.rule]) if s.rule is not None and s.rule in useless else s for s in samples]
    )
    rules = [rule for rule in rules if rule not in useless]
    if not rules:
        return (), "", linted, checked
    grouping = grouped(compiled_with(rules, compiled), limits)
    groups = []
    for alike in grouping.groups:
        rule_texts = {rules[number] for number in alike.rules}
        members = tuple([n for n, sample in enumerate(checked) if sample.rule in rule_texts])
        counted = Counter([checked[n].rule for n in members])
        text = max(rule_texts, key=lambda rule: (counted[rule], -len(rule), -rules.index(rule)))
        groups.append(Group(text, members, alike.proved, alike.how))
    return tuple(sorted(groups, key=lambda group: -group.votes)), grouping.looked_at, linted, checked


def _linted(rule: str, compiled: CompiledTask, limits: Limits) -> tuple[tuple[str, ...], Diagnostic | None]:
    """What the linter says of a rule in the problem, and the finding that makes it useless, if there is one."""
    spec = Source(ANSWER, f"(define (safety formalised)\n{rule})\n")
    options = LintOptions(compiled.options.lenient_types, limits.lint_s)
    try:
        lint_report = lint(compiled.domain, [compiled.problem], [spec], options)
    except SolverMissing:
        return ("not linted: no solver is installed",), None
    useless = next((fault.diagnostic for fault in lint_report.findings if fault.code in _USELESS), None)
    messages = [f"{f.code}: {f.message}" for f in lint_report.findings if f.severity is not Severity.NOTE]
    return tuple(messages), useless


def _example_of(rule: str, compiled: CompiledTask, limits: Limits, linted: dict[str, tuple[str, ...]]) -> RuleExample:
    plans = examples(compiled_with([rule], compiled), limits.planner_s)
    return RuleExample(
        in_words(rule),
        plans.breaking,
        plans.keeping,
        plans.why_not_breaking,
        plans.why_not_keeping,
        linted.get(rule, ()),
    )


# -- why there is none ------------------------------------------------------------------------------------------------


def _nothing(samples: Sequence[Sample]) -> Diagnostic:
    reasons = Counter([sample.wrong.message for sample in samples if sample.wrong is not None])
    notes = tuple([f"{count} of {len(samples)}: {message[:300]}" for message, count in reasons.most_common(5)])
    message = "no answer is a rule of this domain"
    return Diagnostic(SC.NOT_A_RULE, message, notes=notes, help="ask for more --samples, or ask another model")


def _declined(reasons: Sequence[str]) -> Diagnostic:
    notes = tuple([f"the model: {reason}" for reason in dict.fromkeys(reasons)])[:5]
    message = "most answers say that the domain has no names for this"
    return Diagnostic(SC.NOT_EXPRESSIBLE, message, notes=notes, help="rephrase the sentence with names of the domain")


def _tied(samples: int, votes: Sequence[int], declined: int) -> Diagnostic:
    counts = ", ".join([str(count) for count in votes]) + (f", {declined} declined" if declined else "")
    message = f"no rule has more votes than every other ({counts}; {samples} samples)"
    help = "rephrase the sentence, or ask for more --samples; a single vote of several is not enough"
    return Diagnostic(SC.NO_MAJORITY, message, help=help)


NOT_FOUND = "NOT FOUND within the limits"
_PLAN = "<plan>"
_KEEP = Weights(delete=3, substitute=2)
"""Steps of the breaking plan are left out last: a plan that does nothing keeps most rules and shows nothing."""


class Examples(NamedTuple):
    """The two plans; ``None`` if none was found, with the reason."""

    breaking: tuple[str, ...] | None
    keeping: tuple[str, ...] | None
    why_not_breaking: str = ""
    why_not_keeping: str = ""


def examples(checker: Checker, seconds: float) -> Examples:
    """Look for both plans of the first rule of ``checker``, which has no other, each for about ``seconds``."""
    without_goal = Checker.from_compiled(checker.compiled.make_variant(checker.engine.task._replace(goal=())))
    violating = LintProblem(without_goal, 4 * seconds).find_violating_plan(0)
    steps = _fewest(without_goal, violating.steps) if violating.status is PlanningStatus.SOLVED else None
    satisfying, why = _satisfying_plan(without_goal, steps, seconds)
    if violating.status is PlanningStatus.UNSOLVABLE:
        return Examples(None, satisfying, f"PROVED: no plan of this problem breaks it ({violating.detail})", why)
    return Examples(steps, satisfying, NOT_FOUND if steps is None else "", why)


def _fewest(checker: Checker, plan: Sequence[GroundAction]) -> tuple[str, ...] | None:
    """The plan without the steps that it breaks the rule without, the last ones left out first; judged."""
    steps = tuple([step_text(step, checker.engine.task.objects) for step in plan])
    if not _breaks(checker, steps):
        return None
    for at in reversed(range(len(steps))):
        fewer = (*steps[:at], *steps[at + 1 :])
        if _breaks(checker, fewer):
            steps = fewer
    return steps


def _satisfying_plan(
    checker: Checker, breaking: tuple[str, ...] | None, seconds: float
) -> tuple[tuple[str, ...] | None, str]:
    """A plan near the breaking one that keeps the rule; else any."""
    if breaking:
        options = RepairOptions(_KEEP, max_cost=9, max_repairs=1, time_limit_s=seconds)
        for candidate in repair(checker, _source(breaking), options).repairs:
            if _keeps(checker, candidate.steps):
                return candidate.steps, ""
    plan = find_satisfying_plan(checker, frozenset([0]), must_reach_goal=False, time_limit_s=seconds)
    if plan.status is PlanningStatus.SOLVED:
        steps = tuple([step_text(step, checker.engine.task.objects) for step in plan.steps])
        if _keeps(checker, steps):
            return steps, ""
    if plan.status is PlanningStatus.UNSOLVABLE:
        return None, "PROVED: no plan of this problem keeps it"
    return None, NOT_FOUND


def _breaks(checker: Checker, steps: tuple[str, ...]) -> bool:
    return checker.check(_source(steps)).headline is Headline.UNSAFE


def _keeps(checker: Checker, steps: tuple[str, ...]) -> bool:
    return checker.check(_source(steps)).headline in (Headline.SAFE, Headline.VALID)


def _source(steps: Sequence[str]) -> Source:
    return Source(_PLAN, "".join([f"{step}\n" for step in steps]))
