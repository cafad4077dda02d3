"""The shape errors that the readers and the elaborator report in one text."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.node_places import Places
from plansafe.grammar.sexpr import parse_source
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.elaborate.context import Context
from plansafe.verifier.elaborate.task import elaborate_task
from plansafe.verifier.rules.expand import SpecExpander
from plansafe.verifier.rules.rule_elaboration import RuleElaborator

SHAPE_CODES = frozenset(("SC002", "SC003", "SC004", "SC005", "SC105", "SC112", "SC113"))


class Task(NamedTuple):
    """The texts that are read with the tested text. ``base`` replaces every extended specification."""

    domain: str
    problem: str
    base: str = "(define (safety base))"


@cache
def _plan_reader() -> Checker:
    """A checker that reads plans; their shape does not depend on the names in its task."""
    domain = Source("domain", "(define (domain d) (:action a))")
    return Checker(domain, Source("problem", "(define (problem p) (:domain d) (:goal ()))"))


def find_errors(kind: str, text: str, task: Task) -> list[Diagnostic]:
    """All errors in a text, which replaces the text of its kind in ``task``; the engine does not run.

    The warnings that a rule is not applicable (SC702) are included: such rules are not checked further.
    """
    checker = _plan_reader()  # also raises the recursion limit, which elaboration needs
    if kind == "plan":
        diagnostics = list(checker.read(Source("plan", text)).text.diagnostics)
    else:
        diagnostics = _task_errors(kind, text, task)
    serious = [d for d in diagnostics if d.severity is Severity.ERROR or d.code == "SC702"]
    return [d for d in serious if kind in [label.source for label in d.labels if label.primary]]


def _task_errors(kind: str, text: str, task: Task) -> list[Diagnostic]:
    context = Context()
    trees = []
    for name, task_text in (("domain", task.domain), ("problem", task.problem)):
        source = Source(name, text if name == kind else task_text)
        tree, diagnostics = parse_source(source)
        if tree is None:
            return list(diagnostics)
        context.places.append(Places(source, tree))
        trees.append(tree)
    elaborated = elaborate_task(context, trees[0], trees[1])
    if elaborated is not None:
        rules = RuleElaborator(elaborated.symbols)
        rules.elaborate_constraints(elaborated.constraints)
        if kind == "specification":
            expander = SpecExpander(context, lambda name, including_source: Source("base", task.base))
            rules.elaborate_specifications(expander.expand([Source("specification", text)]))
    return context.diagnostics
