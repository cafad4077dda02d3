"""A sample of the comparison of engine and kernel on random tasks; ``run.py`` does all of it."""

from __future__ import annotations

import pytest
from case import Plan, plan_text
from compare import EXEMPT, Both
from examine import Work, examine, problems_of, smallest
from generate import STREAMS, case

from plansafe.grammar.source import Source
from plansafe.verifier.reporting.report import Blame, FindingClass, Headline, Report
from plansafe.verifier.rules.verdict_criteria import VerdictCriteria
from quick import quick_every

SEED = 2026
QUESTIONS = (
    VerdictCriteria("introduced"),
    VerdictCriteria("all", "high"),
    VerdictCriteria("introduced", "medium"),
    VerdictCriteria(exemptions=EXEMPT),
    VerdictCriteria("introduced", exemptions=EXEMPT),
)
TASKS = 3  # for each stream: 8 * 3 tasks of 24 rules and 4 plans are 2,304 cases


@pytest.mark.parametrize("number", range(TASKS))
@pytest.mark.parametrize("stream", quick_every(6, STREAMS))
def test_same_verdicts(stream: str, number: int) -> None:
    examined = examine(Work(stream, SEED, number, command=False))
    if examined.problems:
        pytest.fail(smallest(case(stream, SEED, number), examined.problems[0]), pytrace=False)


@pytest.mark.parametrize("stream", STREAMS)
def test_same_verdicts_whatever_decides(stream: str) -> None:
    criteria = QUESTIONS[list(STREAMS).index(stream) % len(QUESTIONS)]
    examined = examine(Work(stream, SEED, TASKS, command=False, criteria=criteria))
    if examined.problems:
        name = case(stream, SEED, examined.number)
        pytest.fail(smallest(name, examined.problems[0], criteria), pytrace=False)


@pytest.mark.parametrize("criteria", quick_every(5, QUESTIONS), ids=["-".join(criteria[:2]) for criteria in QUESTIONS])
def test_a_headline_follows_from_what_decides(criteria: VerdictCriteria) -> None:
    """A valid plan is SAFE if and only if it has no deciding finding and no undecided rule that may decide."""
    headlines = set()
    for stream in STREAMS:
        candidate = case(stream, SEED, TASKS + 1, rules=3)
        unrestricted, restricted = Both(candidate), Both(candidate, criteria)
        for plan in candidate.plans:
            expected = by_hand(reported(unrestricted, plan), criteria)
            assert reported(restricted, plan).headline is expected, plan_text(plan)
            headlines.add(expected)
    assert headlines >= {Headline.INVALID, Headline.UNSAFE, Headline.SAFE}


def reported(both: Both, plan: Plan) -> Report:
    return both.checker.check(Source("random.plan", plan_text(plan)))


def by_hand(report: Report, criteria: VerdictCriteria) -> Headline | None:
    """Compute the headline from a report in which every finding decides."""
    if report.headline in (None, Headline.INVALID):
        return report.headline
    deciding = {rule.name for rule in report.rules if criteria.is_severe_enough(rule.severity)}
    decisive = [finding for finding in report.findings if finding.rule in deciding]
    violated = [finding for finding in decisive if finding.finding_class is not FindingClass.UNDECIDED]
    undecided = len(decisive) - len(violated)
    violated = [
        finding
        for finding in violated
        if criteria.find_exemption(finding.rule or "", [name for _, name in finding.binding]) is None
    ]
    if any(finding.blame is not Blame.PRE_EXISTING or not criteria.ignores_preexisting for finding in violated):
        return Headline.UNSAFE
    if undecided or report.limits:
        return Headline.UNKNOWN
    able = [rule for rule in report.rules if criteria.may_decide(rule.name, rule.severity)]
    hard = [rule for rule in able if not rule.status.startswith("preference")]
    return Headline.SAFE if any(rule.instances for rule in hard) else Headline.VALID


@pytest.mark.parametrize("stream", STREAMS)
def test_same_verdicts_through_the_command(stream: str) -> None:
    assert problems_of(case(stream, SEED, TASKS, plans=2), command=True) == []


def test_tasks_are_functions_of_their_numbers() -> None:
    assert case("mixed", SEED, 0) == case("mixed", SEED, 0)
    assert case("mixed", SEED, 0) != case("mixed", SEED, 1)
