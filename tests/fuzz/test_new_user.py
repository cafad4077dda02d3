"""What first-time users get wrong, through the real command: exit code and essential words."""

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
    """A folder of one's own with the shipped dinner example: a problem and a safe plan."""
    for name in ("problem.pddl", "stew-and-salad.plan"):
        shutil.copy(ROOT / "examples" / "dinner" / name, tmp_path)
    return tmp_path


@pytest.fixture
def safecheck(kitchen: Path) -> Safecheck:
    """Run the command there; the exit code, and output and errors together."""

    def run(*arguments: str, stdin: str = "") -> tuple[int, str]:
        done = subprocess.run(
            [str(COMMAND), *arguments],
            cwd=kitchen,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert "Traceback" not in done.stdout + done.stderr
        return done.returncode, done.stdout + done.stderr

    return run


def test_it_works(safecheck: Safecheck) -> None:
    code, text = safecheck("stew-and-salad.plan")
    assert (code, "SAFE   no findings" in text) == (0, True)


def test_a_wrong_file_name(safecheck: Safecheck) -> None:
    code, text = safecheck("stew-and-salat.plan")
    assert code == 2
    assert "SC601" in text
    assert "did you mean `stew-and-salad.plan`?" in text


def test_a_wrong_domain_name(safecheck: Safecheck) -> None:
    code, text = safecheck("stew-and-salad.plan", "--domain", "domian.pddl")
    assert code == 2
    assert "domain not found: domian.pddl" in text


def test_a_folder_without_plans(safecheck: Safecheck, kitchen: Path) -> None:
    (kitchen / "later").mkdir()
    code, text = safecheck("later")
    assert code == 2
    assert "no plan in the folder later" in text


def test_a_typo_in_an_action(safecheck: Safecheck, kitchen: Path) -> None:
    plan = (kitchen / "stew-and-salad.plan").read_text(encoding="utf-8")
    (kitchen / "typo.plan").write_text(plan.replace("(switch-on ", "(swich-on ", 1), encoding="utf-8")
    code, text = safecheck("typo.plan")
    assert code == 2
    assert "unknown action `swich-on`" in text
    assert "did you mean `switch-on`" in text
    assert "^^^" in text
    assert "INVALID" in text, "the rest of the plan is judged all the same"


def test_a_typo_in_an_object(safecheck: Safecheck, kitchen: Path) -> None:
    plan = (kitchen / "stew-and-salad.plan").read_text(encoding="utf-8")
    (kitchen / "typo.plan").write_text(plan.replace("pot stove ", "pot stov ", 1), encoding="utf-8")
    code, text = safecheck("typo.plan")
    assert code == 2
    assert "unknown object `stov`" in text
    assert "did you mean `stove`" in text


def test_an_empty_plan(safecheck: Safecheck, kitchen: Path) -> None:
    (kitchen / "empty.plan").write_bytes(b"")
    code, text = safecheck("empty.plan")
    assert code == 1
    assert "the goal is not reached" in text
    assert "0 steps" in text


def test_a_binary_file(safecheck: Safecheck, kitchen: Path) -> None:
    (kitchen / "photo.plan").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 20)
    code, text = safecheck("photo.plan")
    assert code == 2
    assert "not UTF-8" in text
    assert "\x1b" not in text
    assert text.count("\n") < 1000


def test_a_problem_given_as_plan(safecheck: Safecheck) -> None:
    code, text = safecheck("problem.pddl")
    assert code == 2
    assert "problem.pddl is a problem, not a plan" in text
    assert "--problem problem.pddl" in text


def test_domain_and_problem_swapped(safecheck: Safecheck) -> None:
    code, text = safecheck("stew-and-salad.plan", "--domain", "problem.pddl", "--problem", str(DOMAIN))
    assert code == 2
    assert "expected `(domain name)`" in text
    assert "expected `(problem name)`" in text


def test_no_arguments(safecheck: Safecheck) -> None:
    code, text = safecheck()
    assert code == 2
    assert "PLAN" in text
    assert "--help" in text


def test_an_unknown_flag(safecheck: Safecheck) -> None:
    code, text = safecheck("--formt", "json", "stew-and-salad.plan")
    assert code == 2
    assert "--format" in text


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="permissions do not bind this user")
def test_a_file_that_may_not_be_read(safecheck: Safecheck, kitchen: Path) -> None:
    (kitchen / "stew-and-salad.plan").chmod(0)
    code, text = safecheck("stew-and-salad.plan")
    assert code == 2
    assert "cannot read the plan stew-and-salad.plan: permission denied" in text


@pytest.mark.skipif(os.name != "posix", reason="needs a file that nobody can read")
def test_a_file_that_cannot_be_read(safecheck: Safecheck, kitchen: Path) -> None:
    """Permissions do not bind the root user; a link to itself cannot be opened by anybody."""
    (kitchen / "loop.plan").symlink_to("loop.plan")
    code, text = safecheck("loop.plan")
    assert code == 2
    assert "SC001" in text
    assert "cannot read the plan loop.plan" in text


def test_the_same_file_twice(safecheck: Safecheck) -> None:
    code, text = safecheck("stew-and-salad.plan", "stew-and-salad.plan", "--format", "concise")
    assert code == 0
    assert text.count("stew-and-salad.plan: SAFE") == 2


def test_a_good_and_a_missing_plan(safecheck: Safecheck) -> None:
    code, text = safecheck("missing.plan", "stew-and-salad.plan", "--format", "concise")
    assert code == 2
    assert "stew-and-salad.plan: SAFE" in text, "the batch goes on"


def test_a_plan_from_standard_input(safecheck: Safecheck, kitchen: Path) -> None:
    plan = (kitchen / "stew-and-salad.plan").read_text(encoding="utf-8")
    code, text = safecheck("-", "--problem", "problem.pddl", stdin=plan)
    assert code == 0
    assert "<stdin>" in text
    assert "SAFE" in text


def test_nothing_on_standard_input(safecheck: Safecheck) -> None:
    code, text = safecheck("-", "--problem", "problem.pddl")
    assert code == 1
    assert "the goal is not reached" in text


def test_a_specification_of_another_domain(safecheck: Safecheck) -> None:
    code, text = safecheck("stew-and-salad.plan", "--spec", str(SEEDS / "machines" / "rules.safe"))
    assert code == 2
    assert "unknown predicate `night`" in text
    assert "rules.safe:" in text
    assert "NOT CHECKED" in text


def test_a_specification_that_is_none(safecheck: Safecheck) -> None:
    code, text = safecheck("stew-and-salad.plan", "--spec", "problem.pddl")
    assert code == 2
    assert "expected `(define (safety name) ..)`" in text


def test_a_specification_that_is_not_there(safecheck: Safecheck) -> None:
    code, text = safecheck("stew-and-salad.plan", "--spec", "nosuch")
    assert code == 2
    assert "specification not found: nosuch" in text


def test_prose_instead_of_a_plan(safecheck: Safecheck, kitchen: Path) -> None:
    (kitchen / "answer.plan").write_text("Sure! Here is the plan:\n1. Take the knife (kitchen)\n", encoding="utf-8")
    code, text = safecheck("answer.plan")
    assert code == 2
    assert "expected a step, found `Sure!`" in text


@pytest.mark.skipif("FUZZ_LONG" not in os.environ, reason="a million steps: part of `make fuzz` (FUZZ_LONG=1)")
def test_a_million_steps(safecheck: Safecheck, kitchen: Path) -> None:
    steps = "(go robot dining-room kitchen)\n(go robot kitchen dining-room)\n" * 500_000
    (kitchen / "long.plan").write_text(steps, encoding="utf-8")
    code, text = safecheck("long.plan", "--format", "concise")
    assert code == 1
    assert "goal" in text
    assert "1000000 steps" in text
