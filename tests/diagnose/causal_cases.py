"""Small tasks for the tests of causes: a kitchen, and random tasks with plans that often fail."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from case import PREDICATES, Case, Sexp
from formulas import Formulas, Style, heads
from generate import case

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import GroundAction, step_text
from plansafe.verifier.kernel import Kernel

KITCHEN = """(define (domain kitchen)
  (:types room stove - object)
  (:predicates (robot-in ?r - room) (in ?s - stove ?r - room) (on ?s - stove) (lit ?r - room) (warm ?s - stove))
  (:action switch-on :parameters (?s - stove ?r - room)
    :precondition (and (robot-in ?r) (in ?s ?r) (not (on ?s))) :effect (on ?s))
  (:action switch-off :parameters (?s - stove ?r - room)
    :precondition (and (robot-in ?r) (in ?s ?r) (on ?s)) :effect (not (on ?s)))
  (:action light :parameters (?r - room) :precondition (robot-in ?r) :effect (lit ?r))
  (:action cook :parameters (?s - stove) :effect (when (on ?s) (warm ?s)))
  (:action go :parameters (?from ?to - room)
    :precondition (and (robot-in ?from) (not (= ?from ?to)))
    :effect (and (not (robot-in ?from)) (robot-in ?to))))"""
RULES = """(define (safety kitchen)
  (:process off-before-leaving :on (go ?from ?to)
    :forbid (exists (?s - stove) (and (in ?s ?from) (on ?s))))
  (:process never-dark :parameters (?s - stove ?r - room)
    :forbid (and (on ?s) (in ?s ?r) (robot-in ?r) (not (lit ?r))))
  (:termination home :require (robot-in hall)))"""


def kitchen(goal: str = "(robot-in hall)", init: str = "(lit kitchen)", rules: str = RULES) -> Checker:
    """A stove in a kitchen, and a hall next to it."""
    problem = f"""(define (problem tea) (:domain kitchen) (:objects hob - stove kitchen hall - room)
      (:init (robot-in kitchen) (in hob kitchen) {init}) (:goal {goal}))"""
    specs = [Source("rules.safe", rules)] if rules else []
    checker = Checker(Source("domain.pddl", KITCHEN), Source("problem.pddl", problem), specs)
    assert checker.ok, checker.diagnostics
    return checker


class RandomCase(NamedTuple):
    """A random case for both engines, with plans as lists of steps."""

    checker: Checker
    kernel: Kernel
    free: Kernel
    """The kernel for the same domain without preconditions: every step happens, as under the reading *force*."""
    plans: list[list[str]]
    numeric: bool
    timeless: frozenset[str]
    """Rules whose instances do not read the clock."""


def draw_case(stream: str, number: int, rules: int) -> Case:
    """Draw a random task whose actions often have preconditions. Deterministic."""
    random = Random(f"{stream} {number}")
    drawn_case = case(stream, 77, number, rules, 0)._replace(constraints=(), laws=())
    return drawn_case._replace(
        structures=tuple([_conditional(structure, drawn_case, random) for structure in drawn_case.structures])
    )


def checker_of(drawn_case: Case) -> Checker:
    """Return the checker of a case."""
    texts = drawn_case.domain_text(), drawn_case.problem_text(), drawn_case.safety_text()
    names = ("domain.pddl", "problem.pddl", "rules.safe")
    sources = [Source(name, text) for name, text in zip(names, texts, strict=True)]
    return Checker(sources[0], sources[1], sources[2:], Options(max_findings=100_000, replay="never"))


def random_case(stream: str, number: int, rules: int = 6, plans: int = 4, longest: int = 7) -> RandomCase | None:
    """Draw a case; ``None`` if the engine does not accept it. Deterministic."""
    drawn_case = draw_case(stream, number, rules)
    checker = checker_of(drawn_case)
    if not checker.ok:
        return None
    actions = drawn_case.domain_text().partition("(:action")[2]
    return RandomCase(
        checker,
        _kernel(drawn_case),
        _kernel(drawn_case._replace(structures=tuple([relaxed(structure) for structure in drawn_case.structures]))),
        [walk(checker, f"{stream} {number} {turn}", longest) for turn in range(plans)],
        "(f " in actions or "(g)" in actions,
        frozenset([str(rule[1]) for rule in drawn_case.rules if not _reads_clock(rule)]),
    )


def _kernel(drawn_case: Case) -> Kernel:
    return Kernel(drawn_case.domain_text(), drawn_case.problem_text(), [drawn_case.safety_text()])


def relaxed(structure: Sexp) -> Sexp:
    """Return an action without its precondition."""
    assert isinstance(structure, tuple)
    if ":precondition" not in structure:
        return structure
    at = structure.index(":precondition")
    return structure[:at] + structure[at + 2 :]


def _reads_clock(rule: Sexp) -> bool:
    words = ("within", "always-within", "hold-during", "hold-after", ":within")
    return any([_reads_clock(part) if isinstance(part, tuple) else part in words for part in rule])


def _conditional(structure: Sexp, drawn_case: Case, random: Random) -> Sexp:
    """Add a precondition to most actions that set or clear a predicate."""
    assert isinstance(structure, tuple)
    name = str(structure[1]).partition("-")[2]
    if structure[0] != ":action" or name not in PREDICATES or random.random() < 0.2:
        return structure
    constants = {name: kind for name, kind in drawn_case.objects if name in drawn_case.constants}
    scope = dict(zip([word for word in PREDICATES[name] if word[0] == "?"], heads(PREDICATES[name]), strict=True))
    style = Style(
        numeric=False, partial=False, derived="(:derived" in drawn_case.domain_text(), actions=False, timed=False
    )
    formulas = Formulas(random, constants, style)
    return (*structure, ":precondition", formulas.formula(random.choice((0, 0, 1, 2)), scope))


def walk(checker: Checker, seed: str, longest: int) -> list[str]:
    """Draw a plan of mostly legal steps, preferably steps that earlier steps made possible."""
    random = Random(seed)
    task = checker.engine.task
    simulation = Execution(checker.engine)
    steps: list[str] = []
    first = {step_text(step, task.objects): step for step in simulation.legal()}
    for _ in range(random.randint(1, longest)):
        legal = list(simulation.legal())
        risky = [step for step in legal if step_text(step, task.objects) not in first]
        spoilt = [first[text] for text in sorted(first.keys() - {step_text(step, task.objects) for step in legal})]
        action = random.choice(list(task.actions.values()))
        domains = [task.domains[v.domain] for v in action.parameters]
        if random.random() < 0.75 and legal:
            step = random.choice(risky if risky and random.random() < 0.7 else legal)
        elif spoilt and random.random() < 0.7:
            step = random.choice(spoilt)
        elif all(domains):
            step = GroundAction(action, tuple([random.choice(domain) for domain in domains]))
        else:
            continue
        simulation.take(step)
        steps.append(step_text(step, task.objects))
    return steps
