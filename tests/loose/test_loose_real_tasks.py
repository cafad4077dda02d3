"""Plans of a public data set are printed in each notation and read back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from loose_manners import MANNERS, text_of

from plansafe.grammar.source import Source
from plansafe.llm.loose.reader import read_loose
from plansafe.verifier.api import Checker

SAMPLE = 40
# These notations print parameters, which the helper takes from the tasks of this folder.
UNSUITED = {"named"}


def test_plans_of_virtualhome_are_read_back(data: Path) -> None:
    home = data / "eai-virtualhome"
    if not home.is_dir():
        pytest.skip(f"no {home}")
    domain = Source("virtualhome.pddl", (home / "domain/virtualhome.pddl").read_text(encoding="utf-8"))
    plans = json.loads((home / "gold_pddl_plan.json").read_text(encoding="utf-8"))
    problems = {path.stem: path for path in sorted(home.rglob("problem_pddl/**/*.pddl"))}
    manners = [name for name in sorted(MANNERS) if name not in UNSUITED]
    read = 0
    for number, (identifier, lines) in enumerate(sorted(plans.items())):
        if identifier not in problems or not lines or read == SAMPLE:
            continue
        problem = Source("problem.pddl", problems[identifier].read_text(encoding="utf-8"))
        checker = Checker(domain, problem)
        if not checker.ok:
            continue
        steps = [tuple(line.split()) for line in lines]
        if any([argument not in checker.engine.task.object_index for step in steps for argument in step[1:]]):
            continue
        for manner in (manners[number % len(manners)], manners[(number + 7) % len(manners)]):
            result = read_loose(Source("output.txt", MANNERS[manner]("home", steps)), checker)
            assert result.plan is not None, (identifier, manner, result.diagnostics)
            assert result.plan.text == text_of(steps), (identifier, manner)
        read += 1
    assert read == SAMPLE
