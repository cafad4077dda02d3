"""Open files, the audit session of each workspace folder, and the analysis of each file.

Settings for files in an editor: from the project file of their folder and from the editor.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from plansafe.app.interfaces.editor.document_text import Text, uri_of
from plansafe.app.interfaces.editor.state_trace import StateTrace
from plansafe.app.options.shared import project_options
from plansafe.app.project.discovery import Discovery
from plansafe.app.project.file_kinds import Heading, Kind, heading
from plansafe.app.project.inputs import Choice, Input
from plansafe.app.project.project_file import BadProject, find_project
from plansafe.app.session.audit import Session
from plansafe.app.session.configuration import in_force
from plansafe.app.session.model import Prepared, Result, Settings, compiled
from plansafe.app.system.time_limit import OutOfTime
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.rules.verdict_criteria import JUDGE_MODES, SEVERITIES

PLANS = (Kind.PLAN, Kind.STEPS, Kind.EMPTY, Kind.OTHER)
"""File kinds that are read as a plan; empty and unrecognised files can be scripts of a home world."""
_NO_DOMAIN = "(define (domain none))"
_MAX_CACHED = 64


class Analysis(NamedTuple):
    """The analysis of one version of a file.

    For a plan, ``result`` is its audit and ``prepared`` the plan with its task (``None`` if it could not be audited).
    For other files, ``checker`` is the compiled task and ``diagnostics`` are its errors and warnings.
    """

    text: Text
    kind: Kind
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]
    result: Result | None = None
    prepared: Prepared | None = None
    checker: Checker | None = None
    confirmed: bool = True
    """True if the replay kernel has checked the findings."""

    @property
    def script(self) -> Prepared | None:
        """The plan with its task, if it is a script of a home world and not PDDL."""
        return None if self.prepared is None or self.prepared.write is None else self.prepared

    def with_diagnostics(self, diagnostics: tuple[Diagnostic, ...], workspace: Workspace) -> Analysis:
        """Return the analysis with additional diagnostics, and the texts that they refer to."""
        if not diagnostics:
            return self
        sources = dict(self.sources)
        for name in {label.source for diagnostic in diagnostics for label in diagnostic.labels} - sources.keys():
            text = workspace.text(name)
            if text is not None:
                sources[name] = text.source
        return self._replace(diagnostics=(*self.diagnostics, *diagnostics), sources=sources)


class FolderSession(NamedTuple):
    """The session of a workspace folder; it is reused until a file other than a plan changes."""

    effective: EffectiveSettings
    session: Session
    discovery: Discovery


class Workspace:
    """Open files by URI.

    The message loop changes ``texts``, ``roots`` and ``editor_settings`` and calls :meth:`put`, :meth:`close` and
    :meth:`invalidate`. Only the worker thread uses the other methods.
    """

    def __init__(self) -> None:
        self.roots: list[str] = []
        self.editor_settings: dict[str, Any] = {}
        self.texts: dict[str, Text] = {}
        self._folder_sessions: dict[str, FolderSession] = {}
        self._analyses: dict[str, Analysis] = {}
        self._traces: dict[str, StateTrace] = {}
        self.generation = 0
        """Number of changes that affect other files."""
        self._cached_generation = 0

    # -- texts ------------------------------------------------------------------------------------------------------

    def put(self, text: Text) -> None:
        """Store a new version of an open file."""
        open_text = self.texts.get(text.uri)
        self.texts[text.uri] = text
        previous = _read_from_disk(text.path) if open_text is None else open_text.text
        if previous != text.text and not (_is_plan(text.text) and (previous is None or _is_plan(previous))):
            self.invalidate()

    def close(self, uri: str) -> None:
        """Remove a closed file; the version on disk is used from now on."""
        text = self.texts.pop(uri, None)
        if text is not None and text.text != _read_from_disk(text.path) and not _is_plan(text.text):
            self.invalidate()

    def text(self, path: str) -> Text | None:
        """Return the open version of a file, else the version on disk, or ``None`` if it cannot be read."""
        real = os.path.realpath(path)
        open_text = next((text for text in self.texts.values() if os.path.realpath(text.path) == real), None)
        if open_text is not None:
            return open_text
        content = _read_from_disk(path)
        if content is None:
            return None
        return Text(uri_of(path), path, content)

    def unsaved(self) -> dict[str, str]:
        """Return the content of the open files, by real path."""
        return {os.path.realpath(text.path): text.text for text in list(self.texts.values())}

    def invalidate(self) -> None:
        """Discard all cached sessions and analyses, because a file that other files depend on changed."""
        self.generation += 1

    def _drop_stale_caches(self) -> None:
        generation = self.generation
        if self._cached_generation != generation:
            self._cached_generation = generation
            self._folder_sessions.clear()
            self._analyses.clear()
            self._traces.clear()

    # -- analyses ---------------------------------------------------------------------------------------------------

    def root(self, path: str) -> str:
        """Return the innermost workspace folder that contains a file, else the folder of the file."""
        real = os.path.realpath(path)
        enclosing = [root for root in self.roots if real.startswith(os.path.join(os.path.realpath(root), ""))]
        return max(enclosing, key=len, default=os.path.dirname(os.path.abspath(path)))

    def folder_session(self, path: str, unsaved: Mapping[str, str] | None = None) -> FolderSession:
        """Return the session of a file's workspace folder, and make that folder the current directory."""
        self._drop_stale_caches()
        root = self.root(path)
        if os.path.isdir(root) and os.path.realpath(os.curdir) != os.path.realpath(root):
            os.chdir(root)
        folder = self._folder_sessions.get(root) if unsaved is None else None
        if folder is None:
            effective = effective_settings(root, self.editor_settings)
            s = effective.settings
            choice = Choice(s.domain, s.problem, s.specs, s.default_spec, s.gate, s.project, s.ltl)
            discovery = Discovery(choice, unsaved=self.unsaved() if unsaved is None else unsaved)
            folder = FolderSession(effective, Session(s, discovery), discovery)
            if unsaved is None:
                self._folder_sessions[root] = folder
        return folder

    def analyse(self, text: Text) -> Analysis:
        """Return the analysis of a file, cached per version. The replay kernel does not check it yet."""
        self._drop_stale_caches()
        analysis = self._analyses.get(text.uri)
        if analysis is None or analysis.text.source is not text.source:
            while len(self._analyses) >= _MAX_CACHED:
                del self._analyses[next(iter(self._analyses))]
            try:
                analysis = analyse_file(self.folder_session(text.path), text)
            except OutOfTime:
                self.invalidate()
                raise
            self._analyses[text.uri] = analysis
        return analysis

    def confirm(self, analysis: Analysis) -> Analysis:
        """Check the findings with the replay kernel. This is the slowest part, so it runs when typing pauses."""
        if analysis.confirmed:
            return analysis
        try:
            confirmed = analyse_file(self.folder_session(analysis.text.path), analysis.text, confirm=True)
        except OutOfTime:
            self.invalidate()
            raise
        self._analyses[analysis.text.uri] = confirmed
        return confirmed

    def trace(self, analysis: Analysis) -> StateTrace | None:
        """Return the state trace of a plan, reusing the unchanged leading steps of the previous version."""
        if analysis.prepared is None:
            return None
        trace = self._traces.get(analysis.text.uri)
        if trace is None or trace.prepared is not analysis.prepared:
            while len(self._traces) >= _MAX_CACHED:
                del self._traces[next(iter(self._traces))]
            previous = self._traces.pop(analysis.text.uri, None)
            trace = self._traces[analysis.text.uri] = StateTrace(analysis.prepared, previous)
        return trace


def analyse_file(folder: FolderSession, text: Text, confirm: bool = False) -> Analysis:
    """Analyse a file of any kind; with ``confirm``, also check the findings with the replay kernel."""
    file_heading = heading(text.text)
    problems = folder.effective.problems
    if file_heading.kind in PLANS:
        return _analyse_plan(folder, text, file_heading.kind, confirm)
    analysis = _analyse_definition(folder, text, file_heading)
    return analysis._replace(diagnostics=(*problems, *analysis.diagnostics))


def _analyse_plan(folder: FolderSession, text: Text, kind: Kind, confirm: bool) -> Analysis:
    """Audit a plan, or a script of the configured home world."""
    session, prepared = folder.session, None
    results: list[Result] = []

    def audit(prepared_plan: Prepared) -> Result:
        nonlocal prepared
        prepared = prepared_plan
        return session.audit(prepared_plan, confirm=confirm)

    results += session.process([text.source], audit, folder.effective.settings.time_limit)
    result = results[0]
    diagnostics = (*folder.effective.problems, *result.report.diagnostics)
    sources = {**result.sources, text.path: text.source}
    checker = None if prepared is None else prepared.checker
    nothing_to_confirm = not result.report.findings or (checker is not None and checker.ok and checker.is_open)
    return Analysis(text, kind, diagnostics, sources, result, prepared, checker, confirm or nothing_to_confirm)


def _analyse_definition(folder: FolderSession, text: Text, file_heading: Heading) -> Analysis:
    """Check a domain, a problem or a specification against the domain and problem that it belongs to."""
    from plansafe.specs.lint.api import make_empty_problem  # noqa: PLC0415 - not needed for plans

    settings, source = folder.effective.settings, text.source
    specs: list[Source] = []
    diagnostics: tuple[Diagnostic, ...] = ()
    if file_heading.kind is Kind.DOMAIN:
        domain, problem = source, make_empty_problem(source)
    else:
        own_domain, own_problem, discovery_errors = related_inputs(folder, text, file_heading)
        diagnostics = () if own_domain is not None or file_heading.kind is not Kind.PROBLEM else discovery_errors
        if diagnostics:
            return Analysis(text, file_heading.kind, diagnostics, {text.path: source})
        domain = own_domain.source if own_domain is not None else Source("<no domain>", _NO_DOMAIN)
        if file_heading.kind is Kind.PROBLEM:
            problem = source
        else:
            problem = own_problem.source if own_problem is not None else make_empty_problem(domain)
            specs = [source]
    checker, _ = compiled(folder.discovery, domain, problem, specs, settings._replace(profile=None))
    sources = {**checker.sources, text.path: source}
    diagnostics_here = [d for d in checker.diagnostics if not d.labels or d.labels[0].source == text.path]
    if domain.name == "<no domain>":  # a rule library has no domain to check its names against
        diagnostics_here = [
            d for d in diagnostics_here if d.code not in (SC.VOCABULARY, SC.RULE_NOT_APPLICABLE, SC.OTHER_DOMAIN)
        ]
    diagnostics_elsewhere = [d for d in checker.diagnostics if d.labels and d.labels[0].source != text.path]
    return Analysis(
        text,
        file_heading.kind,
        (*diagnostics_here, *([] if diagnostics_here else diagnostics_elsewhere)),
        sources,
        checker=checker,
    )


def related_inputs(
    folder: FolderSession, text: Text, file_heading: Heading
) -> tuple[Input | None, Input | None, tuple[Diagnostic, ...]]:
    """Find the domain and the problem of a file, with the same search as for a plan in its folder."""
    plan = Input("plan", text.path, "open", text.source)
    inputs = folder.discovery.find(plan, Heading(Kind.PLAN, None, file_heading.domain, file_heading.problem))
    return inputs.domain, inputs.problem, inputs.diagnostics


def _is_plan(text: str) -> bool:
    return heading(text).kind in PLANS


def _read_from_disk(path: str) -> str | None:
    try:
        return Source.from_path(path).text
    except OSError:
        return None


SECONDS = 20.0
"""Default time limit for one plan; the project file can change it."""
_TEXTS = {"domain": "domain", "problem": "problem", "world": "world", "scene": "scene", "goal": "goal", "task": "task"}
_KEYS = {"specs": "specifications"}
_CHOICES = {"judge": ("judge", JUDGE_MODES), "minSeverity": ("min_severity", SEVERITIES)}


class EffectiveSettings(NamedTuple):
    """The settings in force, and the errors in the project file or the editor settings (which are then ignored)."""

    settings: Settings
    problems: tuple[Diagnostic, ...] = ()


def effective_settings(folder: str, editor_settings: Mapping[str, Any]) -> EffectiveSettings:
    """Return the settings of a workspace folder; editor settings override the project file."""
    problems: list[Diagnostic] = []
    overrides = _read_editor_settings(editor_settings, problems)
    try:
        project = find_project(folder)
    except BadProject as bad:
        project = None
        problems += bad.diagnostics
    given_options = {_KEYS.get(field, field): "the editor" for field in overrides}
    base = Settings(time_limit=SECONDS)._replace(**overrides)
    configuration = in_force(given_options, project_options(), base, "full", 0, project, ())
    return EffectiveSettings(configuration.settings, tuple(problems))


def _read_editor_settings(editor_settings: Mapping[str, Any], problems: list[Diagnostic]) -> dict[str, Any]:
    overrides: dict[str, Any] = {}
    for key, value in editor_settings.items():
        if value in (None, "", []):
            continue  # editors also send settings without a value
        if key in _TEXTS and isinstance(value, str):
            overrides[_TEXTS[key]] = value
        elif key in _CHOICES and value in _CHOICES[key][1]:
            overrides[_CHOICES[key][0]] = value
        elif key == "specifications" and isinstance(value, list) and all([isinstance(spec, str) for spec in value]):
            overrides["specs"] = tuple(value)
        elif key in (*_TEXTS, *_CHOICES, "specifications") or (key == "lint" and not isinstance(value, bool)):
            problems.append(Diagnostic(SC.BAD_OPTION, f"the editor setting `safecheck.{key}` has an invalid value"))
    return overrides
