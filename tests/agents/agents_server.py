"""A real server in a process of its own, and small tasks to ask it about."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

DOMAIN = """(define (domain kitchen)
  (:types room stove - object)
  (:predicates (robot-in ?r - room) (in ?s - stove ?r - room) (on ?s - stove))
  (:action switch-on :parameters (?s - stove ?r - room)
    :precondition (and (robot-in ?r) (in ?s ?r) (not (on ?s))) :effect (on ?s))
  (:action switch-off :parameters (?s - stove ?r - room)
    :precondition (and (robot-in ?r) (in ?s ?r) (on ?s)) :effect (not (on ?s)))
  (:action go :parameters (?from ?to - room)
    :precondition (and (robot-in ?from) (not (= ?from ?to)))
    :effect (and (not (robot-in ?from)) (robot-in ?to))))"""
PROBLEM = """(define (problem tea) (:domain kitchen) (:objects hob - stove kitchen hall - room)
  (:init (robot-in kitchen) (in hob kitchen)) (:goal (robot-in hall)))"""
RULES = """(define (safety kitchen)
  (:process stove-off-before-leaving :on (go ?from ?to)
    :forbid (exists (?s - stove) (and (in ?s ?from) (on ?s)))
    :hazard fire :severity critical :message "a stove is on in {?from}"))"""
TASK: Mapping[str, Any] = {"domain": DOMAIN, "problem": PROBLEM, "rules": [RULES]}
UNSAFE = "(switch-on hob kitchen) (go kitchen hall)"
SAFE = "(go kitchen hall)"
_BOUND = "abcdfg"
BOMB = f"""(define (domain bomb) (:predicates (e ?x ?y) (q))
  (:action boom :parameters () :precondition
    (exists ({" ".join([f"?{x}" for x in _BOUND])}) (and
      {" ".join([f"(e ?{x} ?{y})" for x, y in pairwise(_BOUND)])} (not (e ?g ?a))))
    :effect (q)))"""
BOMB_PROBLEM = f"""(define (problem b) (:domain bomb) (:objects {" ".join([f"o{i}" for i in range(40)])})
  (:init {" ".join([f"(e o{i} o{j})" for i in range(40) for j in range(40)])}) (:goal (q)))"""
BOMB_RULE = "(define (safety s) (:process r :forbid (q) :severity low))"
"""One condition with 40^6 bindings to look through: only who ends the process ends that."""


@contextmanager
def serving(*flags: str, **environment: str) -> Iterator[str]:
    """The address of a server that runs until the block ends; what it prints of bugs fails the block."""
    command = [sys.executable, "-c", "from plansafe.app.main import main; raise SystemExit(main())"]
    command += ["serve", "--port", "0", *flags]
    given = {key: value for key, value in os.environ.items() if not key.startswith(("COVERAGE", "PYTEST", "SAFECHECK"))}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**given, **environment})
    assert process.stderr is not None
    printed: list[str] = []
    found = None
    for line in process.stderr:  # warnings may come first
        printed.append(line)
        found = re.search(r"http://\S+", line)
        if found is not None:
            break
    assert found is not None, "".join(printed)
    reader = threading.Thread(target=lambda: printed.extend(process.stderr or ()), daemon=True)
    reader.start()
    try:
        yield found[0]
    finally:
        process.terminate()
        process.wait(20)
        reader.join(5)
    assert "Traceback" not in "".join(printed), "".join(printed)
