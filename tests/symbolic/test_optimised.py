"""Reports are the same with and without assertions, and on slow and fast machines."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHIPPED = ("grammar", "verifier", "specs", "domains", "llm", "align", "app")
SLOW = 20
"""The factor by which the clock is accelerated, so that the machine appears slower."""
RUN = """import json, sys, time
speed, clock = int(sys.argv[2]), time.monotonic
time.monotonic = lambda: speed * clock()
from plansafe.app.interfaces.cli.commandline import app
for arguments in json.loads(sys.argv[1]):
    try:
        app(arguments, prog_name="safecheck")
    except SystemExit as stop:
        print("exit", stop.code, flush=True)
"""
DOMAIN = """(define (domain kitchen) (:types dish) (:predicates (hot ?d - dish) (door-open))
  (:durative-action bake :parameters (?d - dish) :duration (>= ?duration 1) :condition (and) :effect (at end (hot ?d)))
  (:action open-door :effect (door-open)))"""
PROBLEM = """(define (problem p) (:domain kitchen) (:objects a - dish) (:init) (:goal (and))
  (:constraints (at-most-once (and (hot a) (door-open)))))"""
RULE = "(define (safety s) (:trajectory r :formula (or (within 3 (hot a)) (not (within 3.5 (hot a))))))"


def run_commands(*commands: list[str], optimised: bool = False, speed: int = 1) -> str:
    """The output of the commands, run one after the other in one process."""
    flags = ["-O"] if optimised else []
    command_line = [sys.executable, *flags, "-c", RUN, json.dumps(commands), str(speed)]
    process = subprocess.run(command_line, cwd=ROOT, capture_output=True, text=True, check=True)
    return process.stdout + process.stderr


@pytest.mark.slow
def test_example_reports_are_the_same_with_optimisation_and_on_a_slow_machine() -> None:
    commands = [["examples", "--format", "json"], ["examples", "--replay", "always"]]
    plain = run_commands(*commands)
    assert plain.count('"headline"') >= 18
    assert run_commands(*commands, optimised=True) == plain
    assert run_commands(*commands, speed=SLOW) == plain


@pytest.mark.slow
def test_reports_of_simultaneous_events_are_the_same_with_optimisation(tmp_path: Path) -> None:
    files = {"d.pddl": DOMAIN, "p.pddl": PROBLEM, "s.safe": RULE, "x.plan": "0: (bake a) [3 +- 1]\n3: (open-door)\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    paths = {name: str(tmp_path / name) for name in files}
    command = [paths["x.plan"], "--domain", paths["d.pddl"], "--problem", paths["p.pddl"], "--spec", paths["s.safe"]]
    plain = run_commands(command)
    assert "safe SOME" in plain
    assert run_commands(command, optimised=True) == plain


def only_narrows_type(test: ast.expr) -> bool:
    """Whether an assertion only narrows a type for type checkers."""
    match test:
        case ast.BoolOp():
            return all(map(only_narrows_type, test.values))
        case ast.UnaryOp():
            return only_narrows_type(test.operand)
        case ast.Compare(ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant()]):
            return only_narrows_type(test.left)
        case ast.Call(func=ast.Name(id="isinstance")):
            return only_narrows_type(test.args[0])
        case ast.Attribute():
            return only_narrows_type(test.value)
    return isinstance(test, ast.Name)


def test_assertions_only_narrow_types() -> None:
    assert not only_narrows_type(ast.parse("now == later", mode="eval").body)
    texts = {file: file.read_text(encoding="utf-8") for folder in SHIPPED for file in (ROOT / folder).rglob("*.py")}
    asserted = [
        (f"{file.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}", node)
        for file, text in texts.items()
        if "assert " in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Assert)
    ]
    assert [where for where, node in asserted if not only_narrows_type(node.test)] == []
