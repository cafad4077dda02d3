"""Find home worlds and shipped domains by name, and compile the hazard library for one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plansafe.app.project.discovery import Discovery
from plansafe.app.project.inputs import Choice
from plansafe.app.project.shipped_files import shipped_domain
from plansafe.domains import domain_names
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, suggest_name
from plansafe.grammar.source import Source
from plansafe.specs import spec_names, spec_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plansafe.domains.world import Benchmark
    from plansafe.verifier.api import Checker


def known_worlds() -> dict[str, Benchmark | None]:
    """All home worlds and shipped domains by name; a domain without a home world has no importer."""
    from plansafe.domains.worlds import world, world_names  # noqa: PLC0415 - for these commands alone

    importers: dict[str, Benchmark | None] = {name: world(name) for name in world_names()}
    served = {importer.domain for importer in importers.values() if importer is not None}
    for name in domain_names():
        if name not in importers and name not in served:
            importers[name] = None
    return dict(sorted(importers.items()))


def find_importer(name: str) -> Benchmark | None:
    """The home world of that name or with a domain of that name."""
    from plansafe.domains.worlds import world  # noqa: PLC0415 - for these commands alone

    try:
        return world(name)
    except KeyError:
        return next(
            (importer for importer in known_worlds().values() if importer and importer.domain == name.lower()), None
        )


def library(name: str) -> Checker | Diagnostic:
    """Compile the hazard library for a shipped domain; a diagnostic on failure."""
    bound = [domain for domain in domain_names() if f"home-{domain}" in spec_names()]
    importer = find_importer(name)
    domain = name.lower() if name.lower() in bound or importer is None else importer.domain or ""
    if domain in bound:
        return bare(domain, ("home", f"home-{domain}"))
    if importer is None:
        return unknown_world(name, tuple(bound))
    advice = f"mappings exist for {', '.join(bound)}"
    return Diagnostic(SC.UNKNOWN_WORLD, f"the library has no mapping for the world {importer.name}", help=advice)


def bare(name: str, specifications: Sequence[str]) -> Checker:
    """Compile a shipped domain with shipped specifications and a problem without objects."""
    from plansafe.app.session.model import Settings, compiled  # noqa: PLC0415 - for these commands alone

    path = shipped_domain(name)
    assert path is not None
    problem = Source("empty problem", f"(define (problem empty) (:domain {name}) (:init) (:goal (and)))")
    specs = [shipped_source(spec_path(spec)) for spec in specifications]
    return compiled(Discovery(Choice()), shipped_source(path), problem, specs, Settings())[0]


def shipped_source(path: str) -> Source:
    """Read a file that comes with safecheck."""
    with open(path, "rb") as file:
        return Source.from_bytes(path, file.read())


def unknown_world(name: str, names: tuple[str, ...], other_names: tuple[str, ...] = ()) -> Diagnostic:
    """The diagnostic for a name that is neither a world nor a shipped domain."""
    return Diagnostic(
        SC.UNKNOWN_WORLD,
        f"no world is named {name!a}",
        help=suggest_name(name.lower(), (*names, *other_names)) or f"known worlds: {', '.join(names)}",
    )
