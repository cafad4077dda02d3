"""A small house with plans in tables and folders, and commands on them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from in_process import safecheck

DOMAIN = """(define (domain house) (:requirements :typing :negative-preconditions)
  (:types room stove)
  (:predicates (robot-in ?r - room) (in ?s - stove ?r - room) (on ?s - stove))
  (:action go :parameters (?from ?to - room) :precondition (and (robot-in ?from) (not (= ?from ?to)))
    :effect (and (not (robot-in ?from)) (robot-in ?to)))
  (:action switch-on :parameters (?s - stove ?r - room) :precondition (and (robot-in ?r) (in ?s ?r) (not (on ?s)))
    :effect (on ?s))
  (:action switch-off :parameters (?s - stove ?r - room) :precondition (and (robot-in ?r) (in ?s ?r) (on ?s))
    :effect (not (on ?s))))
"""
PROBLEM = """(define (problem {name}) (:domain house)
  (:objects kitchen hall - room hob - stove)
  (:init (robot-in {start}) (in hob kitchen)) (:goal (robot-in hall)))
"""
RULES = """(define (safety house-rules) (:domain house)
  (:termination off-at-the-end :severity critical :hazard fire :target (human property)
    :parameters (?s - stove) :require (not (on ?s)) :message "{?s} is left on"))
"""
SAFE = ["(switch-on hob kitchen)", "(switch-off hob kitchen)", "(go kitchen hall)"]
UNSAFE = ["(switch-on hob kitchen)", "(go kitchen hall)"]
INEXECUTABLE = ["(go hall kitchen)"]
UNKNOWN_ACTION = ["(fly kitchen hall)"]


def write_house(folder: Path) -> None:
    """Write the domain, the rules and two problems."""
    (folder / "domain.pddl").write_text(DOMAIN)
    (folder / "house.safe").write_text(RULES)
    (folder / "rooms").mkdir()
    for name in ("day", "night"):
        (folder / "rooms" / f"{name}.pddl").write_text(PROBLEM.format(name=name, start="kitchen"))


def write_table(path: Path, plans: int) -> None:
    """Write a table of plans, in turn safe, unsafe, inexecutable and with an unknown action."""
    scripts = (SAFE, UNSAFE, INEXECUTABLE, UNKNOWN_ACTION)
    with path.open("w") as file:
        for number in range(plans):
            row = {"id": f"p{number}", "room": ("day", "night")[number % 2], "plan": scripts[number % 4], "model": "m"}
            file.write(json.dumps(row) + "\n")


def audit_command(folder: Path, *words: str) -> list[str]:
    """``safecheck audit WORDS`` with the house's files."""
    flags = ["--domain", "domain.pddl", "--spec", "house.safe", "--problem", "rooms/{room}.pddl"]
    return [str(Path(sys.executable).with_name("safecheck")), "audit", *words, *flags]


def run_audit(folder: Path, *words: str) -> CompletedProcess[str]:
    """Run ``safecheck audit WORDS`` with the house's files."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("COVERAGE", "PYTEST"))}
    return safecheck(*audit_command(folder, *words)[1:], cwd=folder, environment=environment)


def rows_without_times(run: Path) -> list[dict[str, Any]]:
    """The rows of a complete run, without times."""
    rows = [json.loads(line) for line in (run / "results.jsonl").read_text().splitlines()]
    return [{key: value for key, value in row.items() if key != "seconds"} for row in rows]
