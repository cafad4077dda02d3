"""Code actions: the nearest safe plan, the missing step, the right word, a line that is to be left alone.

What is applied was found and judged by the service's search for repairs; here it becomes an edit of the text.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from lsprotocol import types

from plansafe.app.interfaces.editor.document_text import Text
from plansafe.app.interfaces.editor.lsp_diagnostics import shown
from plansafe.app.interfaces.editor.workspace import Found, Judged
from plansafe.app.session.repair import ExaminationOptions, Examined, examine
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Span
from plansafe.verifier.execution.steps import IllFormed
from plansafe.verifier.repair.model import BOUNDED_WORK, EditKind, RepairOptions
from plansafe.verifier.reporting.report import Headline

SECONDS = 8.0
"""For one search. What takes longer is for `safecheck repair`."""
ALL, MISSING = "all", "missing"
FIX_ALL = "source.fixAll.safecheck"
_MEANT = re.compile(r"did you mean `([^`]+)`")
_WORD = re.compile(r"[^\s()\[\];]+")
_GOOD = (Headline.SAFE, Headline.VALID)


class NoFix(Exception):
    """Why there is nothing to apply."""


class Wish(NamedTuple):
    """What a client asked for, and can do: kinds of actions, a place, whether edits may be made later."""

    only: tuple[str, ...]
    span: Span
    lazily: bool

    def takes(self, kind: str) -> bool:
        """Whether actions of a kind are wanted; a kind stands for those below it."""
        return not self.only or any([kind == one or kind.startswith(one + ".") for one in self.only])


def actions(found: Found, judged: Judged, wish: Wish) -> list[types.CodeAction]:
    """What can be done at a place."""
    out: list[types.CodeAction] = []
    text = judged.text
    if wish.takes(types.CodeActionKind.QuickFix):
        near = [d for d in shown(judged) if _touches(text.span(d.range), wish.span)]
        for diagnostic in near:
            out += _words(judged, diagnostic)
            if found.configured.settings.allow_in_plans:
                out += _allowance(judged, diagnostic)
        if any([diagnostic.code for diagnostic in near]) and _repairable(judged):
            out.append(_search(found, judged, wish, ALL, "Apply the nearest safe plan", near))
            if any([d.code in (SC.PRECONDITION, SC.GOAL) for d in near]):
                out.append(_search(found, judged, wish, MISSING, "Insert what is missing, and keep every step", near))
    explicit = [one for one in wish.only if one.startswith("source")]
    if explicit and wish.takes(FIX_ALL) and _repairable(judged):
        action = _search(found, judged, wish._replace(lazily=False), ALL, "Apply the nearest safe plan", [])
        if action.edit is not None:
            out.append(types.CodeAction(action.title, kind=FIX_ALL, edit=action.edit))
    return [action for action in out if action.edit is not None or action.data is not None]


def _touches(place: Span, asked: Span) -> bool:
    return place.start <= asked.end and asked.start <= place.end


def _repairable(judged: Judged) -> bool:
    report = judged.result.report if judged.result is not None else None
    return judged.prepared is not None and report is not None and report.headline not in (None, *_GOOD)


def _search(
    found: Found, judged: Judged, wish: Wish, what: str, title: str, near: list[types.Diagnostic]
) -> types.CodeAction:
    """An action whose edit is looked for: now, or once it is chosen."""
    action = types.CodeAction(title, kind=types.CodeActionKind.QuickFix, diagnostics=near or None)
    if wish.lazily:
        action.data = {"uri": judged.text.uri, "version": judged.text.version, "what": what}
        return action
    try:
        action.edit = searched(found, judged, what)
    except NoFix:
        action.edit = None
    return action


def searched(found: Found, judged: Judged, what: str) -> types.WorkspaceEdit:
    """The edit that makes a plan safe. Raises :class:`NoFix`."""
    text = judged.text
    options = RepairOptions(time_limit_s=SECONDS, max_work=BOUNDED_WORK, max_repairs=1)
    if what == MISSING and judged.prepared is not None:
        steps = judged.prepared.checker.read(judged.prepared.plan).steps
        if any([isinstance(step, IllFormed) for step in steps]):
            raise NoFix("a step of the plan is ill-formed, and cannot be kept")
        options = options._replace(protected=frozenset(range(1, len(steps) + 1)))
    wishes = ExaminationOptions(options, classes=False)
    settings = found.configured.settings
    done = next(iter(examine([text.source], settings, wishes, session=found.session, seconds=4 * SECONDS)))
    if done.best is None or done.text is None or done.text == text.text:
        raise NoFix(_why(done))
    if what == MISSING and any([edit.kind is not EditKind.INSERT for edit in done.best.edits]):
        raise NoFix("nothing that is inserted makes this plan safe: its steps have to change")
    return types.WorkspaceEdit({text.uri: edits(text, done.text)})


def _why(done: Examined) -> str:
    if done.outcome is not None:
        return "; ".join([done.outcome.message, *done.outcome.notes])
    errors = [diagnostic.message for diagnostic in done.result.report.diagnostics]
    return errors[0] if errors else "the plan is safe already"


def edits(text: Text, new: str) -> list[types.TextEdit]:
    """The lines in which two texts differ, as one edit for each run of them."""
    import difflib  # noqa: PLC0415 - where something is applied

    old, lines = text.text.splitlines(keepends=True), new.splitlines(keepends=True)
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line))
    matcher = difflib.SequenceMatcher(None, old, lines, autojunk=False)
    return [
        types.TextEdit(text.range(Span(starts[a], starts[b])), "".join(lines[c:d]))
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal"
    ]


def _allowance(judged: Judged, diagnostic: types.Diagnostic) -> list[types.CodeAction]:
    """A comment behind the step that lets its rule be broken, where the project file lets plans say so."""
    data: Any = diagnostic.data
    rule = data.get("rule") if isinstance(data, dict) else None
    if not rule or judged.prepared is None or judged.prepared.places:
        return []
    text = judged.text
    line = text.source.position(text.offset(diagnostic.range.end))[0]
    end = text.source.line_starts[line - 1] + len(text.source.line(line))
    comment = f" ; safecheck: allow {rule} -- (say why)"
    edit = types.WorkspaceEdit({text.uri: [types.TextEdit(text.range(Span(end, end)), comment)]})
    kind = types.CodeActionKind.QuickFix
    return [types.CodeAction(f"Allow `{rule}` in this plan", kind=kind, diagnostics=[diagnostic], edit=edit)]


def _words(judged: Judged, diagnostic: types.Diagnostic) -> list[types.CodeAction]:
    """The word that was meant, where a diagnostic names one."""
    data: Any = diagnostic.data
    meant = _MEANT.search(str(data.get("help", ""))) if isinstance(data, dict) else None
    if meant is None:
        return []
    text, span = judged.text, judged.text.span(diagnostic.range)
    if _WORD.fullmatch(text.source.slice(span)) is None:
        return []
    edit = types.WorkspaceEdit({text.uri: [types.TextEdit(text.range(span), meant[1])]})
    title = f"Write `{meant[1]}`"
    kind = types.CodeActionKind.QuickFix
    return [types.CodeAction(title, kind=kind, diagnostics=[diagnostic], edit=edit, is_preferred=True)]
