"""Tasks from paths or shipped names, compiled: what the clients of the verifier begin with."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from plansafe.domains import domain_path
from plansafe.domains.objects import add_kinds
from plansafe.grammar.source import Source
from plansafe.specs import default_specs, spec_path
from plansafe.verifier.api import Checker, Options


def load(
    problem: Source | str, domain: str = "household", specs: Sequence[str] | None = None, options: Options | None = None
) -> Checker:
    """Compile a task.

    ``problem``: a text, or the path of a file; ``domain`` and ``specs``: shipped names or paths (``specs`` left out:
    those that come with the domain; empty: none). What a specification extends is looked for among the shipped ones
    alone. Whether it can be used says ``checker.ok``. Raises ``OSError`` for a file that cannot be read.
    """
    chosen = default_specs(domain) if specs is None else specs
    domain_source = _source(domain, domain_path)
    problem_source = problem if isinstance(problem, Source) else Source.from_path(problem)
    specifications = add_kinds(domain_source, problem_source, [_source(name, spec_path) for name in chosen])
    return Checker(
        domain_source, problem_source, specifications, options, resolve=lambda name, _extending: _shipped(name)
    )


def _source(name: str, shipped: Callable[[str], str]) -> Source:
    if "/" not in name and not os.path.exists(name):
        try:
            return Source.from_path(shipped(name))
        except KeyError:
            pass
    return Source.from_path(name)


def _shipped(name: str) -> Source | None:
    try:
        return Source.from_path(spec_path(name))
    except KeyError:
        return None
