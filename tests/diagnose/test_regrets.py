"""Regret for many plans by three grades: against exhaustive search on random tasks, against `localise`, and by hand."""

from __future__ import annotations

from collections import Counter

import pytest
from test_localise import corridor, plan
from tiny_tasks import Case, cases, expected

from plansafe.grammar.source import Source
from plansafe.llm.instances.drawn import draw
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.diagnose.localise import localise
from plansafe.verifier.diagnose.regrets import Grade, PlanRegrets, RegretCalculator
from plansafe.verifier.planning.forward_search import ForwardSearch
from quick import every

PROVED, FOUND, ESTIMATE, UNKNOWN = Grade.PROVED, Grade.FOUND, Grade.ESTIMATE, Grade.UNKNOWN


def costs(case: Case, steps: tuple[str, ...]) -> list[int | None]:
    """The least length of a safe continuation behind each prefix, by the list of all safe plans."""
    out = []
    for length in range(len(steps) + 1):
        rest = [len(safe) - length for safe in case.safe if safe[:length] == steps[:length]]
        out.append(min(rest, default=None))
    return out


def text(steps: tuple[str, ...]) -> Source:
    return Source("plan", "\n".join(steps))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(3))
def test_against_exhaustive_search(part: int) -> None:
    """Proved is exact; found and estimated never less than 0; no interval excludes the point of no return."""
    seen, planner = Counter[Grade](), ForwardSearch()
    for seed, case in cases(f"regrets {part}", 40):
        point, regret = expected(case)
        lengths = costs(case, case.plan)
        for grade in (PROVED, FOUND, ESTIMATE):
            found = RegretCalculator(case.checker, planner).compute([text(case.plan)], grade)[0]
            told = (seed, grade, case.task, case.plan, found)
            low, high = found.point_of_no_return
            assert low <= point <= high, told
            assert len(found.regret) == len(found.grade) == len(case.plan), told
            for number, (one, how) in enumerate(zip(found.regret, found.grade, strict=True)):
                seen[how] += 1
                assert (one is None) == (how is UNKNOWN), told
                assert one is None or one >= 0, told
                if how is PROVED:
                    assert one == regret[number], told
                if how is FOUND:
                    assert lengths[number] is not None and lengths[number + 1] is not None, told
            if grade is PROVED:
                assert (low, found.regret) == (point, regret), told
            where = localise(case.checker, text(case.plan), planner=planner)
            assert (found.violated, found.inexecutable) == (where.violated, where.inexecutable), told
    assert min(seen[grade] for grade in (PROVED, ESTIMATE, UNKNOWN)) > 5


@pytest.mark.slow
@pytest.mark.parametrize("grade", [PROVED, FOUND, ESTIMATE])
def test_plans_of_a_batch_do_not_disturb_each_other(grade: Grade) -> None:
    """What one plan teaches makes others no worse: proved values stay, and exact ones do not change."""
    for seed, case in cases("batch", 25):
        plans = [text(one) for one in (case.plan, *case.executable[:12], case.plan)]
        batch = RegretCalculator(case.checker)
        for one, found in zip(plans, batch.compute(plans, grade), strict=True):
            alone = RegretCalculator(case.checker).compute([one], grade)[0]
            steps = tuple(one.text.split("\n")) if one.text else ()
            lengths = costs(case, steps)
            for number, (regret, how) in enumerate(zip(found.regret, found.grade, strict=True)):
                if how is PROVED:
                    before, after = lengths[number], lengths[number + 1]
                    assert before is not None and after is not None, (seed, case.task, one.text)
                    assert regret == 1 + after - before, (seed, case.task, one.text)
                if alone.grade[number] is PROVED:
                    assert (regret, how) == (alone.regret[number], PROVED), (seed, case.task, one.text)


def shown(found: PlanRegrets) -> list[str]:
    return [f"{regret}{grade.value[0]}" for regret, grade in zip(found.regret, found.grade, strict=True)]


def test_by_hand() -> None:
    """Back and forth wastes one step each; the light has to be lit anyhow; after the break nothing helps."""
    (found,) = RegretCalculator(corridor()).compute([plan("ab ba l ab x")], PROVED)
    assert shown(found) == ["0p", "2p", "0p", "0p", "Noneu"]
    assert found.point_of_no_return == (4, 4)


def test_what_plans_share_is_asked_once() -> None:
    batch = RegretCalculator(corridor())
    batch.compute([plan("ab bc cd de")], FOUND)
    asked = batch.searches
    assert asked > 0
    again = batch.compute([plan("ab bc cd de"), plan("ab bc"), plan("ab ba ab bc cd")], FOUND)
    assert batch.searches == asked, "each moment is one of the first plan's"
    assert [shown(found) for found in again[1:]] == [["0p", "0p"], ["0p", "2p", "0p", "0p", "0p"]]


def test_a_safe_plan_of_the_batch_is_a_continuation() -> None:
    """Without any search the chosen plan says how far the goal is at most from what both plans share."""

    class Silent(ForwardSearch):
        def solve_from(self, *_: object, **__: object) -> object:  # type: ignore[override]
            raise AssertionError("nothing is searched")

    batch = RegretCalculator(corridor(), Silent())
    chosen, rejected = batch.compute([plan("ab bc cd l de d"), plan("ab bc cd de")], ESTIMATE)
    assert chosen.point_of_no_return == (6, 6)
    assert rejected.point_of_no_return == (3, 3)
    assert set(chosen.grade) == {ESTIMATE}, "by its own way alone no step ever cost anything"
    assert shown(rejected)[3] == "Noneu"


def test_blame_decides_what_counts() -> None:
    """What was wrong before the plan began makes all lost only where everything counts."""
    domain = """(define (domain d) (:predicates (lit) (broken)) (:action light :parameters () :effect (lit)))"""
    problem = "(define (problem p) (:domain d) (:init (broken)) (:goal (lit)))"
    rules = "(define (safety s) (:process whole :forbid (broken)))"
    texts = [Source(n, t) for n, t in (("d", domain), ("p", problem), ("s", rules))]
    for judge, told in ("all", ["Noneu"]), ("introduced", ["0p"]):
        checker = Checker(texts[0], texts[1], [texts[2]], Options(judge=judge))
        assert shown(RegretCalculator(checker).compute([Source("plan", "(light)")])[0]) == told


def test_what_is_not_searched_is_left_open() -> None:
    (found,) = RegretCalculator(corridor()).compute([Source("plan", "1: (walk a b)\n2: (walk a b)\n")])
    assert shown(found) == ["Noneu", "Noneu"]
    assert found.point_of_no_return == (-1, 2)
    assert "timed" in found.detail


def test_no_time_is_no_answer_and_no_error() -> None:
    (found,) = RegretCalculator(corridor()).compute([plan("ab ba ab")], PROVED, time_limit_s=0.0)
    low, high = found.point_of_no_return
    assert low <= 3 == high
    assert PROVED not in found.grade


def test_lenient_types_prove_nothing() -> None:
    """A search that does not see every step that may be taken has no proof of shortest ways."""
    found = RegretCalculator(corridor(lenient_types=True)).compute([plan("ab ba ab bc cd")], PROVED)[0]
    assert set(found.grade) == {FOUND}


def test_errors_are_told() -> None:
    with pytest.raises(ValueError, match="errors"):
        RegretCalculator(Checker(Source("d", "("), Source("p", "(")))
    with pytest.raises(ValueError, match="cannot be read"):
        RegretCalculator(corridor()).compute([Source("plan", "(walk a")])


@pytest.mark.parametrize(("family", "number"), every(3, [("tea", 1), ("groceries", 2), ("wash-up", 0)]))
def test_household_tasks_equal_localise_where_proved(family: str, number: int) -> None:
    made = draw(family, number)
    checker = made.checker()
    steps = made.reference.splitlines()
    plans = [steps, [*steps[:3], *steps[4:]], [*steps[:2], steps[0], *steps[2:]], steps[:-1]]
    sources = [Source("plan", "".join([f"{step}\n" for step in one])) for one in plans]
    exact = RegretCalculator(checker).compute(sources, PROVED)
    rough = RegretCalculator(checker).compute(sources, FOUND)
    for source, proved, found in zip(sources, exact, rough, strict=True):
        where = localise(checker, source, planner=ForwardSearch(), regret=True)
        assert where.regret == proved.regret
        assert where.point_of_no_return == proved.point_of_no_return
        for one, other, how in zip(proved.regret, found.regret, found.grade, strict=True):
            assert how is not PROVED or one == other
