"""Reports are the same with and without assertions, and whatever the speed of the machine."""

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
"""How much slower the machine appears to be where its clock is fast."""
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


def printed(*commands: list[str], optimised: bool = False, speed: int = 1) -> str:
    """What the commands print, one after the other in one process."""
    flags = ["-O"] if optimised else []
    line = [sys.executable, *flags, "-c", RUN, json.dumps(commands), str(speed)]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout + done.stderr


@pytest.mark.slow
def test_example_reports_are_the_same_with_optimisation_and_on_a_slow_machine() -> None:
    commands = [["examples", "--format", "json"], ["examples", "--replay", "always"]]
    plain = printed(*commands)
    assert plain.count('"headline"') >= 18
    assert printed(*commands, optimised=True) == plain
    assert printed(*commands, speed=SLOW) == plain


@pytest.mark.slow
def test_reports_of_simultaneous_events_are_the_same_with_optimisation(tmp_path: Path) -> None:
    files = {"d.pddl": DOMAIN, "p.pddl": PROBLEM, "s.safe": RULE, "x.plan": "0: (bake a) [3 +- 1]\n3: (open-door)\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    at = {name: str(tmp_path / name) for name in files}
    command = [at["x.plan"], "--domain", at["d.pddl"], "--problem", at["p.pddl"], "--spec", at["s.safe"]]
    plain = printed(command)
    assert "safe SOME" in plain
    assert printed(command, optimised=True) == plain


def narrows(test: ast.expr) -> bool:
    """Whether an assertion only says of what type something is, which is for type checkers."""
    match test:
        case ast.BoolOp():
            return all(map(narrows, test.values))
        case ast.UnaryOp():
            return narrows(test.operand)
        case ast.Compare(ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant()]):
            return narrows(test.left)
        case ast.Call(func=ast.Name(id="isinstance")):
            return narrows(test.args[0])
        case ast.Attribute():
            return narrows(test.value)
    return isinstance(test, ast.Name)


def test_assertions_only_narrow_types() -> None:
    assert not narrows(ast.parse("now == later", mode="eval").body)
    texts = {file: file.read_text(encoding="utf-8") for folder in SHIPPED for file in (ROOT / folder).rglob("*.py")}
    asserted = [
        (f"{file.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}", node)
        for file, text in texts.items()
        if "assert " in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Assert)
    ]
    assert [where for where, node in asserted if not narrows(node.test)] == []
