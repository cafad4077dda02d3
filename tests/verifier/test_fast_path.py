"""A valid plan is judged without what only findings, clients or mistakes need."""

from __future__ import annotations

import os
import subprocess
import sys

from engine_texts import domain, problem, safety

LAZY = ("reporting.fact_history", "execution.online_monitor", "kernel", "reporting.confirmation")
FOREIGN = ("difflib", "lark", "json", "asyncio", "typing_extensions", "dataclasses")

SCRIPT = """
import sys
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
domain, problem, spec, plan = sys.argv[1:]
checked = Checker(Source("d", domain), Source("p", problem), [Source("s", spec)] if spec else [])
print(checked.check(Source("plan", plan)).headline.value)
print("\\n".join(sys.modules))
"""
DOMAIN = domain(
    "(:action put :parameters (?x - thing) :precondition (not (on ?x)) :effect (on ?x))", predicates="(on ?x - thing)"
)


def run(spec: str, plan: str) -> tuple[str, set[str]]:
    """The headline, and the modules that a fresh interpreter has loaded."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("COVERAGE", "PYTEST"))}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, DOMAIN, problem(objects="a b - thing", goal="(on a)"), spec, plan],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    headline, *modules = done.stdout.split()
    return headline, set(modules)


def forbidden(modules: set[str]) -> set[str]:
    ours = {f"plansafe.verifier.{name}" for name in LAZY}
    return {name for name in modules if name.startswith(tuple(ours)) or name.split(".")[0] in FOREIGN}


def test_a_valid_plan() -> None:
    headline, modules = run("", "(put a) (put b)")
    assert headline == "VALID"
    assert "plansafe.verifier.execution.replay" in modules
    assert forbidden(modules) == set()


def test_a_safe_plan() -> None:
    headline, modules = run(safety("(:termination r :parameters (?x - thing) :require (on ?x))"), "(put a) (put b)")
    assert headline == "SAFE"
    assert forbidden(modules) == set()


def test_the_list_means_something() -> None:
    """A finding loads what a valid plan does not."""
    headline, modules = run("", "(put b) (put b)")
    assert headline == "INVALID"
    assert "plansafe.verifier.reporting.fact_history" in modules
