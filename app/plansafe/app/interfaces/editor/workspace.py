"""The files that an editor has open, the service's sessions over them, and what each file came to."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from plansafe.app.interfaces.editor.document_text import Text, uri_of
from plansafe.app.interfaces.editor.settings import Configured, configured
from plansafe.app.interfaces.editor.state_trace import Walk
from plansafe.app.project.discovery import Discovery
from plansafe.app.project.file_kinds import Heading, Kind, heading
from plansafe.app.project.inputs import Choice, Input
from plansafe.app.session.audit import Session
from plansafe.app.session.model import Prepared, Result, compiled
from plansafe.app.system.time_limit import OutOfTime
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker

PLANS = (Kind.PLAN, Kind.STEPS, Kind.EMPTY, Kind.OTHER)
"""What is read as a plan: also what is not one yet, and scripts of other worlds."""
_NO_DOMAIN = "(define (domain none))"
_MAX_KEPT = 64


class Judged(NamedTuple):
    """What came of one version of a file.

    Of a plan, ``result`` is its audit, and ``prepared`` the plan with its task (``None`` where it could not be judged).
    Of other files ``checker`` has what they were compiled to, and ``diagnostics`` what is wrong.
    """

    text: Text
    kind: Kind
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]
    result: Result | None = None
    prepared: Prepared | None = None
    checker: Checker | None = None
    confirmed: bool = True
    """Whether the independent kernel was asked about what was found."""

    @property
    def script(self) -> Prepared | None:
        """The plan with its task, where it is a script of a world and not PDDL."""
        return None if self.prepared is None or self.prepared.write is None else self.prepared

    def with_more(self, diagnostics: tuple[Diagnostic, ...], files: Workspace) -> Judged:
        """The same with more to say, of texts as they are open or on the disk."""
        if not diagnostics:
            return self
        sources = dict(self.sources)
        for name in {label.source for diagnostic in diagnostics for label in diagnostic.labels} - sources.keys():
            text = files.text(name)
            if text is not None:
                sources[name] = text.source
        return self._replace(diagnostics=(*self.diagnostics, *diagnostics), sources=sources)


class Found(NamedTuple):
    """The session of a folder: it stays until a file that is no plan changes."""

    configured: Configured
    session: Session
    discovery: Discovery


class Workspace:
    """Open files by URI.

    The loop that reads messages changes ``texts``, ``roots`` and ``said`` and calls :meth:`put`, :meth:`close` and
    :meth:`forget`; everything else belongs to the thread that works.
    """

    def __init__(self) -> None:
        self.roots: list[str] = []
        self.said: dict[str, Any] = {}
        self.texts: dict[str, Text] = {}
        self._found: dict[str, Found] = {}
        self._judged: dict[str, Judged] = {}
        self._walks: dict[str, Walk] = {}
        self.age = 0
        """How often something changed that other files depend on."""
        self._seen = 0

    # -- texts ------------------------------------------------------------------------------------------------------

    def put(self, text: Text) -> None:
        """A new version of an open file."""
        before = self.texts.get(text.uri)
        self.texts[text.uri] = text
        known = _on_disk(text.path) if before is None else before.text
        if known != text.text and not (_is_plan(text.text) and (known is None or _is_plan(known))):
            self.forget()

    def close(self, uri: str) -> None:
        """A file is closed: what counts is what is on the disk."""
        text = self.texts.pop(uri, None)
        if text is not None and text.text != _on_disk(text.path) and not _is_plan(text.text):
            self.forget()

    def text(self, path: str) -> Text | None:
        """A file as it is open, else as it is on the disk; ``None`` if it cannot be read."""
        real = os.path.realpath(path)
        found = next((text for text in self.texts.values() if os.path.realpath(text.path) == real), None)
        if found is not None:
            return found
        said = _on_disk(path)
        if said is None:
            return None
        return Text(uri_of(path), path, said)

    def unsaved(self) -> dict[str, str]:
        """What is open, by real path."""
        return {os.path.realpath(text.path): text.text for text in list(self.texts.values())}

    def forget(self) -> None:
        """Something changed that other files depend on: nothing that was compiled is used again."""
        self.age += 1

    def _catch_up(self) -> None:
        age = self.age
        if self._seen != age:
            self._seen = age
            self._found.clear()
            self._judged.clear()
            self._walks.clear()

    # -- judging ----------------------------------------------------------------------------------------------------

    def root(self, path: str) -> str:
        """The workspace folder of a file, else its own folder."""
        real = os.path.realpath(path)
        above = [root for root in self.roots if real.startswith(os.path.join(os.path.realpath(root), ""))]
        return max(above, key=len, default=os.path.dirname(os.path.abspath(path)))

    def found(self, path: str, unsaved: Mapping[str, str] | None = None) -> Found:
        """The session for a file: of its workspace folder, which is the current folder of what is asked of it."""
        self._catch_up()
        root = self.root(path)
        if os.path.isdir(root) and os.path.realpath(os.curdir) != os.path.realpath(root):
            os.chdir(root)
        known = self._found.get(root) if unsaved is None else None
        if known is None:
            now = configured(root, self.said)
            s = now.settings
            choice = Choice(s.domain, s.problem, s.specs, s.default_spec, s.gate, s.project, s.ltl)
            discovery = Discovery(choice, unsaved=self.unsaved() if unsaved is None else unsaved)
            known = Found(now, Session(s, discovery), discovery)
            if unsaved is None:
                self._found[root] = known
        return known

    def judged(self, text: Text) -> Judged:
        """What the service says of a file; the same version is judged once. The kernel is not asked yet."""
        self._catch_up()
        known = self._judged.get(text.uri)
        if known is None or known.text.source is not text.source:
            while len(self._judged) >= _MAX_KEPT:
                del self._judged[next(iter(self._judged))]
            try:
                known = judge(self.found(text.path), text)
            except OutOfTime:
                self.forget()
                raise
            self._judged[text.uri] = known
        return known

    def confirmed(self, judged: Judged) -> Judged:
        """The same with findings that the kernel was asked about: most of the work, for when typing rests."""
        if judged.confirmed:
            return judged
        try:
            known = judge(self.found(judged.text.path), judged.text, confirm=True)
        except OutOfTime:
            self.forget()
            raise
        self._judged[judged.text.uri] = known
        return known

    def walk(self, judged: Judged) -> Walk | None:
        """The states along a plan; steps that an earlier version began with are not taken again."""
        if judged.prepared is None:
            return None
        before = self._walks.get(judged.text.uri)
        if before is None or before.prepared is not judged.prepared:
            while len(self._walks) >= _MAX_KEPT:
                del self._walks[next(iter(self._walks))]
            earlier = self._walks.pop(judged.text.uri, None)
            before = self._walks[judged.text.uri] = Walk(judged.prepared, earlier)
        return before


def judge(found: Found, text: Text, confirm: bool = False) -> Judged:
    """Ask the service about a file of any kind; with ``confirm`` also the kernel about what was found."""
    said = heading(text.text)
    problems = found.configured.problems
    if said.kind in PLANS:
        return _plan(found, text, said.kind, confirm)
    judged = _part(found, text, said)
    return judged._replace(diagnostics=(*problems, *judged.diagnostics))


def _plan(found: Found, text: Text, kind: Kind, confirm: bool) -> Judged:
    """A plan, or a script of the world that is in force."""
    session, prepared = found.session, None
    results: list[Result] = []

    def work(ready: Prepared) -> Result:
        nonlocal prepared
        prepared = ready
        return session.audit(ready, confirm=confirm)

    results += session.each([text.source], work, found.configured.settings.time_limit)
    result = results[0]
    diagnostics = (*found.configured.problems, *result.report.diagnostics)
    sources = {**result.sources, text.path: text.source}
    checker = None if prepared is None else prepared.checker
    silent = not result.report.findings or (checker is not None and checker.ok and checker.open)
    return Judged(text, kind, diagnostics, sources, result, prepared, checker, confirm or silent)


def _part(found: Found, text: Text, said: Heading) -> Judged:
    """A domain, a problem or a specification: what is wrong with it, given what it belongs to."""
    from plansafe.specs.lint.api import no_problem  # noqa: PLC0415 - plans do without

    settings, source = found.configured.settings, text.source
    specs: list[Source] = []
    diagnostics: tuple[Diagnostic, ...] = ()
    if said.kind is Kind.DOMAIN:
        domain, problem = source, no_problem(source)
    else:
        near = belongs(found, text, said)
        diagnostics = () if near[0] is not None or said.kind is not Kind.PROBLEM else near[2]
        if diagnostics:
            return Judged(text, said.kind, diagnostics, {text.path: source})
        domain = near[0].source if near[0] is not None else Source("<no domain>", _NO_DOMAIN)
        if said.kind is Kind.PROBLEM:
            problem = source
        else:
            problem = near[1].source if near[1] is not None else no_problem(domain)
            specs = [source]
    checker, _ = compiled(found.discovery, domain, problem, specs, settings._replace(profile=None))
    sources = {**checker.sources, text.path: source}
    own = [d for d in checker.diagnostics if not d.labels or d.labels[0].source == text.path]
    if domain.name == "<no domain>":  # of a library nothing is known but its own words
        own = [d for d in own if d.code not in (SC.VOCABULARY, SC.RULE_NOT_APPLICABLE, SC.OTHER_DOMAIN)]
    elsewhere = [d for d in checker.diagnostics if d.labels and d.labels[0].source != text.path]
    return Judged(text, said.kind, (*own, *([] if own else elsewhere)), sources, checker=checker)


def belongs(found: Found, text: Text, said: Heading) -> tuple[Input | None, Input | None, tuple[Diagnostic, ...]]:
    """The domain and the problem that a file is about, looked for as those of a plan in its folder."""
    plan = Input("plan", text.path, "open", text.source)
    inputs = found.discovery.find(plan, Heading(Kind.PLAN, None, said.domain, said.problem))
    return inputs.domain, inputs.problem, inputs.diagnostics


def _is_plan(text: str) -> bool:
    return heading(text).kind in PLANS


def _on_disk(path: str) -> str | None:
    try:
        return Source.from_path(path).text
    except OSError:
        return None
