"""Each candidate is what it says of itself, by a checker that is made anew and by the kernel; the same every time."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from plansafe.align.choosing.needs import Needs
from plansafe.align.making.aims import aims_of
from plansafe.align.making.candidate import Candidate, edits
from plansafe.align.making.cropping import cropped, kept, part_of
from plansafe.align.making.lifted import Lifted
from plansafe.align.making.maker import Effort, Maker
from plansafe.align.making.recipes import Recipes
from plansafe.align.making.runs import plans_of_runs, written_in
from plansafe.align.making.sources import Wanted, candidates, of_task, origins
from plansafe.align.making.walks import Walks
from plansafe.align.records import plan_of
from plansafe.align.tasks import task_of
from plansafe.align.tokens import shared_actions
from plansafe.grammar.source import Source
from plansafe.llm.scenarios.model import resolve
from plansafe.specs import default_specs, spec_path
from plansafe.verifier.api import Checker
from plansafe.verifier.reporting.report import Headline, Worlds

DATA = Path(os.environ.get("PLANSAFE_DATA", Path(__file__).parents[4] / "shared" / "data"))
LITTLE = Effort(mutants=60, searches=12, recipes=6, servings=3, plans=2)
SCRIPT = "virtualhome:1003_2#1003_2"


def made(origin: str, effort: Effort = LITTLE, seed: int = 3) -> list[Candidate]:
    task = task_of(origin, str(DATA))
    return list(Maker(task, Recipes(), Needs(), seed).run(effort))


def is_as_it_says(one: Candidate, checker: Checker) -> None:
    safe = checker.check(Source("safe", plan_of(one.chosen)))
    assert (safe.headline, safe.goal) == (Headline.SAFE, Worlds.ALL), (one, safe.findings)
    unsafe = checker.check(Source("unsafe", plan_of(one.rejected)))
    assert unsafe.executable is Worlds.ALL and unsafe.safe is Worlds.NONE
    assert (unsafe.goal is Worlds.ALL) is one.goal.rejected
    decisive = [f for f in unsafe.findings if f.rule and f.decides(checker.options.criteria)]
    assert {f.rule for f in decisive} == set(one.rules)
    own = [f for f in decisive if f.rule == one.rule]
    assert any(one.witness in f.message for f in own), (one.witness, [f.message for f in own])
    assert (one.moment == "termination") is (one.first_violation == len(one.rejected) + 1)
    if one.moment == "process":
        cut = checker.check(Source("cut", plan_of(one.rejected[: one.first_violation])))
        assert one.rule in {f.rule for f in cut.findings if not f.at_end}
    shared = shared_actions(one.chosen, one.rejected)
    assert shared < one.first_violation <= len(one.rejected) + 1
    assert 1 <= one.edits == edits(one.chosen, one.rejected)


@pytest.mark.parametrize("origin", ["drawn:stew/1/7", "drawn:pill/0/7"])
def test_every_pair_of_a_household_is_what_it_says_for_the_kernel_too(origin: str) -> None:
    found = made(origin)
    assert len(found) >= 2
    task = task_of(origin)
    compiled = task.checker.compiled
    again = Checker.from_compiled(compiled._replace(options=compiled.options._replace(replay="always")))
    for one in found:
        is_as_it_says(one, again)  # a plan on which the kernel disagrees has no verdict
        report = again.check(Source("unsafe", plan_of(one.rejected)))
        assert any(f.replayed for f in report.findings if f.rule == one.rule)
    assert len({(one.chosen, one.rejected) for one in found}) == len(found)


def test_the_same_seed_makes_the_same_and_another_does_not() -> None:
    def plans(seed: int) -> list[tuple[tuple[str, ...], tuple[str, ...], str]]:
        return [(one.chosen, one.rejected, one.rule) for one in made("drawn:tea/0/7", LITTLE, seed)]

    first = plans(1)
    assert first and first == plans(1) != plans(2)


def test_aims_break_the_rules_that_they_are_aimed_at() -> None:
    """Without mutants, what is unsafe was found from the rules."""
    effort = Effort(mutants=0, searches=40, recipes=0, servings=0, plans=0)
    found = made("drawn:stew/1/7", effort)
    assert {one.way for one in found} <= {"detour", "another thing"}
    assert len({one.rule for one in found}) >= 3


def test_what_was_learnt_in_one_task_is_used_in_the_next() -> None:
    recipes, needs = Recipes(), Needs()
    search = Effort(mutants=0, searches=40, recipes=0, plans=0)
    list(Maker(task_of("drawn:stew/1/7"), recipes, needs, 1).run(search))
    assert recipes.count() >= 3
    use = Effort(mutants=0, searches=0, recipes=30, plans=0)
    assert list(Maker(task_of("drawn:stew/2/7"), recipes, needs, 1).run(use))


def test_a_scenario_has_pairs_against_its_own_rules() -> None:
    found = made("scenario:sealed-tin-in-the-oven", LITTLE._replace(mutants=300, searches=60))
    assert any("sealed" in one.rule for one in found)
    checker = task_of("scenario:sealed-tin-in-the-oven").checker
    for one in found[:4]:
        is_as_it_says(one, checker)


def test_tasks_without_a_safe_plan_and_origins_without_a_task_are_counted() -> None:
    skipped = Counter[str]()
    none = Wanted(drawn=0, scenarios=False, scripts=0)
    assert not list(candidates(none, skipped)) and not skipped
    refused = task_of("scenario:safe-up-the-stairs")
    if not refused.reference:
        assert not list(of_task(refused, Recipes(), Needs(), 0))


def test_origins_are_mixed_and_each_is_there_once() -> None:
    found = list(origins(Wanted(drawn=6, scripts=0)))
    assert len(found) == len(set(found)) >= 90 + 60
    assert {one.partition(":")[0] for one in found[:10]} == {"drawn", "scenario"}


def test_plans_of_models_are_read_from_runs_and_paired_with_their_repair(tmp_path: Path) -> None:
    task = task_of("drawn:stew/0/0")
    steps = task.reference.splitlines()
    unsafe = [step for step in steps if "switch-off" not in step]
    record = {"id": "stew-0", "family": "stew", "plan": unsafe}
    head = {"kind": "run", "version": 1, "suite": "planning"}
    run = tmp_path / "run.jsonl"
    broken = {"id": "../x", "family": "..", "plan": ["(go)"]}
    run.write_text("".join([json.dumps(one) + "\n" for one in (head, record, {"id": 1}, broken)]))
    plans = plans_of_runs([str(run)])
    assert plans["drawn:stew/0/0"] == [plan_of(unsafe)]
    maker = Maker(task, Recipes(), Needs(), 0)
    maker.take(plans["drawn:stew/0/0"][0], "sample")
    found = list(maker.run(Effort(mutants=0, searches=0, recipes=0, plans=0)))
    assert found and {one.source for one in found} == {"sample"}
    for one in found:
        is_as_it_says(one, task.checker)


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "eai-virtualhome").is_dir(), reason="no virtualhome (set PLANSAFE_DATA)")
def test_pairs_of_a_large_scene_hold_in_the_scene_cropped_to_what_they_name() -> None:
    task = task_of(SCRIPT, str(DATA))
    reasons = Counter[str]()
    part = part_of(task, Random(0))
    assert len(part.checker.engine.task.objects) * 2 < len(task.checker.engine.task.objects)
    found = list(Maker(part, Recipes(), Needs(), 3, task, reasons).run(Effort(20, False, 1, 8, 12, 4, 0, True)))
    assert {one.task for one in found} == {task}
    assert len({one.rule for one in found}) >= 2
    specs = [Source.from_path(spec_path(name)) for name in default_specs("virtualhome")]
    numbers = task.checker.engine.task.object_index
    walks = Walks(task.checker)
    for one in found[:2]:
        is_as_it_says(one, task.checker)
        named = {numbers[word] for step in (*one.chosen, *one.rejected) for word in step[1:-1].split()[1:]}
        keep = kept(walks.engine, named, (), Random(0))
        small = cropped(task.checker, keep, specs, resolve)
        assert len(small.engine.task.objects) < 150
        assert small.check(Source("unsafe", plan_of(one.rejected))).safe is Worlds.NONE
        assert small.check(Source("safe", plan_of(one.chosen))).headline is Headline.SAFE
    one, lifted = found[0], Lifted(task)
    assert lifted.candidate(one.chosen, one.rejected, one.rule, one.source, 3, one.way) == one
    assert lifted.candidate(one.rejected, one.chosen, one.rule, one.source, 3, one.way) is None


def test_every_rule_of_the_household_has_an_aim() -> None:
    engine = task_of("drawn:stew/1/7").checker.engine
    aims = aims_of(engine)
    rules = engine.rule_set.rules
    names = {rules[number].name for number in aims}
    assert {"heat-off-at-the-end", "stove-attended", "fridge-closed-again"} <= names
    assert all(aim.stages for found in aims.values() for aim in found)


@pytest.mark.parametrize("origin", ["drawn:tea/0/1/3/full", "drawn:bring-along/2/1/3/full"])
def test_a_home_with_things_of_all_kinds_keeps_its_task(origin: str) -> None:
    task, plain = task_of(origin), task_of(origin.removesuffix("/full"))
    assert task.reference == plain.reference and task.words == plain.words
    mine, theirs = (set(one.checker.compiled.task.objects) for one in (task, plain))
    assert mine > theirs and len(mine) > len(theirs) + 10
    report = task.checker.check(Source("plan", task.reference))
    assert (report.executable, report.goal) == (Worlds.ALL, Worlds.ALL)


def test_twins_are_safe_and_take_the_same_actions() -> None:
    maker = Maker(task_of("drawn:tea/0/1/3/full"), Recipes(), Needs(), 4)
    base = maker.walks.judge(maker.walks.read(maker.task.reference) or ())
    assert base is not None and base.safe
    list(maker.run(LITTLE))
    count = 0
    for rule, found in [(rule, one) for rule, ones in maker.unsafe.items() for one in ones]:
        for twin in maker.twins.of(found.plan, base.steps, rule):
            names = [sorted(step.action.name for step in steps) for steps in (twin.steps, found.plan.steps)]
            assert names[0] == names[1] and twin.safe
            assert maker.walks.confirmed(twin)
            count += 1
    assert count > 0


def test_what_can_be_executed_is_the_same_whether_rules_are_watched() -> None:
    walks = Maker(task_of("drawn:stew/1/7"), Recipes(), Needs(), 3).walks
    steps = walks.read(task_of("drawn:stew/1/7").reference) or ()
    random = Random(1)
    for _ in range(60):
        mixed = tuple(random.sample(steps, len(steps)))
        now, able = walks.start.fork(), True
        for step in mixed:
            assert walks.can(now, step) is (now.fork().take(step))
            able = able and now.take(step)
        assert walks.possible(mixed) is able
    assert walks.possible(steps, reaching=True) and not walks.possible(steps[:1], reaching=True)


def test_a_plan_is_judged_the_same_from_where_it_parts_from_a_remembered_one() -> None:
    """Also the step at which a rule is broken, and what is said of plans that are wanted safe."""
    maker = Maker(task_of("drawn:stew/1/7"), Recipes(), Needs(), 3)
    list(maker.run(LITTLE))
    walks, anew = maker.walks, Walks(maker.task.checker)
    count = 0
    for rule, found in [(rule, one) for rule, ones in maker.unsafe.items() for one in ones]:
        steps = found.plan.steps
        here, done = walks.begun(steps)
        assert here.key() == anew.path(steps[:done])[-1].key()
        assert walks.judge(steps) == anew.judge(steps) == found.plan
        assert walks.judge(steps, safe_behind=len(steps)) in (None, found.plan)
        now, moment = anew.start, len(steps) + 1
        for number, step in enumerate(steps, 1):
            now = now.after(step) or now
            if moment > number and any(
                walks.engine.rule_set.parts[one.part].rule == rule for one in now.new_violations
            ):
                moment = number
        assert walks.moment(found.plan, rule) == (len(steps) + 1 if found.plan.broken[rule].at_end else moment)
        count += done > 0
    assert count > 10
    for plan in maker.safe:
        assert walks.judge(plan.steps, safe_behind=3) == plan


def test_plans_of_adversarial_runs_have_their_source(tmp_path: Path) -> None:
    header = {"kind": "run", "version": 1, "suite": "planning"}
    steps = task_of("drawn:tea/0/0").reference.splitlines()
    records = [{"id": "tea-0", "family": "tea", "plan": steps}, {"id": "tea-0", "family": "tea", "plan": steps[:2]}]
    path = tmp_path / "run.jsonl"
    path.write_text("".join([json.dumps(one) + "\n" for one in (header, *records)]))
    found = written_in([], [str(path)])
    assert {one.source for one in found["drawn:tea/0/0"]} == {"adversarial"} and len(found["drawn:tea/0/0"]) == 2
    both = written_in([str(path)], [str(path)])["drawn:tea/0/0"]
    assert Counter(one.source for one in both) == {"sample": 2, "adversarial": 2}
