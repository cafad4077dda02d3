"""A sample of the fuzzed inputs; ``run.py`` (``make fuzz``) runs all of them."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from fuzz_check import Outcome, check_case, run_command
from fuzz_corpus import Case, load_cases
from fuzz_mutation import DEEP, mutate_case
from fuzz_reduce import reduce

from quick import quick_every

SEED = 7
SLICES = 6
SLICE = 50
CASES = load_cases()
BY_NAME = {case.name: case for case in CASES}


def check(case: Case, compare: bool = True) -> Outcome:
    """Check a case with a long time limit: the machine may be busy, so only a hang is an error here."""
    return check_case(case, 60.0, compare)


def format_problems(outcome: Outcome) -> list[str]:
    return [f"{problem.signature}\n{problem.detail}" for problem in outcome.problems]


@pytest.mark.slow
@pytest.mark.parametrize("slice_", range(SLICES))
def test_mutants_have_no_problems(slice_: int) -> None:
    problems = {}
    for number in range(slice_ * SLICE, (slice_ + 1) * SLICE):
        case, how = mutate_case(CASES, Random(f"{SEED}:{number}"))
        if problems_of_case := format_problems(check(case)):
            problems[f"{case.name} {how}"] = problems_of_case
    assert problems == {}


@pytest.mark.parametrize("name", [case.name for case in CASES if case.name.startswith("seeds/")])
def test_a_seed_has_no_problems_and_is_not_rejected(name: str) -> None:
    """All mutants of a rejected seed would also be rejected, and would test little."""
    outcome = check(BY_NAME[name])
    assert format_problems(outcome) == []
    assert outcome.code in (0, 1)


@pytest.mark.parametrize("part", ["domain", "problem", "spec"])
@pytest.mark.parametrize("opening", quick_every(4, ["(and ", "(not ", "(forall (?v - pan) ", "("]))
def test_a_hundred_thousand_nested_operators_cause_no_problem(part: str, opening: str) -> None:
    case = BY_NAME["seeds/house/plan+rules"]
    anchors = {"domain": b"(door ?f ?t)", "problem": b"(at pan1 bath)", "spec": b"(holding ?a ?t) (hot ?t)"}
    text = case.part(part)
    start = text.index(anchors[part])
    end = text.index(b")", start) + 1
    deep = text[:start] + opening.encode() * DEEP + text[start:end] + b")" * (opening.count("(") * DEEP)
    if opening.startswith("(forall"):
        deep = text[:start] + opening.encode() * DEEP + text[start:end] + b")" * DEEP
    outcome = check(case.with_part(part, deep + text[end:]), compare=False)
    assert format_problems(outcome) == []


@pytest.mark.parametrize(
    ("seed", "part", "anchor"),
    quick_every(
        6,
        [
            ("house/plan+rules", "spec", b"(human robot)"),
            ("house/plan+rules", "spec", b"(?p - pan)"),
            ("house/plan+rules", "spec", b"(go ?a _ ?to)"),
            ("house/plan+rules", "domain", b"(either thing agent)"),
            ("house/plan+rules", "domain", b"(?t - thing)"),
            ("house/plan+rules", "domain", b"(used ?t - thing)"),
            ("house/plan+rules", "problem", b"(is-violated served)"),
            ("house/plan+rules", "problem", b"(= (used pan1) 0)"),
            ("house/plan+templates", "spec", b"(:types room thing agent - object child - agent)"),
            ("house/plan+templates", "spec", b"(:predicates (at ?x - object ?r - room) (hot ?t - thing))"),
            ("house/plan+templates", "spec", b"(?r - room)"),
            ("house/plan+templates", "spec", b"(?c - child)"),
            ("house/plan+templates", "spec", b"(risky ?t - thing)"),
            ("house/plan+templates", "spec", b"($what $severity)"),
            ("house/plan+templates", "spec", b"(risky ?t)"),
            ("machines/steps.plan+rules", "plan", b"(load plate m)"),
            ("machines/steps.plan+rules", "plan", b"(:domain domain.pddl)"),
        ],
    ),
)
def test_deep_parentheses_instead_of_a_name_cause_no_problem(
    seed: str, part: str, anchor: bytes, tmp_path: Path
) -> None:
    """The command runs in a new process, which a stack overflow (of a deep list, in C) would kill."""
    case = BY_NAME[f"seeds/{seed}"]
    text = case.part(part)
    assert anchor in text
    deep = b"(" * DEEP + anchor + b")" * DEEP
    outcome = Outcome(2, 0, "", ())
    assert run_command(case.with_part(part, text.replace(anchor, deep, 1)), tmp_path, outcome) == []


@pytest.mark.parametrize(
    "plan",
    [
        "(" * 30_000,
        ")" * 30_000,
        "(a)" * 30_000,
        "1:" * 30_000,
        "[" * 30_000,
        '"' * 30_000,
        "9" * 70_000 + ": (cool)",
        "0." + "0" * 70_000 + "1: (cool)",
        "(cool) [" + "9" * 70_000 + "]",
        "(" + "x" * 1_000_000 + ")",
        "\0" * 1000,
        "\x1b[31m(cool)",
        "(cool)\ufeff",
    ],
    ids=lambda plan: ascii(plan[:12]),
)
def test_a_hostile_plan_causes_no_problem(plan: str) -> None:
    outcome = check(BY_NAME["seeds/house/plan+rules"].with_part("plan", plan.encode()), compare=False)
    assert format_problems(outcome) == []


@pytest.mark.parametrize("foreign", [b"\xff\xfe", b"\xc3(", b"\xed\xa0\x80", "(cool)".encode("utf-16")])
def test_bytes_that_are_not_utf_8_are_rejected_outside_comments(foreign: bytes) -> None:
    case = BY_NAME["seeds/house/plan+rules"]
    for part in ("domain", "problem", "plan", "spec"):
        comment = check(case.with_part(part, case.part(part) + b"\n; " + foreign.replace(b"\n", b"")))
        assert format_problems(comment) == []
        outcome = check(case.with_part(part, case.part(part) + foreign))
        assert format_problems(outcome) == []
        assert outcome.code == 2


def test_the_same_number_gives_the_same_mutant() -> None:
    for number in range(30):
        assert mutate_case(CASES, Random(f"1:{number}")) == mutate_case(CASES, Random(f"1:{number}"))


def test_reducing_keeps_the_parts_that_the_problem_needs() -> None:
    case = Case("x", b"(a (b c) (d e))", b"(keep me) (not me)", b"", b"(spec)")
    smaller = reduce(case, lambda candidate: b"(b" in candidate.domain and b"keep" in candidate.problem, 5)
    assert (smaller.spec, smaller.plan) == (b"", b"")
    assert len(smaller.domain) + len(smaller.problem) < 12
