"""A task in which every sequence of values of two facts is a trace, because its actions set both facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from random import Random

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.reporting.report import Headline

LETTERS = ("00", "01", "10", "11")
_SET = {"0": "(not ({}))", "1": "({})"}
DOMAIN = Source(
    "d.pddl",
    "(define (domain two) (:predicates (p) (q))\n"
    + "\n".join([f"(:action set{x} :effect (and {_SET[x[0]].format('p')} {_SET[x[1]].format('q')}))" for x in LETTERS])
    + ")",
)


def problem(first: str) -> Source:
    """Return the task whose initial state is a letter: the values of p and q."""
    facts = " ".join([f"({name})" for name, value in zip("pq", first, strict=True) if value == "1"])
    return Source("p.pddl", f"(define (problem x) (:domain two) (:init {facts}) (:goal (and)))")


def make_checker(first: str, rules: Sequence[str], replay: str = "never") -> Checker:
    """Return a checker of the task; the rules are written without their parentheses and names."""
    written = []
    for number, rule in enumerate(rules):
        kind, _, body = rule.partition(" ")
        written.append(f"(:{kind} r{number} {body})")
    spec = Source("r.safe", "(define (safety s) " + "\n".join(written) + ")")
    compiled = Checker(DOMAIN, problem(first), [spec], Options(replay=replay))
    assert compiled.ok, (rules, compiled.diagnostics)
    return compiled


def satisfies(checker_of_rules: Checker, later: Sequence[str]) -> bool:
    """Return whether the trace of the initial state and these letters satisfies the rules."""
    plan = Source("x.plan", "".join([f"(set{letter})\n" for letter in later]))
    headline = checker_of_rules.check(plan).headline
    assert headline in (Headline.SAFE, Headline.VALID, Headline.UNSAFE)
    return headline is not Headline.UNSAFE


def traces(max_steps: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield all traces of at most this number of steps: the first letter, and the later letters."""
    for first in LETTERS:
        for length in range(max_steps + 1):
            for later in product(LETTERS, repeat=length):
                yield first, later


def random_formula(random: Random, depth: int, past: bool) -> str:
    """Return a random formula about both facts; with ``past``, without future operators."""
    if depth == 0:
        return random.choice(["(p)", "(q)", "(not (p))", "(not (q))"])
    left, right = random_formula(random, depth - 1, past), random_formula(random, depth - 1, past)
    choices = [f"(not {left})", f"(and {left} {right})", f"(or {left} {right})", f"(imply {left} {right})"]
    if past:
        choices += [f"(once {left})", f"(historically {left})", f"(yesterday {left})", f"(since {left} {right})"]
    else:
        choices += [f"(always {left})", f"(sometime {left})", f"(next {left})", f"(until {left} {right})"]
        choices += [f"(weak-next {left})", f"(release {left} {right})", f"(sometime-after {left} {right})"]
    return random.choice(choices)


def random_rule(random: Random) -> str:
    """Return a random rule about both facts, without parentheses and name."""
    state = random_formula(random, random.randint(0, 2), past=True)
    condition = random_formula(random, random.randint(0, 1), past=True)
    letter = random.choice(LETTERS)
    return random.choice(
        [
            f"trajectory :formula {random_formula(random, random.randint(1, 2), past=False)}",
            f"trajectory :formula (at-most-once {state})",
            f"trajectory :formula (sometime-before {state} {condition})",
            f"trajectory :formula (always-within 2 {state} {condition})",
            f"trajectory :formula (within 1 {state})",
            f"trajectory :formula (always (imply {state} {condition}))",
            f"process :forbid {state}",
            f"process :when {condition} :require {state}",
            f"process :on (set{letter}) :require {state}",
            f"process :on (set{letter}) :when {condition} :forbid-after {state}",
            f"termination :forbid {state}",
            f"obligation :when {state} :then {condition}",
            f"obligation :when {state} :then {condition} :within 1",
        ]
    )
