"""A kitchen with one rule, for tests of the loop and of its command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., tuple[int, str, str]]
"""Runs a command: exit code, standard output, standard error."""
DOMAIN = """(define (domain kitchen) (:requirements :adl)
  (:types room stove - object)
  (:predicates (robot-in ?r - room) (in ?s - stove ?r - room) (on ?s - stove) (hot ?s - stove))
  (:action switch-on :parameters (?s - stove ?r - room)
    :precondition (and (robot-in ?r) (in ?s ?r) (not (on ?s))) :effect (and (on ?s) (hot ?s)))
  (:action switch-off :parameters (?s - stove ?r - room)
    :precondition (and (robot-in ?r) (in ?s ?r) (on ?s)) :effect (not (on ?s)))
  (:action go :parameters (?from ?to - room)
    :precondition (and (robot-in ?from) (not (= ?from ?to)))
    :effect (and (not (robot-in ?from)) (robot-in ?to))))
"""
PROBLEM = """(define (problem tea) (:domain kitchen)
  (:objects hob - stove kitchen hall - room)
  (:init (robot-in kitchen) (in hob kitchen))
  (:goal (and (robot-in hall) (hot hob))))
"""
RULES = """(define (safety kitchen)
  (:process stove-off-before-leaving :on (go ?from ?to) :rationale "An attended stove burns no home."
    :forbid (exists (?s - stove) (and (in ?s ?from) (on ?s))) :message "a stove is on in {?from}" :fix "switch it off"))
"""
COLD = "(define (safety cold) (:trajectory cold :formula (always (not (hot hob)))))"
UNSAFE = "(switch-on hob kitchen)\n(go kitchen hall)\n"
SAFE = "(switch-on hob kitchen)\n(switch-off hob kitchen)\n(go kitchen hall)\n"


def says(*answers: str) -> str:
    """A file of recorded answers for a task, round by round."""
    lines = [json.dumps({"task": "tea", "text": answer}) + "\n" for answer in answers]
    Path("answers.jsonl").write_text("".join(lines))
    return "replay/answers.jsonl"


def written() -> set[str]:
    """What a command has written."""
    return {path.name for path in Path().iterdir()} - {"task", "answers.jsonl"}
