"""The readers and the elaborator as a judge of shape: the errors that they find in one text."""

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
    """What a text is read together with. ``base`` stands for every specification that another one extends."""

    domain: str
    problem: str
    base: str = "(define (safety base))"


@cache
def _any_checker() -> Checker:
    """Reads the shape of plans; no name in them matters to that."""
    domain = Source("domain", "(define (domain d) (:action a))")
    return Checker(domain, Source("problem", "(define (problem p) (:domain d) (:goal ()))"))


def errors(kind: str, text: str, task: Task) -> list[Diagnostic]:
    """All errors that point into a text, read in place of the one of ``task``; the engine has no part in this.

    With them are the warnings that a rule is not applicable (SC702): such rules are looked at no further.
    """
    checker = _any_checker()  # also raises the recursion limit, as elaboration wants it
    if kind == "plan":
        found = list(checker.read(Source("plan", text)).text.diagnostics)
    else:
        found = _task_errors(kind, text, task)
    serious = [d for d in found if d.severity is Severity.ERROR or d.code == "SC702"]
    return [d for d in serious if kind in [label.source for label in d.labels if label.primary]]


def _task_errors(kind: str, text: str, task: Task) -> list[Diagnostic]:
    context = Context()
    tops = []
    for name, own in (("domain", task.domain), ("problem", task.problem)):
        source = Source(name, text if name == kind else own)
        top, found = parse_source(source)
        if top is None:
            return list(found)
        context.places.append(Places(source, top))
        tops.append(top)
    elaborated = elaborate_task(context, tops[0], tops[1])
    if elaborated is not None:
        rules = RuleElaborator(elaborated.symbols)
        rules.constraints(elaborated.constraints)
        if kind == "specification":
            expander = SpecExpander(context, lambda name, beside: Source("base", task.base))
            rules.specifications(expander.expand([Source("specification", text)]))
    return context.diagnostics
