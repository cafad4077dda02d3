"""Homes in which rules are tried where the user names no problem: one for each domain that has one here."""

from __future__ import annotations

import os

from plansafe.domains import domain_path
from plansafe.grammar.source import Source

_ROOT = os.path.dirname(os.path.abspath(__file__))


def home_path(domain: str) -> str | None:
    """The path of the small home of a shipped domain; ``None`` if it has none."""
    path = os.path.join(_ROOT, f"{domain.lower()}.pddl")
    return path if domain.isidentifier() and os.path.isfile(path) else None


def small_home(domain: str) -> tuple[Source, Source]:
    """A shipped domain with its small home. Raises ``KeyError`` if it has none."""
    path = home_path(domain)
    if path is None:
        raise KeyError(domain)
    return Source.from_path(domain_path(domain)), Source.from_path(path)
