"""Findings about specifications: for people, one on a line for editors, or as JSON (``schema/lint-1.json``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from plansafe.app.render.excerpt import excerpt, gutter, place
from plansafe.app.session.lint_inputs import LintInputs
from plansafe.app.system.terminal_text import Style, pad, visible
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.specs.lint.model import LintFinding, LintResult

SCHEMA = 1
_KINDS = {0: "good", 3: "warning"}


class LintRenderer(Protocol):
    """Turns the result into text."""

    def result(self, result: LintResult, used: LintInputs, ignore: frozenset[str]) -> str:
        """Render the result and the files that were read."""


def renderer(form: str, style: Style) -> LintRenderer:
    """Choose the renderer of a format. Raises ``ValueError`` for an unknown format."""
    match form:
        case "full":
            return FullLint(style)
        case "concise":
            return ConciseLint(style)
        case "json":
            return JsonLint()
    raise ValueError(f"no such format: {form}")


class FullLint:
    """Excerpts with carets, the reason and the proof, and a summary."""

    def __init__(self, style: Style) -> None:
        self._style = style

    def result(self, result: LintResult, used: LintInputs, ignore: frozenset[str]) -> str:
        """Render the result and the files that were read."""
        blocks = [self._used(used)]
        blocks += [self._block(d, result) for d in result.diagnostics]
        blocks += [self._block(fault.diagnostic, result) for fault in result.findings]
        blocks.append(self._summary(result, ignore))
        return "\n\n".join([block for block in blocks if block]) + "\n"

    def _used(self, used: LintInputs) -> str:
        rows = [] if used.domain is None else [("domain", used.domain.path, used.domain.how)]
        rows += [("problem", problem.name, "given") for problem in used.problems]
        rows += [("specification", spec.path, spec.how.replace("--spec", "given")) for spec in used.specs]
        return "\n".join(
            [f"{self._style.bold(pad(role, 14))} {visible(path)}  ({visible(how)})" for role, path, how in rows]
        )

    def _block(self, diagnostic: Diagnostic, result: LintResult) -> str:
        style = self._style
        kind = diagnostic.severity.value
        title = style.paint_kind(kind, f"{kind}[{diagnostic.code}]")
        margin = gutter(diagnostic.labels, result.sources)
        lines = [title + style.bold(f": {visible(diagnostic.message)}")]
        lines += excerpt(diagnostic.labels, result.sources, margin, style.about(kind))
        remarks = [("note", note) for note in diagnostic.notes]
        remarks += [("help", diagnostic.help)] if diagnostic.help else []
        lines += [f"{' ' * margin} {style.frame('=')} {style.bold(word)}: {visible(text)}" for word, text in remarks]
        return "\n".join(lines)

    def _summary(self, result: LintResult, ignore: frozenset[str]) -> str:
        code = result.exit_code(ignore)
        return self._style.paint_kind(_KINDS.get(code, "error"), _verdict(result, code)) + _counts(result)


class ConciseLint:
    """``place: severity[code] message (reason)`` lines, then the verdict."""

    def __init__(self, style: Style) -> None:
        self._style = style

    def result(self, result: LintResult, used: LintInputs, ignore: frozenset[str]) -> str:
        """Render it."""
        name = visible(used.specs[0].path) if used.specs else "lint"
        out = [self._line(d, name, result) for d in (*result.diagnostics, *[f.diagnostic for f in result.findings])]
        code = result.exit_code(ignore)
        verdict = self._style.paint_kind(_KINDS.get(code, "error"), _verdict(result, code))
        return "\n".join([*out, f"{self._style.bold(name)}: {verdict}{_counts(result)}"]) + "\n"

    def _line(self, diagnostic: Diagnostic, name: str, result: LintResult) -> str:
        label = diagnostic.labels[0] if diagnostic.labels else None
        where = place(label.source, label.span, result.sources) if label else name
        because = f" ({visible('; '.join(diagnostic.notes))})" if diagnostic.notes else ""
        kind = diagnostic.severity.value
        tag = self._style.paint_kind(kind, f"{kind}[{diagnostic.code}]")
        return f"{self._style.bold(where)}: {tag} {visible(diagnostic.message)}{because}"


class JsonLint:
    """One JSON object."""

    def result(self, result: LintResult, used: LintInputs, ignore: frozenset[str]) -> str:
        """Render it."""
        from plansafe.app.render.json import diagnostic_object, json_line  # noqa: PLC0415 - for this format alone
        from plansafe.app.system.version import version  # noqa: PLC0415

        def fault(fault_entry: LintFinding) -> dict[str, Any]:
            return {
                **diagnostic_object(fault_entry.diagnostic, result.sources),
                "rules": fault_entry.rules,
                "reason": fault_entry.reason,
                "proof": fault_entry.proof or None,
                "scope": fault_entry.scope.value,
                "problem": fault_entry.problem,
            }

        files: Sequence[tuple[str, str, str]] = [
            *([] if used.domain is None else [("domain", used.domain.path, used.domain.how)]),
            *[("problem", problem.name, "given") for problem in used.problems],
            *[("specification", spec.path, spec.how) for spec in used.specs],
        ]
        return json_line(
            {
                "schema": SCHEMA,
                "version": version(),
                "exit_code": result.exit_code(ignore),
                "findings": [fault(fault_entry) for fault_entry in result.findings],
                "undecided": [question._asdict() for question in result.open_questions],
                "diagnostics": [diagnostic_object(d, result.sources) for d in result.diagnostics],
                "rules": result.rules,
                "not_applicable": result.not_applicable,
                "ignored": sorted(ignore),
                "inputs": [{"role": role, "path": path, "how": how} for role, path, how in files],
            }
        )


def _verdict(result: LintResult, code: int) -> str:
    if code == 2:
        return "NOT CHECKED"
    worst = sum([fault.severity is not Severity.NOTE for fault in result.findings])
    if worst:
        return f"{worst} finding{'' if worst == 1 else 's'}"
    return "UNDECIDED" if code == 3 else "nothing found"


def _counts(result: LintResult) -> str:
    if not result.usable:
        return ""
    idle = f", {result.not_applicable} more not applicable" if result.not_applicable else ""
    problems = f"{result.problems} problem{'' if result.problems == 1 else 's'}" if result.problems else "any problem"
    undecided = len(result.open_questions)
    questions = f"; {undecided} question{'' if undecided == 1 else 's'} undecided" if undecided else ""
    return f" ({result.rules} rule{'' if result.rules == 1 else 's'}{idle}; {problems}{questions})"
