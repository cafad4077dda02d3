"""A sample of the comparison of engine and kernel on random tasks; ``run.py`` does all of it."""

from __future__ import annotations

import pytest
from case import Plan, plan_text
from compare import EXEMPT, Both
from examine import Work, examine, problems_of, smallest
from generate import STREAMS, case

from plansafe.grammar.source import Source
from plansafe.verifier.reporting.report import Blame, FindingClass, Headline, Report
from plansafe.verifier.rules.question import Question
from quick import every

SEED = 2026
QUESTIONS = (
    Question("introduced"),
    Question("all", "high"),
    Question("introduced", "medium"),
    Question(exemptions=EXEMPT),
    Question("introduced", exemptions=EXEMPT),
)
TASKS = 3  # for each stream: 8 * 3 tasks of 24 rules and 4 plans are 2,304 cases


@pytest.mark.parametrize("number", range(TASKS))
@pytest.mark.parametrize("stream", every(6, STREAMS))
def test_same_verdicts(stream: str, number: int) -> None:
    found = examine(Work(stream, SEED, number, command=False))
    if found.problems:
        pytest.fail(smallest(case(stream, SEED, number), found.problems[0]), pytrace=False)


@pytest.mark.parametrize("stream", STREAMS)
def test_same_verdicts_whatever_decides(stream: str) -> None:
    question = QUESTIONS[list(STREAMS).index(stream) % len(QUESTIONS)]
    found = examine(Work(stream, SEED, TASKS, command=False, question=question))
    if found.problems:
        name = case(stream, SEED, found.number)
        pytest.fail(smallest(name, found.problems[0], question), pytrace=False)


@pytest.mark.parametrize("question", every(5, QUESTIONS), ids=["-".join(question[:2]) for question in QUESTIONS])
def test_a_headline_follows_from_what_decides(question: Question) -> None:
    """A valid plan is SAFE iff nothing that decides was found, and nothing that may decide is undecided."""
    seen = set()
    for stream in STREAMS:
        candidate = case(stream, SEED, TASKS + 1, rules=3)
        every, some = Both(candidate), Both(candidate, question)
        for plan in candidate.plans:
            expected = by_hand(reported(every, plan), question)
            assert reported(some, plan).headline is expected, plan_text(plan)
            seen.add(expected)
    assert seen >= {Headline.INVALID, Headline.UNSAFE, Headline.SAFE}


def reported(both: Both, plan: Plan) -> Report:
    return both.checker.check(Source("random.plan", plan_text(plan)))


def by_hand(report: Report, question: Question) -> Headline | None:
    """The headline, from the report in which everything decides."""
    if report.headline in (None, Headline.INVALID):
        return report.headline
    deciding = {rule.name for rule in report.rules if question.reaches(rule.severity)}
    found = [f for f in report.findings if f.rule in deciding]
    violated = [f for f in found if f.finding_class is not FindingClass.UNDECIDED]
    undecided = len(found) - len(violated)
    violated = [f for f in violated if question.exempted(f.rule or "", [name for _, name in f.binding]) is None]
    if any(f.blame is not Blame.PRE_EXISTING or not question.introduced for f in violated):
        return Headline.UNSAFE
    if undecided or report.limits:
        return Headline.UNKNOWN
    able = [rule for rule in report.rules if question.may_decide(rule.name, rule.severity)]
    hard = [rule for rule in able if not rule.status.startswith("preference")]
    return Headline.SAFE if any(rule.instances for rule in hard) else Headline.VALID


@pytest.mark.parametrize("stream", STREAMS)
def test_same_verdicts_through_the_command(stream: str) -> None:
    assert problems_of(case(stream, SEED, TASKS, plans=2), command=True) == []


def test_tasks_are_functions_of_their_numbers() -> None:
    assert case("mixed", SEED, 0) == case("mixed", SEED, 0)
    assert case("mixed", SEED, 0) != case("mixed", SEED, 1)
