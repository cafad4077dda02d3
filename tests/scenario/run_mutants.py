"""Texts mutated without sense: ``python tests/scenario/run_mutants.py --count 400 --seed 1``.

Whatever the text, nothing may raise, a second correction may change nothing, and the rules must come to an end.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from random import Random
from time import monotonic

sys.path.insert(0, str(Path(__file__).parent))
sys.path.append(str(Path(__file__).resolve().parents[1]))

from scenario_corruptions import Texts

from case_files import read_cases
from plansafe.grammar.source import Source
from plansafe.llm.scenarios.validation.check import check
from plansafe.llm.scenarios.validation.drafts import Draft
from plansafe.llm.scenarios.validation.fix import fix
from plansafe.llm.scenarios.validation.merge import unite
from plansafe.llm.scenarios.validation.model import PROFILES, Limits, Scenario

HERE = Path(__file__).parent
PROFILE = PROFILES["executable"]._replace(criteria=frozenset(("declared", "actions")))
BITS = [
    "(",
    ")",
    "\n",
    ";",
    '"',
    "?x",
    ":init",
    ":effect",
    "and",
    "not",
    "-",
    "object",
    "when",
    "forall",
    "(either",
    "=",
]
BITS += [
    "12",
    "#",
    "```",
    "//",
    "\x00",
    "\u00e9",
    "(?",
    "?",
    "::",
    "define",
    ",",
    ":action",
    "domain",
    ":types",
    "==",
    "!",
]
BITS += ["(not", "(and", ":goal", "))", "(("]


def small_tasks() -> list[Texts]:
    """The small home with what a case adds to it, as one domain: quick to read."""
    base = Draft(Source("base", (HERE / "base.pddl").read_text(encoding="utf-8")), editable=False)
    cases = {case.name: case for case in read_cases(HERE / "criteria.md")}
    own = Draft(cases["foil"].source("domain.pddl", "own"))
    domain = unite(base, own).source.text
    problems = [cases[name].text("problem.pddl") for name in ("foil", "two-ways")]
    return [Texts(domain, problem.replace("foil_1)", "foil_1) (open microwave_1)")) for problem in problems]


def mutated(rng: Random, text: str) -> str:
    """A text with a few runs of characters left out, put in, doubled, or words exchanged."""
    for _ in range(rng.randint(1, 6)):
        at, how = rng.randrange(len(text) + 1), rng.random()
        if how < 0.35:
            text = text[:at] + text[at + rng.randint(1, 12) :]
        elif how < 0.7:
            text = text[:at] + rng.choice(BITS) + text[at:]
        elif how < 0.85:
            run = text[at : at + rng.randint(1, 40)]
            text = text[:at] + run + text[at:]
        else:
            words = text.split(" ")
            one, other = rng.randrange(len(words)), rng.randrange(len(words))
            words[one], words[other] = words[other], words[one]
            text = " ".join(words)
    return text


def mutant(rng: Random, tasks: list[Texts]) -> Scenario:
    """A scenario, with or without base, some of whose texts are mutated."""
    texts = rng.choice(tasks)
    problem = mutated(rng, texts.problem) if rng.random() < 0.6 else texts.problem
    domain = mutated(rng, texts.domain) if rng.random() < 0.6 else texts.domain
    if rng.random() < 0.7:
        return Scenario("s", Source("p", problem), Source("d", domain))
    own = Source("d", mutated(rng, "(define (domain small-home)\n  (:predicates (hot ?x - object)))\n"))
    return Scenario("s", Source("p", problem), None if rng.random() < 0.5 else own, Source("b", texts.domain))


def wrong(scenario: Scenario) -> str:
    """What is wrong with the corrector on a scenario; empty if nothing is."""
    fixed = fix(scenario, PROFILE, Limits(time_s=2))
    if any(["did not terminate" in d.message for d in fixed.left]):
        return "the corrections do not terminate"
    again = fix(fixed.scenario, PROFILE, Limits(time_s=2))
    if again.corrections or again.scenario != fixed.scenario:
        return "; ".join([f"{c.rule} {c.before!r} -> {c.after!r}" for c in again.corrections])
    check(scenario, PROFILE, Limits(time_s=2))
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng, tasks, started, bad = Random(arguments.seed), small_tasks(), monotonic(), 0
    for number in range(arguments.count):
        scenario = mutant(rng, tasks)
        said = wrong(scenario)
        if said:
            bad += 1
            domain = scenario.domain.text if scenario.domain is not None else "(none)"
            print(f"{number}: {said}\n--- problem\n{scenario.problem.text}\n--- domain\n{domain}")
    print(f"{arguments.count} mutants, {bad} wrong, {monotonic() - started:.0f} s")
    return min(bad, 1)


if __name__ == "__main__":
    sys.exit(main())
