"""The tasks that are rewritten: random ones, the shipped examples, and the tests of the household's rules."""

from __future__ import annotations

from pathlib import Path

from case import plan_text
from generate import STREAMS, case
from metamorphic_task import List, Task, Tree, read_trees, words_of
from repair_random import task as repair_task

from plansafe.app.session.audit import Session
from plansafe.app.session.model import Result, Settings
from plansafe.verifier.execution.compiled import CompiledTask

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "examples" / "virtualhome" / "warm-milk.txt"
RULES = 8
PLANS = 3


def parsed(name: str, domain: str, problem: str, specs: list[str], plans: list[str]) -> Task:
    """A task from texts."""
    trees = [read_trees(text, name)[0] for text in (domain, problem, *specs)]
    return Task(name, trees[0], trees[1], tuple(trees[2:]), tuple(read_trees(plan, name) for plan in plans))


def random_task(seed: int, number: int) -> Task:
    """The random task of this number: the streams of tests/property take turns."""
    stream = STREAMS[number % len(STREAMS)]
    generated = case(stream, seed, number // len(STREAMS), rules=RULES, plans=PLANS)
    safety = [generated.safety_text()] if generated.rules else []
    plans = [plan_text(plan) for plan in generated.plans]
    return parsed(generated.name, generated.domain_text(), generated.problem_text(), safety, plans)


def repairable_task(seed: int, number: int) -> tuple[Task, int]:
    """A random task of tests/repair with a broken plan, and the highest cost of a repair to look for."""
    generated = repair_task(seed, number)
    task = parsed(
        f"repair-{seed}-{number}",
        generated.domain_text(),
        generated.problem_text(),
        generated.safety_texts(),
        [generated.plan_text()],
    )
    return task, 2


def expanded_specification(compiled: CompiledTask) -> tuple[List, ...]:
    """The rules, open predicates and invariants of a compiled task as one specification without macros.

    Rules with words that a mapping does not bind (expansion marks these by ``~``) are left out.
    """
    expanded = compiled.expanded
    trees = [_plain(rule.node) for rule in (*expanded.invariants, *expanded.rules)]
    sections = [tree for tree in trees if not any(word.startswith("~") for word in words_of(tree))]
    opened = [(":open", *[_plain(opening.typed) for opening in expanded.openings])] if expanded.openings else []
    return (("define", ("safety", "expanded"), *opened, *sections),) if sections else ()


def _plain(node: object) -> Tree:
    """A node as a tree. Variables that expansion has made distinct by ``~`` get names that a file may have."""
    if isinstance(node, str):
        return node.replace("~", "-") if node.startswith("?") else node
    return tuple(_plain(part) for part in node)  # type: ignore[attr-defined]


def shipped_plans() -> list[Path]:
    """The plans of the examples, and those that break and keep the rules of the household."""
    examples = [*sorted((ROOT / "examples").rglob("*.plan")), SCRIPT]
    return [*examples, *sorted((ROOT / "tests" / "content" / "rules").rglob("*.plan"))]


def shipped_task(path: Path) -> Task:
    """A shipped plan with its domain and problem, and its rules in one specification, expanded."""
    scene = Settings(world="virtualhome", scene=str(SCRIPT.with_name("home.json")))
    prepared = Session(scene if path == SCRIPT else Settings()).prepare(str(path))
    assert not isinstance(prepared, Result), path
    compiled = prepared.checker.compiled
    domain, problem = compiled.domain.text, compiled.problem.text
    task = parsed(path.relative_to(ROOT).as_posix(), domain, problem, [], [prepared.plan.text])
    return task._replace(specs=expanded_specification(compiled))
