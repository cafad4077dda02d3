"""``safecheck plan`` with another goal, in home worlds, and with hazards in the initial state."""

from __future__ import annotations

from pathlib import Path

import pytest
from loop_kitchen import COLD, Run, written_files

from plansafe.app.session.goal_text import read_goal, with_goal
from plansafe.app.session.option_values import BadOption
from plansafe.grammar.source import Source
from shared_kitchen import PROBLEM, SAFE

HOME = str(Path(__file__).resolve().parents[2] / "examples/virtualhome/home.json")
MILK = "(and (closed fridge_11) (holds_rh character_3 milk_21))"


def test_a_goal_option_replaces_the_goal_of_the_problem(run: Run) -> None:
    code, out, _ = run("-m", "mock/planner", "--problem", "task/p.pddl", "--goal", "(on hob) ; and nothing else")
    assert code == 0
    assert "1  (switch-on hob kitchen)  model" in out
    assert "VALID   no findings, 1 step" in out
    assert "task/p.pddl  (--problem, with another goal)" in out
    assert Path("task/p.pddl").read_text() == PROBLEM


def test_a_goal_option_for_a_problem_without_a_goal() -> None:
    bare = "(define (problem x) (:domain d) ; (:goal (no))\n (:init))"
    assert with_goal(Source("x", bare), "(on hob)").text == bare[:-1] + " (:goal (on hob)))"
    assert with_goal(Source("x", bare), "").text == bare[:-1] + " (:goal (and)))"
    assert with_goal(Source("p", PROBLEM), "").text == PROBLEM
    assert "(:goal (on hob)))" in with_goal(Source("p", PROBLEM), "(on hob)").text
    for text in ("(((", "", "(on hob)", "(define)(define)"):
        assert with_goal(Source("x", text), "").text in (text, "(define (:goal (and)))")


@pytest.mark.parametrize("goal", ["(on hob", "(on hob)) (:init (on hob)", "(on hob) (on hob)", "(", "(()))"])
def test_a_goal_that_is_not_a_condition_is_refused(goal: str, run: Run) -> None:
    with pytest.raises(BadOption):
        read_goal(goal)
    code, _, err = run("-m", "mock/planner", "--problem", "task/p.pddl", "--goal", goal)
    assert code == 2
    assert "SC607" in err


def test_a_goal_of_unknown_words_is_an_error_with_the_near_name(run: Run) -> None:
    code, out, _ = run("-m", "mock/planner", "--problem", "task/p.pddl", "--goal", "(hott hob)")
    assert code == 2
    assert "unknown predicate `hott`" in out
    assert "did you mean `hot`?" in out


SCRIPT = "[WALK] <milk> (1.21)\n[OPEN] <fridge> (1.11)\n[GRAB] <milk> (1.21)\n[CLOSE] <fridge> (1.11)\n"


@pytest.mark.slow
def test_a_plan_for_a_script_world_is_a_script(run: Run) -> None:
    Path("milk.txt").write_text(f"Milk\n\n{SCRIPT}")
    model = ("-m", "mock/reference", "--reference", "milk.txt")
    code, out, err = run(*model, "--world", "virtualhome", "--scene", HOME, "--goal", MILK, "-o", "again.txt", "Milk!")
    assert (code, err) == (0, "")
    assert "(grab character_3 milk_21)" in out
    assert "home.json  (--scene)" in out
    assert Path("again.txt").read_text() == SCRIPT


def test_unknown_worlds_and_missing_options_are_refused(run: Run) -> None:
    for words, code in (
        (("--world", "virtuallhome", "--scene", HOME, "--goal", MILK), "SC610"),
        (("--world", "virtualhome", "--goal", MILK), "SC603"),
        (("--world", "virtualhome", "--scene", "none.json", "--goal", MILK), "SC601"),
        (("--scene", HOME, "--goal", MILK), "SC607"),
        (("--problem", "task/p.pddl", "--goal", "goals.json"), "SC607"),
    ):
        exit_code, out, err = run("-m", "mock/planner", *words)
        assert exit_code == 2
        assert code in out + err
    assert written_files() == set()


def test_an_initial_violation_is_reported_with_the_option_that_accepts_it(run: Run) -> None:
    Path("task/p.pddl").write_text(PROBLEM.replace("(robot-in kitchen)", "(robot-in kitchen) (hot hob)"))
    Path("task/kitchen.safe").write_text(COLD)
    options = ("-m", "mock/planner", "--problem", "task/p.pddl", "--goal", "(robot-in hall)")
    code, out, _ = run(*options)
    assert code == 1
    assert "PROVED: no plan reaches the goal and keeps the rules" in out
    assert "--judge introduced accepts a plan without new violations" in out
    code, out, _ = run(*options, "--judge", "introduced")
    assert code == 0
    assert "the scene already had 1 hazard" in out


def test_the_option_is_not_suggested_if_a_plan_must_break_a_rule(run: Run) -> None:
    Path("task/kitchen.safe").write_text(COLD)
    code, out, _ = run("-m", "mock/planner", "--problem", "task/p.pddl")
    assert code == 1
    assert "change the goal, the rules or the problem" in out
    assert "introduced" not in out


def test_a_gate_needs_rules(run: Run) -> None:
    options = ("-m", "mock/planner", "--problem", "task/p.pddl", "--no-default-spec", "--gate")
    code, out, _ = run(*options)
    assert code == 2
    assert "SC620" in out
    code, out, _ = run(*options, "--allow-no-rules", "-o", "-")
    assert code == 0
    assert SAFE not in out
