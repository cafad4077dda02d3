"""Small problems made from models, to search plans that violate a rule where formulas alone do not decide.

The problem has one object for each variable, and in its initial state an action that matters to the rule is executable.
It is a problem of the domain like any other, so a violation in it is a violation in some problem.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from time import monotonic

from plansafe.grammar.sexpr import parse_source
from plansafe.grammar.source import Source
from plansafe.specs.lint.domain_index import DomainIndex, list_effects
from plansafe.specs.lint.letter_question import LetterQuestion
from plansafe.specs.lint.trace_search import Outcome, explore
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.model.nodes import Action
from plansafe.verifier.model.operations import find_bound_variables
from plansafe.verifier.rules.model import Rule
from plansafe.verifier.rules.rule_elaboration import RuleElaborator
from plansafe.verifier.symbolic.circuits.circuit import FALSE
from plansafe.verifier.symbolic.circuits.solvers import Model

MAX_EXAMPLE_PROBLEMS = 4
"""Maximum number of example problems: each is made for one action."""
MAX_ACTIONS = 10
"""Maximum number of actions that the plans for an example problem may use."""
MAX_STATES = 400
"""Maximum number of states that are visited in one example problem."""


def find_domain_name(domain: Source) -> str:
    """Find the name of a domain; ``domain`` if it has none."""
    for form in parse_source(domain).nodes or ():
        head = form[1] if isinstance(form, list) and len(form) > 1 else None
        if isinstance(head, list) and len(head) == 2 and head[0] == "domain" and isinstance(head[1], str):
            return head[1]
    return "domain"


def has_violation_in_example(
    checker: Checker, index: DomainIndex, rule: Rule, text: str, symbols: set[int], seconds: float
) -> bool:
    """Whether a short plan for an example problem violates a rule."""
    engine = _compile_example(checker, index, rule, text, symbols)
    if engine is None:
        return False

    def has_violation(outcomes: Iterable[Outcome]) -> bool:
        return any([outcome.violated_rules for outcome in outcomes])

    return has_violation(explore(engine, has_violation, monotonic() + seconds, MAX_STATES).outcomes)


def _compile_example(
    lint_checker: Checker, index: DomainIndex, rule: Rule, text: str, symbols: set[int]
) -> Engine | None:
    """Compile an example problem with one rule of a specification; ``None`` if it has errors.

    Only the rule is elaborated again: macros and mappings are expanded already. Actions that do not affect the rule are
    left out: a plan without them is also a plan.
    """
    checker = Checker(
        lint_checker.compiled.domain,
        Source("<example>", text.replace("{domain}", find_domain_name(lint_checker.compiled.domain))),
        (),
        Options(replay="never"),
    )
    specs = lint_checker.compiled.expanded
    expanded = [expanded_rule for expanded_rule in specs.rules if expanded_rule.node is rule.at.node]
    if not checker.ok or not expanded:
        return None
    task, symbol_table = checker.compiled.task, checker.compiled.symbols
    elaborator = RuleElaborator(symbol_table)
    elaborator.elaborate_specifications(specs._replace(rules=expanded, openings=(), invariants=()))
    if symbol_table.context.errors:
        return None
    actions = {
        action.name: task.actions[action.name] for action in _find_relevant_actions(index, symbols)[:MAX_ACTIONS]
    }
    return Engine(task._replace(actions=actions), elaborator.rules, symbol_table.action_predicates)


def generate_example_problems(
    index: DomainIndex, rule: Rule, symbols: set[int], deadline: float | None
) -> Iterator[str]:
    """Yield example problems as PDDL, with ``{domain}`` for the name of the domain."""
    if index.temporal or index.lenient:
        return
    for action in _find_relevant_actions(index, symbols)[:MAX_EXAMPLE_PROBLEMS]:
        question = LetterQuestion(index, False, deadline)
        rule_elements: list[int] = []
        for part in rule.parts:
            rule_elements += question.add_elements(part.parameters).values()
            for formula in (part.body, part.guard):
                if formula is not None:
                    question.add_elements(find_bound_variables(formula))
        question.require_action("start", action.name, _choose_arguments(question, action, rule_elements))
        question.solve()
        if question.model is not None:
            yield _format_problem(question, question.model)


def _choose_arguments(question: LetterQuestion, action: Action, rule_elements: list[int]) -> tuple[int, ...]:
    """Choose arguments of an action: elements that the rule is about, if their types allow it; otherwise new ones."""
    universe = question.universe
    arguments: list[int] = []
    for variable in action.parameters:
        fitting_elements = [
            e for e in rule_elements if e not in arguments and universe.encode_membership(e, variable.domain) != FALSE
        ]
        if fitting_elements:
            arguments.append(fitting_elements[0])
        else:
            arguments.append(universe.add_element(variable.domain, variable.name))
    return tuple(arguments)


def _find_relevant_actions(index: DomainIndex, symbols: set[int]) -> list[Action]:
    """Find the actions that a rule names; then the actions that change the predicates that it reads."""
    relevant_actions = [
        index.actions[name] for predicate, (_, name) in index.action_predicates.items() if predicate in symbols
    ]
    for action in index.actions.values():
        changed_predicates = {
            atom.predicate for effect in list_effects(action) for atom in (*effect.adds, *effect.deletes)
        }
        if action not in relevant_actions and not changed_predicates.isdisjoint(symbols):
            relevant_actions.append(action)
    return relevant_actions


def _format_problem(question: LetterQuestion, model: Model) -> str:
    """Format the objects, the true facts and the whole numbers of a model at letter 0 as a problem."""
    universe, grounder, task = question.universe, question.grounder, question.index.task
    names, declarations = [], []
    for number, element in enumerate(universe.elements):
        name = element.name if element.object is not None else f"object-{number}"
        names.append(name)
        if element.object is None:
            type_name = question.index.table.names[universe.find_type_in_model(number, model.inputs)]
            declarations.append(f"{name} - {type_name}")
    init = []
    for (letter, predicate, elements), literal in grounder.atoms.items():
        is_basic = predicate not in question.index.axioms and predicate not in question.index.action_predicates
        if not letter and is_basic and model.inputs.get(literal >> 1, False):
            init.append(f"({' '.join([task.predicates[predicate].name, *[names[element] for element in elements]])})")
    for (letter, function, elements), total in grounder.fluents.items():
        for atom, _ in total.weighted_atoms:
            fluent_value = model.values.get((int(str(atom[1])), int(str(atom[2]))))
            if not letter and fluent_value is not None and fluent_value.denominator == 1:
                fluent = " ".join([task.functions[function].name, *[names[element] for element in elements]])
                init.append(f"(= ({fluent}) {fluent_value})")
    return (
        "(define (problem example) (:domain {domain}) "
        f"(:objects {' '.join(declarations)}) (:init {' '.join(init)}) (:goal (and)))"
    )
