"""Check the corrector on randomly mutated texts: ``python tests/scenario/run_mutants.py --count 400 --seed 1``.

For every text, nothing may raise, a second correction may change nothing, and the corrections must terminate.
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
FRAGMENTS = [
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
FRAGMENTS += [
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
FRAGMENTS += ["(not", "(and", ":goal", "))", "(("]


def small_tasks() -> list[Texts]:
    """Return tasks of the small home merged with the extension of the case ``foil``; they are parsed quickly."""
    base = Draft(Source("base", (HERE / "base.pddl").read_text(encoding="utf-8")), editable=False)
    cases = {case.name: case for case in read_cases(HERE / "criteria.md")}
    extension = Draft(cases["foil"].source("domain.pddl", "own"))
    domain = unite(base, extension).source.text
    problems = [cases[name].text("problem.pddl") for name in ("foil", "two-ways")]
    return [Texts(domain, problem.replace("foil_1)", "foil_1) (open microwave_1)")) for problem in problems]


def mutate_text(rng: Random, text: str) -> str:
    """Delete, insert or repeat a few runs of characters, or exchange words."""
    for _ in range(rng.randint(1, 6)):
        position, choice = rng.randrange(len(text) + 1), rng.random()
        if choice < 0.35:
            text = text[:position] + text[position + rng.randint(1, 12) :]
        elif choice < 0.7:
            text = text[:position] + rng.choice(FRAGMENTS) + text[position:]
        elif choice < 0.85:
            repeated = text[position : position + rng.randint(1, 40)]
            text = text[:position] + repeated + text[position:]
        else:
            words = text.split(" ")
            first, second = rng.randrange(len(words)), rng.randrange(len(words))
            words[first], words[second] = words[second], words[first]
            text = " ".join(words)
    return text


def make_mutant(rng: Random, tasks: list[Texts]) -> Scenario:
    """Return a scenario with or without a base; some of its texts are mutated."""
    texts = rng.choice(tasks)
    problem = mutate_text(rng, texts.problem) if rng.random() < 0.6 else texts.problem
    domain = mutate_text(rng, texts.domain) if rng.random() < 0.6 else texts.domain
    if rng.random() < 0.7:
        return Scenario("s", Source("p", problem), Source("d", domain))
    extension = Source("d", mutate_text(rng, "(define (domain small-home)\n  (:predicates (hot ?x - object)))\n"))
    return Scenario("s", Source("p", problem), None if rng.random() < 0.5 else extension, Source("b", texts.domain))


def find_fault(scenario: Scenario) -> str:
    """Describe the corrector's fault on a scenario; return an empty text if there is none."""
    fixed = fix(scenario, PROFILE, Limits(time_s=2))
    if any(["did not terminate" in d.message for d in fixed.left]):
        return "the corrections do not terminate"
    second = fix(fixed.scenario, PROFILE, Limits(time_s=2))
    if second.corrections or second.scenario != fixed.scenario:
        return "; ".join([f"{c.rule} {c.before!r} -> {c.after!r}" for c in second.corrections])
    check(scenario, PROFILE, Limits(time_s=2))
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng, tasks, started, faults = Random(arguments.seed), small_tasks(), monotonic(), 0
    for number in range(arguments.count):
        scenario = make_mutant(rng, tasks)
        fault = find_fault(scenario)
        if fault:
            faults += 1
            domain = scenario.domain.text if scenario.domain is not None else "(none)"
            print(f"{number}: {fault}\n--- problem\n{scenario.problem.text}\n--- domain\n{domain}")
    print(f"{arguments.count} mutants, {faults} wrong, {monotonic() - started:.0f} s")
    return min(faults, 1)


if __name__ == "__main__":
    sys.exit(main())
