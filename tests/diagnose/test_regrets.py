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
from quick import quick_every

PROVED, FOUND, ESTIMATE, UNKNOWN = Grade.PROVED, Grade.FOUND, Grade.ESTIMATE, Grade.UNKNOWN


def costs(case: Case, steps: tuple[str, ...]) -> list[int | None]:
    """Return the least length of a safe continuation after each prefix, by the list of all safe plans."""
    out = []
    for length in range(len(steps) + 1):
        lengths = [len(safe) - length for safe in case.safe if safe[:length] == steps[:length]]
        out.append(min(lengths, default=None))
    return out


def text(steps: tuple[str, ...]) -> Source:
    return Source("plan", "\n".join(steps))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(3))
def test_against_exhaustive_search(part: int) -> None:
    """Proved regrets are exact, others at least 0; no interval excludes the point of no return."""
    counts, planner = Counter[Grade](), ForwardSearch()
    for seed, case in cases(f"regrets {part}", 40):
        point, regret = expected(case)
        lengths = costs(case, case.plan)
        for grade in (PROVED, FOUND, ESTIMATE):
            regrets = RegretCalculator(case.checker, planner).compute([text(case.plan)], grade)[0]
            context = (seed, grade, case.task, case.plan, regrets)
            low, high = regrets.point_of_no_return
            assert low <= point <= high, context
            assert len(regrets.regret) == len(regrets.grade) == len(case.plan), context
            for number, (step_regret, step_grade) in enumerate(zip(regrets.regret, regrets.grade, strict=True)):
                counts[step_grade] += 1
                assert (step_regret is None) == (step_grade is UNKNOWN), context
                assert step_regret is None or step_regret >= 0, context
                if step_grade is PROVED:
                    assert step_regret == regret[number], context
                if step_grade is FOUND:
                    assert lengths[number] is not None and lengths[number + 1] is not None, context
            if grade is PROVED:
                assert (low, regrets.regret) == (point, regret), context
            where = localise(case.checker, text(case.plan), planner=planner)
            assert (regrets.violated, regrets.inexecutable) == (where.violated, where.inexecutable), context
    assert min(counts[grade] for grade in (PROVED, ESTIMATE, UNKNOWN)) > 5


@pytest.mark.slow
@pytest.mark.parametrize("grade", [PROVED, FOUND, ESTIMATE])
def test_plans_of_a_batch_do_not_disturb_each_other(grade: Grade) -> None:
    """Results of earlier plans do not make later ones worse: proved values stay proved and equal."""
    for seed, case in cases("batch", 25):
        plans = [text(source) for source in (case.plan, *case.executable[:12], case.plan)]
        batch = RegretCalculator(case.checker)
        for source, regrets in zip(plans, batch.compute(plans, grade), strict=True):
            alone = RegretCalculator(case.checker).compute([source], grade)[0]
            steps = tuple(source.text.split("\n")) if source.text else ()
            lengths = costs(case, steps)
            for number, (regret, step_grade) in enumerate(zip(regrets.regret, regrets.grade, strict=True)):
                if step_grade is PROVED:
                    before, after = lengths[number], lengths[number + 1]
                    assert before is not None and after is not None, (seed, case.task, source.text)
                    assert regret == 1 + after - before, (seed, case.task, source.text)
                if alone.grade[number] is PROVED:
                    assert (regret, step_grade) == (alone.regret[number], PROVED), (seed, case.task, source.text)


def labels_of(regrets: PlanRegrets) -> list[str]:
    return [f"{regret}{grade.value[0]}" for regret, grade in zip(regrets.regret, regrets.grade, strict=True)]


def test_by_hand() -> None:
    """Back and forth wastes one step each; the light has to be lit anyhow; after the break nothing helps."""
    (regrets,) = RegretCalculator(corridor()).compute([plan("ab ba l ab x")], PROVED)
    assert labels_of(regrets) == ["0p", "2p", "0p", "0p", "Noneu"]
    assert regrets.point_of_no_return == (4, 4)


def test_states_shared_by_plans_are_searched_once() -> None:
    batch = RegretCalculator(corridor())
    batch.compute([plan("ab bc cd de")], FOUND)
    searches = batch.searches
    assert searches > 0
    again = batch.compute([plan("ab bc cd de"), plan("ab bc"), plan("ab ba ab bc cd")], FOUND)
    assert batch.searches == searches, "the first plan reaches each of these states"
    assert [labels_of(regrets) for regrets in again[1:]] == [["0p", "0p"], ["0p", "2p", "0p", "0p", "0p"]]


def test_a_safe_plan_of_the_batch_is_a_continuation() -> None:
    """Without a search, the chosen plan bounds the length of continuations from the states that both plans reach."""

    class Silent(ForwardSearch):
        def solve_from(self, *_: object, **__: object) -> object:  # type: ignore[override]
            raise AssertionError("nothing is searched")

    batch = RegretCalculator(corridor(), Silent())
    chosen, rejected = batch.compute([plan("ab bc cd l de d"), plan("ab bc cd de")], ESTIMATE)
    assert chosen.point_of_no_return == (6, 6)
    assert rejected.point_of_no_return == (3, 3)
    assert set(chosen.grade) == {ESTIMATE}, "by the plan's own continuation alone every step has regret 0"
    assert labels_of(rejected)[3] == "Noneu"


def test_blame_decides_what_counts() -> None:
    """A violation before the plan excludes continuations only if all violations count."""
    domain = """(define (domain d) (:predicates (lit) (broken)) (:action light :parameters () :effect (lit)))"""
    problem = "(define (problem p) (:domain d) (:init (broken)) (:goal (lit)))"
    rules = "(define (safety s) (:process whole :forbid (broken)))"
    texts = [Source(n, t) for n, t in (("d", domain), ("p", problem), ("s", rules))]
    for judge, expected_regrets in ("all", ["Noneu"]), ("introduced", ["0p"]):
        checker = Checker(texts[0], texts[1], [texts[2]], Options(judge=judge))
        assert labels_of(RegretCalculator(checker).compute([Source("plan", "(light)")])[0]) == expected_regrets


def test_timed_plans_have_unknown_regrets() -> None:
    (regrets,) = RegretCalculator(corridor()).compute([Source("plan", "1: (walk a b)\n2: (walk a b)\n")])
    assert labels_of(regrets) == ["Noneu", "Noneu"]
    assert regrets.point_of_no_return == (-1, 2)
    assert "timed" in regrets.detail


def test_without_time_regrets_are_not_proved() -> None:
    (regrets,) = RegretCalculator(corridor()).compute([plan("ab ba ab")], PROVED, time_limit_s=0.0)
    low, high = regrets.point_of_no_return
    assert low <= 3 == high
    assert PROVED not in regrets.grade


def test_lenient_types_prove_nothing() -> None:
    """A search that does not consider every possible step proves no continuation shortest."""
    regrets = RegretCalculator(corridor(lenient_types=True)).compute([plan("ab ba ab bc cd")], PROVED)[0]
    assert set(regrets.grade) == {FOUND}


def test_errors_are_reported() -> None:
    with pytest.raises(ValueError, match="errors"):
        RegretCalculator(Checker(Source("d", "("), Source("p", "(")))
    with pytest.raises(ValueError, match="cannot be read"):
        RegretCalculator(corridor()).compute([Source("plan", "(walk a")])


@pytest.mark.parametrize(("family", "number"), quick_every(3, [("tea", 1), ("groceries", 2), ("wash-up", 0)]))
def test_household_tasks_equal_localise_where_proved(family: str, number: int) -> None:
    task = draw(family, number)
    checker = task.checker()
    steps = task.reference.splitlines()
    plans = [steps, [*steps[:3], *steps[4:]], [*steps[:2], steps[0], *steps[2:]], steps[:-1]]
    sources = [Source("plan", "".join([f"{step}\n" for step in steps_of_plan])) for steps_of_plan in plans]
    exact = RegretCalculator(checker).compute(sources, PROVED)
    rough = RegretCalculator(checker).compute(sources, FOUND)
    for source, proved, found_regrets in zip(sources, exact, rough, strict=True):
        where = localise(checker, source, planner=ForwardSearch(), regret=True)
        assert where.regret == proved.regret
        assert where.point_of_no_return == proved.point_of_no_return
        for exact_regret, regret, step_grade in zip(
            proved.regret, found_regrets.regret, found_regrets.grade, strict=True
        ):
            assert step_grade is not PROVED or exact_regret == regret
