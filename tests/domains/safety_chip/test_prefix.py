"""Prefix LTL: accepted and rejected formulas, and a translation that agrees with the operators."""

from __future__ import annotations

import random

import pytest

from plansafe.domains.safety_chip import WORLD
from plansafe.domains.safety_chip.prefix import Formula, Node, NotAFormula, atoms, parse, to_specification
from plansafe.domains.world import Request
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.reporting.report import Worlds


@pytest.mark.parametrize(
    ("prefix", "specification"),
    [
        (
            "G i agent_at(kitchen) F is_switchedon(tv)",
            "(always (imply (agent_at kitchen) (sometime (is_switchedon tv))))",
        ),
        ("W ! a b", "(release (agent_at b) (or (not (agent_at a)) (agent_at b)))"),
        ("U is_in(apple, fridge) agent_at(living room)", "(until (is_in apple fridge) (agent_at livingroom))"),
        ("G i is_open(tv) F !is_open(tv)", "(always (imply (is_open tv) (sometime (not (is_open tv)))))"),
        ("F is_in(mug,sofa)", "(sometime (is_on mug sofa))"),
        ("| 0 R 1 is_open(fridge)", "(or (or) (release (and) (is_open fridge)))"),
    ],
)
def test_reads(prefix: str, specification: str) -> None:
    assert to_specification(parse(prefix)) == specification


@pytest.mark.parametrize(
    ("prefix", "message", "place"),
    [
        ("G i agent_at(kitchen)", "the operator `i` lacks an argument", "i"),
        ("agent_at(kitchen) F is_open(fridge)", "the formula ends before this", "F"),
        ("G is_lit(lamp)", "`is_lit` is not a predicate of this home world", "is_lit(lamp)"),
        ("G is_in(apple)", "`is_in` takes 2 names", "is_in(apple)"),
        ("G ( a", "only propositions may have parentheses", "("),
        ("F agent_at(a;b)", "is not a proposition", "agent_at(a;b)"),
        ("  ", "the formula is empty", "  "),
    ],
)
def test_refuses_with_the_place(prefix: str, message: str, place: str) -> None:
    with pytest.raises(NotAFormula, match=message.replace("(", r"\(")) as caught:
        parse(prefix)
    assert prefix[slice(*caught.value.span)] == place


def test_next_over_many_propositions_is_refused() -> None:
    formula = parse("& X a & b & c & d & j k")
    with pytest.raises(NotAFormula, match="more than 5 propositions"):
        to_specification(formula)


def test_nested_next_is_refused_before_it_fills_the_memory() -> None:
    with pytest.raises(NotAFormula, match="too large"):
        to_specification(parse("X " * 200 + "& a b"))


def test_deep_formulas_are_accepted() -> None:
    assert to_specification(parse("! " * 20_000 + "a")).count("(not") == 20_000


def holds(formula: Formula, trace: list[frozenset[str]], at: int = 0) -> bool:
    """Evaluate a formula by its definition over a trace without repetitions; the trace is complete."""
    match formula:
        case str():
            return formula == "(and)"
        case Node(operator, arguments):
            later_positions = range(at, len(trace))
            first = [holds(arguments[0], trace, j) for j in later_positions]
            second = [holds(arguments[-1], trace, j) for j in later_positions]
            until = any(second[k] and all(first[:k]) for k in range(len(later_positions)))
            release = all(second[k] or any(first[:k]) for k in range(len(later_positions)))
            return {
                "!": not first[0],
                "&": first[0] and second[0],
                "|": first[0] or second[0],
                "i": not first[0] or second[0],
                "e": first[0] == second[0],
                "^": first[0] != second[0],
                "X": len(later_positions) > 1 and first[1],
                "F": any(first),
                "G": all(first),
                "U": until,
                "W": until or all(first),
                "R": release,
                "M": release and any(first),
            }[operator]
        case atom:
            return str(atom) in trace[at]


def random_formula(rng: random.Random, depth: int) -> str:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(["is_open(fridge)", "agent_at(kitchen)", "is_switchedon(tv)"])
    operator = rng.choice(["!", "X", "F", "G", "&", "|", "i", "e", "^", "U", "W", "R", "M"])
    count = 1 if operator in "!XFG" else 2
    return " ".join([operator, *[random_formula(rng, depth - 1) for _ in range(count)]])


@pytest.mark.parametrize("seed", range(120))
def test_the_verdict_is_the_definition(seed: int) -> None:
    rng = random.Random(seed)
    text = random_formula(rng, rng.randint(1, 3))
    scene = WORLD.read_scene(Request({"scene": Source("s", f"start bedroom\n{text}\n")}))
    if any(note.code == "SC015" for note in scene.notes):  # too many steps for X
        pytest.skip("too large")
    steps = ["(walk bedroom kitchen)", "(walk kitchen bedroom)"]
    facts, plan, trace = frozenset[str](), [], [frozenset[str]()]
    propositions = {str(atom) for atom in atoms(parse(text))}
    for _ in range(rng.randint(0, 6)):
        choice = rng.choice(["walk", "fridge", "tv", "sit"])
        if choice == "walk":
            plan.append(steps[len([step for step in plan if "walk" in step]) % 2])
            facts = facts ^ {"(agent_at kitchen)"}
        elif choice == "fridge":
            plan.append("(close fridge)" if "(is_open fridge)" in facts else "(open fridge)")
            facts = facts ^ {"(is_open fridge)"}
        elif choice == "tv":
            plan.append("(switchoff tv)" if "(is_switchedon tv)" in facts else "(switchon tv)")
            facts = facts ^ {"(is_switchedon tv)"}
        else:
            plan.append("(sit sofa)")
        if facts & propositions != trace[-1]:
            trace.append(facts & propositions)
    report = Checker(scene.domain, scene.problem, scene.specs).check(Source("p", "\n".join(plan)))
    assert (report.safe is Worlds.ALL) == holds(parse(text), trace), (text, plan)
