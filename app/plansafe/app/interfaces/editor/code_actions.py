"""Code actions: apply a repair, insert missing steps, correct a word, allow a violation.

The repair search finds and audits the new plan; this module turns it into text edits.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from lsprotocol import types

from plansafe.app.interfaces.editor.document_text import Text
from plansafe.app.interfaces.editor.lsp_diagnostics import file_diagnostics
from plansafe.app.interfaces.editor.workspace import Analysis, FolderSession
from plansafe.app.session.diagnosis import Examined
from plansafe.app.session.repair import ExaminationOptions, examine
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Span
from plansafe.verifier.execution.steps import IllFormed
from plansafe.verifier.repair.model import BOUNDED_WORK, EditKind, RepairOptions
from plansafe.verifier.reporting.report import Headline

SECONDS = 8.0
"""Time limit of one repair search; `safecheck repair` can search longer."""
ALL, MISSING = "all", "missing"
FIX_ALL = "source.fixAll.safecheck"
_SUGGESTION = re.compile(r"did you mean `([^`]+)`")
_WORD = re.compile(r"[^\s()\[\];]+")
_GOOD_HEADLINES = (Headline.SAFE, Headline.VALID)


class NoFixFound(Exception):
    """No fix can be applied; the message gives the reason."""


class ActionRequest(NamedTuple):
    """A request for code actions: the kinds and the span, and whether the editor can resolve edits later."""

    only: tuple[str, ...]
    span: Span
    can_resolve: bool

    def takes(self, kind: str) -> bool:
        """Whether the request includes actions of a kind; a requested kind includes its subkinds."""
        return not self.only or any([kind == parent or kind.startswith(parent + ".") for parent in self.only])


def actions(folder: FolderSession, analysis: Analysis, request: ActionRequest) -> list[types.CodeAction]:
    """Return the code actions for a span."""
    out: list[types.CodeAction] = []
    text = analysis.text
    if request.takes(types.CodeActionKind.QuickFix):
        diagnostics = [d for d in file_diagnostics(analysis) if _touches(text.span(d.range), request.span)]
        for diagnostic in diagnostics:
            out += _spelling_actions(analysis, diagnostic)
            if folder.effective.settings.allow_in_plans:
                out += _allow_comment_action(analysis, diagnostic)
        if any([diagnostic.code for diagnostic in diagnostics]) and _repairable(analysis):
            out.append(_search(folder, analysis, request, ALL, "Apply the nearest safe plan", diagnostics))
            if any([d.code in (SC.PRECONDITION, SC.GOAL) for d in diagnostics]):
                out.append(
                    _search(folder, analysis, request, MISSING, "Insert missing steps and keep every step", diagnostics)
                )
    explicit = [kind for kind in request.only if kind.startswith("source")]
    if explicit and request.takes(FIX_ALL) and _repairable(analysis):
        action = _search(folder, analysis, request._replace(can_resolve=False), ALL, "Apply the nearest safe plan", [])
        if action.edit is not None:
            out.append(types.CodeAction(action.title, kind=FIX_ALL, edit=action.edit))
    return [action for action in out if action.edit is not None or action.data is not None]


def _touches(place: Span, requested: Span) -> bool:
    return place.start <= requested.end and requested.start <= place.end


def _repairable(analysis: Analysis) -> bool:
    report = analysis.result.report if analysis.result is not None else None
    return analysis.prepared is not None and report is not None and report.headline not in (None, *_GOOD_HEADLINES)


def _search(
    folder: FolderSession,
    analysis: Analysis,
    request: ActionRequest,
    repair_mode: str,
    title: str,
    diagnostics: list[types.Diagnostic],
) -> types.CodeAction:
    """Return an action that searches for a repair, now or when the user chooses the action."""
    action = types.CodeAction(title, kind=types.CodeActionKind.QuickFix, diagnostics=diagnostics or None)
    if request.can_resolve:
        action.data = {"uri": analysis.text.uri, "version": analysis.text.version, "what": repair_mode}
        return action
    try:
        action.edit = find_repair_edit(folder, analysis, repair_mode)
    except NoFixFound:
        action.edit = None
    return action


def find_repair_edit(folder: FolderSession, analysis: Analysis, repair_mode: str) -> types.WorkspaceEdit:
    """Search for a repair and return its text edit.

    Raises:
        NoFixFound: the search found no repair that meets the request.
    """
    text = analysis.text
    options = RepairOptions(time_limit_s=SECONDS, max_work=BOUNDED_WORK, max_repairs=1)
    if repair_mode == MISSING and analysis.prepared is not None:
        steps = analysis.prepared.checker.read(analysis.prepared.plan).steps
        if any([isinstance(step, IllFormed) for step in steps]):
            raise NoFixFound("a step of the plan is ill-formed and cannot be kept")
        options = options._replace(protected=frozenset(range(1, len(steps) + 1)))
    examination = ExaminationOptions(options, classes=False)
    settings = folder.effective.settings
    examined = next(iter(examine([text.source], settings, examination, session=folder.session, seconds=4 * SECONDS)))
    if examined.best is None or examined.text is None or examined.text == text.text:
        raise NoFixFound(_failure_reason(examined))
    if repair_mode == MISSING and any([edit.kind is not EditKind.INSERT for edit in examined.best.edits]):
        raise NoFixFound("inserting steps cannot make this plan safe; its existing steps have to change")
    return types.WorkspaceEdit({text.uri: edits(text, examined.text)})


def _failure_reason(examined: Examined) -> str:
    if examined.outcome is not None:
        return "; ".join([examined.outcome.message, *examined.outcome.notes])
    errors = [diagnostic.message for diagnostic in examined.result.report.diagnostics]
    return errors[0] if errors else "the plan is already safe"


def edits(text: Text, new: str) -> list[types.TextEdit]:
    """Return the line differences between two texts, one edit per group of adjacent lines."""
    from plansafe.app.render.difference import replacements  # noqa: PLC0415 - only needed when a fix is applied

    return [types.TextEdit(text.range(span), inserted) for span, inserted in replacements(text.text, new)]


def _allow_comment_action(analysis: Analysis, diagnostic: types.Diagnostic) -> list[types.CodeAction]:
    """Return an action that adds an `allow` comment after a step, if the project file permits such comments."""
    data: Any = diagnostic.data
    rule = data.get("rule") if isinstance(data, dict) else None
    if not rule or analysis.prepared is None or analysis.prepared.places:
        return []
    text = analysis.text
    line = text.source.position(text.offset(diagnostic.range.end))[0]
    end = text.source.line_starts[line - 1] + len(text.source.line(line))
    comment = f" ; safecheck: allow {rule} -- (say why)"
    edit = types.WorkspaceEdit({text.uri: [types.TextEdit(text.range(Span(end, end)), comment)]})
    kind = types.CodeActionKind.QuickFix
    return [types.CodeAction(f"Allow `{rule}` in this plan", kind=kind, diagnostics=[diagnostic], edit=edit)]


def _spelling_actions(analysis: Analysis, diagnostic: types.Diagnostic) -> list[types.CodeAction]:
    """Return an action that replaces a word by the suggestion in the diagnostic."""
    data: Any = diagnostic.data
    suggestion = _SUGGESTION.search(str(data.get("help", ""))) if isinstance(data, dict) else None
    if suggestion is None:
        return []
    text, span = analysis.text, analysis.text.span(diagnostic.range)
    if _WORD.fullmatch(text.source.slice(span)) is None:
        return []
    edit = types.WorkspaceEdit({text.uri: [types.TextEdit(text.range(span), suggestion[1])]})
    title = f"Write `{suggestion[1]}`"
    kind = types.CodeActionKind.QuickFix
    return [types.CodeAction(title, kind=kind, diagnostics=[diagnostic], edit=edit, is_preferred=True)]
