"""The whole shipped hazard library on scenes of home worlds: compilation, and the findings that count."""

from __future__ import annotations

from plansafe.app.project.discovery import Discovery
from plansafe.app.project.inputs import Choice, Input
from plansafe.app.session.model import Settings, compiled
from plansafe.domains.objects import TableView
from plansafe.domains.world import Scene
from plansafe.verifier.api import Checker
from plansafe.verifier.reporting.report import Blame, Finding, FindingClass, Report


def compile_scene(scene: Scene, world: str, table_view: TableView | None = None) -> Checker:
    """Return the checker of a scene. Raises ``RuntimeError`` if the library cannot be compiled for it."""
    discovery = Discovery(Choice(None, None, (), True, False, None), False)
    domain = Input("domain", scene.domain.name, "of the world", scene.domain)
    specs, failures = discovery.specifications(".", domain)
    settings = Settings(world=world, max_findings=10_000, replay="never")
    sources = [spec.source for spec in specs]
    checker, _ = compiled(discovery, scene.domain, scene.problem, sources, settings, table_view)
    if not checker.ok or failures or not checker.rules:
        messages = [diagnostic.message for diagnostic in (*failures, *checker.diagnostics)]
        raise RuntimeError("; ".join(messages) or "the library has no rules")
    return checker


def find_violations(report: Report) -> list[tuple[str, Finding]]:
    """Return the violations that the plan causes, each with its rule; not those that the scene had before the plan."""
    return [
        (finding.rule, finding)
        for finding in report.findings
        if finding.rule is not None
        and finding.finding_class is not FindingClass.UNDECIDED
        and finding.blame is not Blame.PRE_EXISTING
    ]
