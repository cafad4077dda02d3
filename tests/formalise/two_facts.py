"""A task in which every sequence of values of two facts is a trace: its actions set both, and there is one start."""

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
    """The task that begins with a letter: the values of p and q."""
    facts = " ".join([f"({name})" for name, value in zip("pq", first, strict=True) if value == "1"])
    return Source("p.pddl", f"(define (problem x) (:domain two) (:init {facts}) (:goal (and)))")


def checker(first: str, rules: Sequence[str], replay: str = "never") -> Checker:
    """The task with rules, which are written without their parentheses and names."""
    written = []
    for number, rule in enumerate(rules):
        kind, _, rest = rule.partition(" ")
        written.append(f"(:{kind} r{number} {rest})")
    spec = Source("r.safe", "(define (safety s) " + "\n".join(written) + ")")
    made = Checker(DOMAIN, problem(first), [spec], Options(replay=replay))
    assert made.ok, (rules, made.diagnostics)
    return made


def kept(judge: Checker, later: Sequence[str]) -> bool:
    """Whether the trace of a start and these letters keeps the rules."""
    plan = Source("x.plan", "".join([f"(set{letter})\n" for letter in later]))
    headline = judge.check(plan).headline
    assert headline in (Headline.SAFE, Headline.VALID, Headline.UNSAFE)
    return headline is not Headline.UNSAFE


def traces(most: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """All traces of at most so many steps: the first letter, and the later ones."""
    for first in LETTERS:
        for length in range(most + 1):
            for later in product(LETTERS, repeat=length):
                yield first, later


def formula(random: Random, depth: int, past: bool) -> str:
    """A formula about both facts; ``past``: without future operators."""
    if depth == 0:
        return random.choice(["(p)", "(q)", "(not (p))", "(not (q))"])
    one, other = formula(random, depth - 1, past), formula(random, depth - 1, past)
    choices = [f"(not {one})", f"(and {one} {other})", f"(or {one} {other})", f"(imply {one} {other})"]
    if past:
        choices += [f"(once {one})", f"(historically {one})", f"(yesterday {one})", f"(since {one} {other})"]
    else:
        choices += [f"(always {one})", f"(sometime {one})", f"(next {one})", f"(until {one} {other})"]
        choices += [f"(weak-next {one})", f"(release {one} {other})", f"(sometime-after {one} {other})"]
    return random.choice(choices)


def rule(random: Random) -> str:
    """A rule of some kind about both facts, without parentheses and name."""
    state = formula(random, random.randint(0, 2), past=True)
    other = formula(random, random.randint(0, 1), past=True)
    letter = random.choice(LETTERS)
    return random.choice(
        [
            f"trajectory :formula {formula(random, random.randint(1, 2), past=False)}",
            f"trajectory :formula (at-most-once {state})",
            f"trajectory :formula (sometime-before {state} {other})",
            f"trajectory :formula (always-within 2 {state} {other})",
            f"trajectory :formula (within 1 {state})",
            f"trajectory :formula (always (imply {state} {other}))",
            f"process :forbid {state}",
            f"process :when {other} :require {state}",
            f"process :on (set{letter}) :require {state}",
            f"process :on (set{letter}) :when {other} :forbid-after {state}",
            f"termination :forbid {state}",
            f"obligation :when {state} :then {other}",
            f"obligation :when {state} :then {other} :within 1",
        ]
    )
