"""``--ltl``: formulas of the command line as a specification."""

from __future__ import annotations

from collections.abc import Sequence

from plansafe.grammar.ltl import translate
from plansafe.grammar.sexpr import read_text, write
from plansafe.grammar.source import Source

LTL_NAME = "<ltl>"
"""What the specification is called where a file would have its path."""


def ltl_specification(formulas: Sequence[str], domain: Source) -> Source:
    """The formulas as trajectory rules. A name is an action where the domain has an action and no predicate of it.

    They have been read before: raises ``ValueError`` for what is no formula.
    """
    actions = action_names(domain)
    rules = []
    for number, text in enumerate(formulas, 1):
        formula = translate(Source(LTL_NAME, text), actions).formula
        if formula is None:
            raise ValueError(text)
        message = f"not so: {' '.join(text.split())}"
        rules.append(f'  (:trajectory ltl-{number}\n    :formula {write(formula)}\n    :message "{message}")')
    return Source(LTL_NAME, "\n".join(["(define (safety ltl)", *rules]) + ")\n")


def action_names(domain: Source) -> frozenset[str]:
    """The names that a domain has for actions alone."""
    actions, others = set(), set()
    for form in read_text(domain).nodes or []:
        for section in form if isinstance(form, list) else []:
            match section:
                case [":action" | ":durative-action", str(name), *_]:
                    actions.add(name)
                case [":derived", [str(name), *_], *_]:
                    others.add(name)
                case [":predicates", *predicates]:
                    others.update([p[0] for p in predicates if isinstance(p, list) and p and isinstance(p[0], str)])
    return frozenset(actions - others)
