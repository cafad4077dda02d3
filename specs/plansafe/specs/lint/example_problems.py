"""Small problems made from models, in which searches look for what formulas alone do not decide.

The problem has one object for each variable, and starts where an action that matters to the rule can be taken. It is a
problem of the domain like any other, so what is found there is so in some problem.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from time import monotonic

from plansafe.grammar.sexpr import parse_source
from plansafe.grammar.source import Source
from plansafe.specs.lint.domain_index import DomainIndex, effects
from plansafe.specs.lint.letter_question import LetterQuestion
from plansafe.specs.lint.trace_search import Outcome, explore
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.model.nodes import Action
from plansafe.verifier.model.operations import bound_variables
from plansafe.verifier.rules.elaborate import RuleElaborator
from plansafe.verifier.rules.model import Rule
from plansafe.verifier.symbolic.circuits.circuit import FALSE

MAX_ACTIONS = 4
"""Actions for each of which a problem is made."""
FEW_ACTIONS = 10
"""Actions that plans for it may have."""
MAX_STATES = 400


def domain_name(domain: Source) -> str:
    """The name of a domain, for problems of it."""
    for form in parse_source(domain).nodes or ():
        head = form[1] if isinstance(form, list) and len(form) > 1 else None
        if isinstance(head, list) and len(head) == 2 and head[0] == "domain" and isinstance(head[1], str):
            return head[1]
    return "domain"


def violates_in_example(
    base: Checker, words: DomainIndex, rule: Rule, text: str, reads: set[int], seconds: float
) -> bool:
    """Whether a short plan for a problem made here breaks a rule."""
    engine = _compiled(base, words, rule, text, reads)
    if engine is None:
        return False

    def broken(outcomes: Iterable[Outcome]) -> bool:
        return any([outcome.violated for outcome in outcomes])

    return broken(explore(engine, broken, monotonic() + seconds, MAX_STATES).outcomes)


def _compiled(base: Checker, words: DomainIndex, rule: Rule, text: str, reads: set[int]) -> Engine | None:
    """A problem made here with one rule of a specification; ``None`` if it was not understood.

    Only the rule is elaborated anew: macros and mappings are expanded already. Actions that have nothing to do with the
    rule are left out: a plan without them is a plan.
    """
    checker = Checker(
        base.compiled.domain,
        Source("<example>", text.replace("{domain}", domain_name(base.compiled.domain))),
        (),
        Options(replay="never"),
    )
    plain = [each for each in base.compiled.expanded.rules if each.node is rule.at.node]
    if not checker.ok or not plain:
        return None
    task, symbols = checker.compiled.task, checker.compiled.symbols
    rules = RuleElaborator(symbols)
    rules.specifications(base.compiled.expanded._replace(rules=plain, openings=(), invariants=()))
    if symbols.context.errors:
        return None
    few = {action.name: task.actions[action.name] for action in _actions(words, reads)[:FEW_ACTIONS]}
    return Engine(task._replace(actions=few), rules.rules, symbols.action_predicates)


def example_problems(words: DomainIndex, rule: Rule, reads: set[int], deadline: float | None) -> Iterator[str]:
    """Problems, as PDDL without the name of the domain (``{domain}`` stands for it)."""
    if words.temporal or words.lenient:
        return
    for action in _actions(words, reads)[:MAX_ACTIONS]:
        asked = LetterQuestion(words, False, deadline)
        own: list[int] = []
        for part in rule.parts:
            own += asked.choose(part.parameters).values()
            for formula in (part.body, part.guard):
                if formula is not None:
                    asked.choose(bound_variables(formula))
        asked.take("start", action.name, _arguments(asked, action, own))
        asked.answer()
        if asked.model is not None:
            yield _text(asked)


def _arguments(asked: LetterQuestion, action: Action, own: list[int]) -> tuple[int, ...]:
    """Arguments of an action: objects that the rule is about, as far as their types allow; else new ones."""
    out: list[int] = []
    for variable in action.parameters:
        fitting = [e for e in own if e not in out and asked.universe.member(e, variable.domain) != FALSE]
        out.append(fitting[0] if fitting else asked.universe.fresh(variable.domain, variable.name))
    return tuple(out)


def _actions(words: DomainIndex, reads: set[int]) -> list[Action]:
    """Those that a rule names; then those that change what it reads."""
    named = [words.actions[name] for predicate, (_, name) in words.action_predicates.items() if predicate in reads]
    for action in words.actions.values():
        changed = {atom.predicate for effect in effects(action) for atom in (*effect.adds, *effect.deletes)}
        if action not in named and not changed.isdisjoint(reads):
            named.append(action)
    return named


def _text(asked: LetterQuestion) -> str:
    assert asked.model is not None
    universe, grounder, task = asked.universe, asked.grounder, asked.words.task
    inputs = asked.model.inputs
    names, objects = [], []
    for number, element in enumerate(universe.elements):
        name = element.name if element.object is not None else f"object-{number}"
        names.append(name)
        if element.object is None:
            objects.append(f"{name} - {asked.words.table.names[universe.chosen(number, inputs)]}")
    init = []
    for (letter, predicate, elements), literal in grounder.atoms.items():
        basic = predicate not in asked.words.axioms and predicate not in asked.words.action_predicates
        if not letter and basic and inputs.get(literal >> 1, False):
            init.append(f"({' '.join([task.predicates[predicate].name, *[names[e] for e in elements]])})")
    for (letter, function, elements), total in grounder.fluents.items():
        for atom, _ in total.weighted_atoms:
            value = asked.model.values.get((int(str(atom[1])), int(str(atom[2]))))
            if not letter and value is not None and value.denominator == 1:
                fluent = " ".join([task.functions[function].name, *[names[e] for e in elements]])
                init.append(f"(= ({fluent}) {value})")
    return (
        "(define (problem example) (:domain {domain}) "
        f"(:objects {' '.join(objects)}) (:init {' '.join(init)}) (:goal (and)))"
    )
