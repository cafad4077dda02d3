"""Rewritings of a task that keep its meaning; ``REWRITINGS`` lists them."""

from rewritings import additions, connectives, effects, names, quantifiers, rule_kinds, sections, temporal
from rewritings.base import REWRITINGS, Rewriting, Rewritten

__all__ = ["REWRITINGS", "Rewriting", "Rewritten"]
MODULES = (additions, connectives, effects, names, quantifiers, rule_kinds, sections, temporal)
