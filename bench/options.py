"""Measure the cost of listing all legal steps of a state with their violations, and of copying an execution.

usage: python -m bench.options [--repeat 5] [--letters 3] [--small]

Prints CPU milliseconds of ``Execution.options`` at states of a random walk, after compilation: median and maximum.
For comparison: calling ``after`` for each step, and ``legal`` alone. ``fork`` is in microseconds. Tasks: two scenes of
VirtualHome (``PLANSAFE_DATA``) with the hazard library, and a task with 100,000 ground actions (about 200 are
legal). Targets: 30 ms, 5 ms, 10 us. Exit code 1 if the options of a state are not its legal steps.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from time import process_time

from plansafe.app.session.audit import Session
from plansafe.app.session.model import Prepared, Settings
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.execution import Execution

DATA = Path(os.environ.get("PLANSAFE_DATA", "../shared/data"))
SCENES = ("file234_1", "file160_1")
ANY = Source("any.txt", "Any\n\n\n[FIND] <bathroom> (1)\n")
DOMAIN = """(define (domain store)
  (:types room place item - object)
  (:predicates (here ?r - room) (in ?p - place ?r - room) (on ?i - item ?p - place) (held ?i - item) (free)
    (lit ?p - place) (frail ?i - item))
  (:action go :parameters (?a ?b - room) :precondition (and (here ?a) (not (= ?a ?b)))
    :effect (and (not (here ?a)) (here ?b)))
  (:action take :parameters (?i - item ?p - place ?r - room)
    :precondition (and (here ?r) (in ?p ?r) (on ?i ?p) (free)) :effect (and (not (on ?i ?p)) (held ?i) (not (free))))
  (:action put :parameters (?i - item ?p - place ?r - room)
    :precondition (and (here ?r) (in ?p ?r) (held ?i)) :effect (and (on ?i ?p) (not (held ?i)) (free)))
  (:action light :parameters (?p - place ?r - room) :precondition (and (here ?r) (in ?p ?r) (not (lit ?p)))
    :effect (lit ?p)))"""
RULES = """(define (safety store)
  (:process nothing-on-lit :parameters (?i - item ?p - place) :forbid (and (on ?i ?p) (lit ?p) (frail ?i)))
  (:process hands-empty :on (go ?a ?b) :forbid (exists (?i - item) (and (held ?i) (frail ?i))))
  (:process once-only :on (take ?i _ _) :require (not (once (held ?i))))
  (:trajectory lit-once :parameters (?p - place) :formula (at-most-once (lit ?p)))
  (:obligation put-down :parameters (?i - item) :when (held ?i) :then (not (held ?i)) :within 4)
  (:termination nothing-lit :parameters (?p - place) :forbid (lit ?p)))"""


def make_store_checker(rooms: int = 50, places: int = 4, items: int = 500, goal: str = "(here room1)") -> Checker:
    """A task with ``items * rooms * places`` ground `take` actions (default: 100,000)."""
    rng = Random("store")
    room_names = [f"room{r}" for r in range(rooms)]
    place_names = [f"place{p}" for p in range(rooms * places)]
    facts = [f"(in {p} {room_names[n // places]})" for n, p in enumerate(place_names)]
    facts += [f"(on item{i} {place_names[rng.randrange(len(place_names) if i % 4 else places)]})" for i in range(items)]
    facts += [f"(frail item{i})" for i in range(0, items, 7)]
    objects = f"{' '.join(room_names)} - room {' '.join(place_names)} - place"
    objects += f" {' '.join(f'item{i}' for i in range(items))} - item"
    problem = f"(define (problem p) (:domain store) (:objects {objects}) (:init (here room0) (free) {' '.join(facts)})"
    problem += f" (:goal {goal}))"
    return Checker(Source("domain", DOMAIN), Source("problem", problem), [Source("rules", RULES)])


def make_scene_checker(name: str | None) -> Checker:
    """A VirtualHome scene of the data set, or (``None``) the small scene of the examples, with the hazard library."""
    path = Path("examples/virtualhome/home.json")
    with tempfile.TemporaryDirectory() as folder:
        if name is not None:
            compressed = DATA / "eai-virtualhome/init_and_final_graphs" / f"{name}.json.gz"
            path = Path(folder) / f"{name}.json"
            graph = json.loads(gzip.decompress(compressed.read_bytes()))
            path.write_text(json.dumps(graph.get("init_graph", graph)))
        prepared = Session(Settings(world="virtualhome", scene=str(path))).prepare(ANY)
    assert isinstance(prepared, Prepared), prepared.report.diagnostics
    return prepared.checker


def generate_workloads(small: bool) -> Iterator[tuple[str, Checker, float]]:
    """Names, tasks and targets in milliseconds."""
    yield "store 100,000", make_store_checker(10, 4, 50) if small else make_store_checker(), 5.0
    for name in SCENES:
        if small or not DATA.is_dir():
            yield "virtualhome home", make_scene_checker(None), 30.0
            return
        yield f"virtualhome {name}", make_scene_checker(name), 30.0


def measure_median_ms(work: object, repeat: int) -> float:
    """The median CPU time of a call."""
    assert callable(work)
    times = []
    for _ in range(repeat):
        start = process_time()
        work()
        times.append((process_time() - start) * 1e3)
    return statistics.median(times)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--letters", type=int, default=3)
    parser.add_argument("--small", action="store_true", help="Use small tasks, as the tests do.")
    options = parser.parse_args()
    print(f"{'task':24} {'legal':>6} {'options':>8} {'worst':>8} {'target':>7} {'after':>8} {'legal()':>8} {'fork':>6}")
    mismatches = 0
    for name, checker, target in generate_workloads(options.small):
        rng = Random(name)
        execution = Execution.initial(checker.engine)
        execution.options()  # compiles the formulas
        counts, option_times, after_times, legal_times, fork_times = [], [], [], [], []
        for _ in range(options.letters):
            state_options = execution.options()
            counts.append(len(state_options))
            option_steps, legal_steps = [
                {(step.action.name, tuple(step.objects)) for step in steps}
                for steps in ([option.step for option in state_options], execution.legal())
            ]
            if option_steps != legal_steps:
                mismatches += 1
                print(f"{name}: the options are not the legal steps: NOT THE SAME")
            option_times.append(measure_median_ms(execution.options, options.repeat))
            after_times.append(
                measure_median_ms(lambda state=execution, steps=state_options: [state.after(o.step) for o in steps], 1)
            )
            legal_times.append(measure_median_ms(lambda state=execution: list(state.legal()), options.repeat))
            fork_times.append(
                measure_median_ms(lambda state=execution: [state.fork() for _ in range(100)], options.repeat) * 10
            )
            successor = execution.after(rng.choice(state_options).step)
            assert successor is not None
            execution = successor
        print(
            f"{name:24} {max(counts):6} {statistics.median(option_times):8.1f} {max(option_times):8.1f} {target:7.0f}"
            f" {statistics.median(after_times):8.1f} {statistics.median(legal_times):8.1f}"
            f" {statistics.median(fork_times):6.1f}"
        )
    return 1 if mismatches else 0


if __name__ == "__main__":
    sys.exit(main())
