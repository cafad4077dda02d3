"""Mistakes of first-time users, through the command in a new process: exit code and essential words."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from fuzz_corpus import ROOT, SEEDS

DOMAIN = ROOT / "domains" / "plansafe" / "domains" / "household" / "domain.pddl"
COMMAND = Path(sys.executable).parent / "safecheck"
Safecheck = Callable[..., tuple[int, str]]


@pytest.fixture
def kitchen(tmp_path: Path) -> Path:
    """Return a temporary folder with the shipped dinner example: a problem and a safe plan."""
    for name in ("problem.pddl", "stew-and-salad.plan"):
        shutil.copy(ROOT / "examples" / "dinner" / name, tmp_path)
    return tmp_path


@pytest.fixture
def safecheck(kitchen: Path) -> Safecheck:
    """Return a function that runs the command in that folder and returns the exit code and all output."""

    def run(*arguments: str, stdin: str = "") -> tuple[int, str]:
        completed = subprocess.run(
            [str(COMMAND), *arguments],
            cwd=kitchen,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert "Traceback" not in completed.stdout + completed.stderr
        return completed.returncode, completed.stdout + completed.stderr

    return run


def test_a_safe_plan_is_safe(safecheck: Safecheck) -> None:
    code, text = safecheck("stew-and-salad.plan")
    assert (code, "SAFE   no findings" in text) == (0, True)


def test_a_wrong_file_name_gets_a_suggestion(safecheck: Safecheck) -> None:
    code, text = safecheck("stew-and-salat.plan")
    assert code == 2
    assert "SC601" in text
    assert "did you mean `stew-and-salad.plan`?" in text


def test_a_wrong_domain_name_is_reported(safecheck: Safecheck) -> None:
    code, text = safecheck("stew-and-salad.plan", "--domain", "domian.pddl")
    assert code == 2
    assert "domain not found: domian.pddl" in text


def test_a_folder_without_plans_is_reported(safecheck: Safecheck, kitchen: Path) -> None:
    (kitchen / "later").mkdir()
    code, text = safecheck("later")
    assert code == 2
    assert "no plan in the folder later" in text


def test_a_typo_in_an_action_gets_a_suggestion(safecheck: Safecheck, kitchen: Path) -> None:
    plan = (kitchen / "stew-and-salad.plan").read_text(encoding="utf-8")
    (kitchen / "typo.plan").write_text(plan.replace("(switch-on ", "(swich-on ", 1), encoding="utf-8")
    code, text = safecheck("typo.plan")
    assert code == 2
    assert "unknown action `swich-on`" in text
    assert "did you mean `switch-on`" in text
    assert "^^^" in text
    assert "INVALID" in text, "the rest of the plan is also checked"


def test_a_typo_in_an_object_gets_a_suggestion(safecheck: Safecheck, kitchen: Path) -> None:
    plan = (kitchen / "stew-and-salad.plan").read_text(encoding="utf-8")
    (kitchen / "typo.plan").write_text(plan.replace("pot stove ", "pot stov ", 1), encoding="utf-8")
    code, text = safecheck("typo.plan")
    assert code == 2
    assert "unknown object `stov`" in text
    assert "did you mean `stove`" in text


def test_an_empty_plan_does_not_reach_the_goal(safecheck: Safecheck, kitchen: Path) -> None:
    (kitchen / "empty.plan").write_bytes(b"")
    code, text = safecheck("empty.plan")
    assert code == 1
    assert "the goal is not reached" in text
    assert "0 steps" in text


def test_a_binary_file_is_not_printed(safecheck: Safecheck, kitchen: Path) -> None:
    (kitchen / "photo.plan").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 20)
    code, text = safecheck("photo.plan")
    assert code == 2
    assert "not UTF-8" in text
    assert "\x1b" not in text
    assert text.count("\n") < 1000


def test_a_problem_given_as_a_plan_is_recognised(safecheck: Safecheck) -> None:
    code, text = safecheck("problem.pddl")
    assert code == 2
    assert "problem.pddl is a problem, not a plan" in text
    assert "--problem problem.pddl" in text


def test_swapped_domain_and_problem_are_reported(safecheck: Safecheck) -> None:
    code, text = safecheck("stew-and-salad.plan", "--domain", "problem.pddl", "--problem", str(DOMAIN))
    assert code == 2
    assert "expected `(domain name)`" in text
    assert "expected `(problem name)`" in text


def test_a_call_without_arguments_names_the_argument_and_the_help(safecheck: Safecheck) -> None:
    code, text = safecheck()
    assert code == 2
    assert "PLAN" in text
    assert "--help" in text


def test_an_unknown_option_gets_a_suggestion(safecheck: Safecheck) -> None:
    code, text = safecheck("--formt", "json", "stew-and-salad.plan")
    assert code == 2
    assert "--format" in text


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="permissions do not bind this user")
def test_a_file_without_read_permission_is_reported(safecheck: Safecheck, kitchen: Path) -> None:
    (kitchen / "stew-and-salad.plan").chmod(0)
    code, text = safecheck("stew-and-salad.plan")
    assert code == 2
    assert "cannot read the plan stew-and-salad.plan: permission denied" in text


@pytest.mark.skipif(os.name != "posix", reason="needs a file that cannot be opened")
def test_a_file_that_cannot_be_opened_is_reported(safecheck: Safecheck, kitchen: Path) -> None:
    """The root user ignores permissions, but cannot open a link to itself."""
    (kitchen / "loop.plan").symlink_to("loop.plan")
    code, text = safecheck("loop.plan")
    assert code == 2
    assert "SC001" in text
    assert "cannot read the plan loop.plan" in text


def test_a_plan_given_twice_is_checked_twice(safecheck: Safecheck) -> None:
    code, text = safecheck("stew-and-salad.plan", "stew-and-salad.plan", "--format", "concise")
    assert code == 0
    assert text.count("stew-and-salad.plan: SAFE") == 2


def test_the_other_plans_are_checked_if_one_is_missing(safecheck: Safecheck) -> None:
    code, text = safecheck("missing.plan", "stew-and-salad.plan", "--format", "concise")
    assert code == 2
    assert "stew-and-salad.plan: SAFE" in text, "the batch continues"


def test_a_plan_can_be_read_from_standard_input(safecheck: Safecheck, kitchen: Path) -> None:
    plan = (kitchen / "stew-and-salad.plan").read_text(encoding="utf-8")
    code, text = safecheck("-", "--problem", "problem.pddl", stdin=plan)
    assert code == 0
    assert "<stdin>" in text
    assert "SAFE" in text


def test_empty_standard_input_is_an_empty_plan(safecheck: Safecheck) -> None:
    code, text = safecheck("-", "--problem", "problem.pddl")
    assert code == 1
    assert "the goal is not reached" in text


def test_a_specification_of_another_domain_is_reported(safecheck: Safecheck) -> None:
    code, text = safecheck("stew-and-salad.plan", "--spec", str(SEEDS / "machines" / "rules.safe"))
    assert code == 2
    assert "unknown predicate `night`" in text
    assert "rules.safe:" in text
    assert "NOT CHECKED" in text


def test_another_file_given_as_a_specification_is_reported(safecheck: Safecheck) -> None:
    code, text = safecheck("stew-and-salad.plan", "--spec", "problem.pddl")
    assert code == 2
    assert "expected `(define (safety name) ..)`" in text


def test_a_missing_specification_is_reported(safecheck: Safecheck) -> None:
    code, text = safecheck("stew-and-salad.plan", "--spec", "nosuch")
    assert code == 2
    assert "specification not found: nosuch" in text


def test_prose_instead_of_a_plan_is_reported(safecheck: Safecheck, kitchen: Path) -> None:
    (kitchen / "answer.plan").write_text("Sure! Here is the plan:\n1. Take the knife (kitchen)\n", encoding="utf-8")
    code, text = safecheck("answer.plan")
    assert code == 2
    assert "expected a step, found `Sure!`" in text


@pytest.mark.skipif("FUZZ_LONG" not in os.environ, reason="a million steps: part of `make fuzz` (FUZZ_LONG=1)")
def test_a_plan_of_a_million_steps_is_checked(safecheck: Safecheck, kitchen: Path) -> None:
    steps = "(go robot dining-room kitchen)\n(go robot kitchen dining-room)\n" * 500_000
    (kitchen / "long.plan").write_text(steps, encoding="utf-8")
    code, text = safecheck("long.plan", "--format", "concise")
    assert code == 1
    assert "goal" in text
    assert "1000000 steps" in text
