"""Rewritings of a hybrid case that keep its verdict and its violated rules."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any

from hybrid_random import HybridCase, decimal
from pointwise import Sexp, read

BOUNDS = {"within": 1, "always-within": 1, "hold-during": 2, "hold-after": 1}


def write(expr: Sexp) -> str:
    """Return an expression as text."""
    return expr if isinstance(expr, str) else "(" + " ".join(map(write, expr)) + ")"


def rewrite(expr: Sexp, change: Callable[[Sexp], Sexp]) -> Sexp:
    """Apply a change to all parts of an expression, then to the expression."""
    return change(expr if isinstance(expr, str) else tuple(rewrite(part, change) for part in expr))


def map_texts(case: HybridCase, change: Callable[[Sexp], Sexp]) -> HybridCase:
    """Rewrite all expressions of a case, except its plan and its head."""

    def rewrite_all(texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(write(rewrite(read(text), change)) for text in texts)

    return case._replace(
        structures=rewrite_all(case.structures),
        init=rewrite_all(case.init),
        constraints=rewrite_all(case.constraints),
        rules=rewrite_all(case.rules),
        goal=write(rewrite(read(case.goal), change)),
    )


def scale_time(case: HybridCase, random: Random) -> HybridCase:
    """Everything takes longer or shorter by one factor, and all rates are divided by it."""
    factor = Fraction(random.choice((2, 3, 5, Fraction(1, 2), Fraction(4, 5))))

    def scaled(number: str) -> str:
        return decimal(Fraction(number) * factor)

    def change(expr: Sexp) -> Sexp:
        match expr:
            case ("*", "#t", rate):
                return ("*", "#t", ("/", ("*", rate, str(factor.denominator)), str(factor.numerator)))
            case ("at", str(time), fact) if time[0].isdigit():
                return ("at", scaled(time), fact)
            case (str(op), *operands) if op in BOUNDS:
                n = BOUNDS[op]
                return (op, *map(scaled, operands[:n]), *operands[n:])
            case (op, "?duration", number):
                return (op, "?duration", scaled(number))
            case (":obligation", *fields) if ":within" in fields:
                place = fields.index(":within") + 1
                return (":obligation", *fields[:place], scaled(fields[place]), *fields[place + 1 :])
        return expr

    rate = f"(/ {factor.denominator} {factor.numerator})"
    head = case.head.replace("(* #t 1)", f"(* #t {rate})")
    steps = tuple(re.sub(r"(?<=\[)[0-9.]+|^[0-9.]+", lambda number: scaled(number[0]), step) for step in case.steps)
    return map_texts(case, change)._replace(head=head, steps=steps)


def split_processes(case: HybridCase, _random: Random) -> HybridCase:
    """Each process becomes two with half of its rates."""

    def halve(expr: Sexp) -> Sexp:
        return ("*", "#t", ("*", "0.5", expr[2])) if expr[:2] == ("*", "#t") else expr

    structures = list[str]()
    for text in case.structures:
        expr = read(text)
        if expr[0] == ":process":
            half = rewrite(expr, halve)
            structures += [write(half), write((half[0], f"{half[1]}-again", *half[2:]))]
        else:
            structures.append(text)
    return case._replace(structures=tuple(structures))


def rename(case: HybridCase, _random: Random) -> HybridCase:
    """Predicates, functions, processes, events and actions have other names, and other orders of names."""
    names = ["b0", "b1", "b2", "on", "x", "c", "y", "z", "k", "clock"]
    renamed = {name: f"n{i}" for i, name in enumerate(reversed(names))}

    def change(expr: Sexp) -> Sexp:
        if isinstance(expr, tuple) and expr and isinstance(expr[0], str) and expr[0] in renamed:
            return (renamed[expr[0]], *expr[1:])
        if isinstance(expr, str) and re.fullmatch(r"[pead][0-9]", expr):
            return f"v{expr}"
        return expr

    head = re.sub(r"\((\w+)", lambda match: f"({renamed.get(match[1], match[1])}", case.head)
    steps = tuple(re.sub(r"\(([ad][0-9])", r"(v\1", step) for step in case.steps)
    return map_texts(case, change)._replace(head=head, steps=steps, structures=_reverse(map_texts(case, change)))


def _reverse(case: HybridCase) -> tuple[str, ...]:
    return tuple(reversed(case.structures))


def add_actions_without_effect(case: HybridCase, random: Random) -> HybridCase:
    """Actions that do nothing happen before the end of the plan."""
    ends = [Fraction(n) for n in re.findall(r"(?m)^[0-9.]+", case.plan())]
    durations = re.findall(r"(?m)^([0-9.]+):.*\[([0-9.]+)\]", case.plan())
    ends += [Fraction(start) + Fraction(duration) for start, duration in durations]
    horizon = max(ends, default=Fraction(0))
    times = {horizon * Fraction(random.randint(0, 8), 8) for _ in range(3)}
    steps = [f"{decimal(time)}: (nothing)" for time in times]
    return case._replace(
        structures=(*case.structures, "(:action nothing :parameters () :effect ())"), steps=(*case.steps, *steps)
    )


def add_unrelated_process(case: HybridCase, _random: Random) -> HybridCase:
    """A process and an event change numbers and facts that nothing else reads."""
    head = case.head.replace("(:functions ", "(:functions (other) (other-rate) ")
    head = head.replace("(:predicates ", "(:predicates (reported) ")
    process = "(:process other-flow :parameters () :precondition () :effect (decrease (other) (* #t (other-rate))))"
    event = "(:event tell :parameters () :precondition (and (<= (other) -2) (not (reported))) :effect (reported))"
    return case._replace(
        head=head,
        structures=(process, *case.structures, event),
        init=(*case.init, "(= (other) 0)", "(= (other-rate) 1.5)"),
    )


REWRITINGS: tuple[Callable[[HybridCase, Random], HybridCase], ...] = (
    scale_time,
    split_processes,
    rename,
    add_actions_without_effect,
    add_unrelated_process,
)


def rewrite_case(case: HybridCase, number: Any) -> tuple[str, HybridCase]:
    """Return the name of a rewriting, chosen by a number, and the rewritten case."""
    rewriting = REWRITINGS[number % len(REWRITINGS)]
    return rewriting.__name__, rewriting(case, Random(str(number)))
