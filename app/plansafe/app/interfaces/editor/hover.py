"""Hover texts: a step with its effects and state, a rule in English, a declaration.

Inlay hints: the facts that each step of a plan changes, shown after the step.
"""

from __future__ import annotations

import re
from contextlib import suppress

from lsprotocol import types

from plansafe.app.interfaces.editor.document_text import Text
from plansafe.app.interfaces.editor.lsp_diagnostics import clean
from plansafe.app.interfaces.editor.name_mentions import RULES, Mention, NameKind, find_mentions, mention_at, step_words
from plansafe.app.interfaces.editor.source_tree import Form, enclosing_forms, parse_tree
from plansafe.app.interfaces.editor.state_trace import StateTrace
from plansafe.app.interfaces.editor.symbols import Symbols, declaration
from plansafe.app.interfaces.editor.workspace import PLANS, Analysis
from plansafe.grammar.diagnostics import Span, with_article
from plansafe.grammar.source import Source
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import GroundAction

MAX_FACTS = 14
_MARKS = re.compile(r"[\\*_{}\[\]<>#|~!]")


def hover(analysis: Analysis, trace: StateTrace | None, symbols: Symbols, offset: int) -> types.Hover | None:
    """Return the hover text at an offset, or ``None``."""
    if analysis.kind in PLANS:
        if trace is None:
            return None
        number = trace.number_at(offset)
        if number is None:
            return None
        lines = _step_lines(analysis, trace, number)
        lines += _word_lines(analysis, trace, symbols, number, offset)
        return _hover_at(analysis, lines, trace.places[number].start, trace.places[number].end)
    form = _rule(analysis, offset)
    mention = mention_at(find_mentions(analysis.text.source, analysis.kind), offset)
    if form is not None and mention is not None and mention.name_kind in (NameKind.RULE, NameKind.KEYWORD):
        lines = rule_in_words(analysis.text.source, form)
        return _hover_at(analysis, lines, mention.span.start, mention.span.end) if lines else None
    if mention is None:
        return None
    lines = _declaration_lines(analysis, symbols, mention)
    return _hover_at(analysis, lines, mention.span.start, mention.span.end) if lines else None


def _hover_at(analysis: Analysis, lines: list[str], start: int, end: int) -> types.Hover:
    place = types.Range(analysis.text.position(start), analysis.text.position(end))
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, clean("\n\n".join(lines))), place)


def quoted(text: str) -> str:
    """Format a name from a file as Markdown code, replacing backquotes and line ends."""
    return "`" + text.replace("`", "'").replace("\n", " ") + "`"


def escape_markdown(text: str) -> str:
    """Escape a text from a file for Markdown; text between backquotes remains code."""
    pieces = text.replace("\n", " ").split("`")
    return "`".join([piece if number % 2 else _MARKS.sub(r"\\\g<0>", piece) for number, piece in enumerate(pieces)])


def _step_lines(analysis: Analysis, trace: StateTrace, number: int) -> list[str]:
    """Return the changes of a step, then the facts about its objects before the step.

    The changes come first because editors cut off long texts and there may be many facts.
    """
    step = trace.steps[number]
    if not isinstance(step, GroundAction):
        return [
            f"**Step {number + 1}** is ill-formed: {quoted(step.message)}",
            *([quoted(step.help)] if step.help else []),
        ]
    lines = [f"**Step {number + 1}** of {len(trace.steps)}"]
    if trace.unavailable_reason:
        return [*lines, f"States are not shown: {trace.unavailable_reason}."]
    state = trace.before(number)
    if state is None:
        return [*lines, "An earlier step cannot be executed, so this step is not reached."]
    facts = facts_about(state, step.objects)
    hidden_facts = len(facts) - MAX_FACTS
    before = ", ".join([quoted(fact) for fact in facts[:MAX_FACTS]]) + (
        f" and {hidden_facts} more" if hidden_facts > 0 else ""
    )
    if number < len(trace.changes):
        changes = trace.changes[number]
        rows = [f"- {quoted(change.fact)}: {change.before} → {change.after}" for change in changes[:MAX_FACTS]]
        hidden_changes = len(changes) - MAX_FACTS
        rows += [f"- and {hidden_changes} more"] if hidden_changes > 0 else []
        lines.append("It changes:\n" + "\n".join(rows) if rows else "It changes nothing.")
    else:
        lines.append("It cannot be executed here.")
    lines.append(f"Before it: {before or 'no facts about its objects'}")
    report = analysis.result.report if analysis.result is not None else None
    step_findings = [f for f in report.findings if f.step == number + 1] if report is not None else []
    return [*lines, *[f"**{finding.code}** {escape_markdown(finding.message)}" for finding in step_findings]]


def facts_about(execution: Execution, objects: tuple[int, ...]) -> list[str]:
    """Return the facts and numbers about objects, sorted: facts that actions can change come first."""
    task, selected = execution.task, set(objects)
    texts: list[tuple[bool, str]] = []
    for index, codes in enumerate(execution.state.facts[: len(task.predicates)]):
        arity = len(task.predicates[index].types)
        if arity and codes:
            texts += [
                (task.static[index], task.fact_text(index, code))
                for code in codes
                if selected.intersection(task.decode(code, arity))
            ]
    for index, values in enumerate(execution.state.fluents):
        arity = len(task.functions[index].types)
        texts += [
            (False, f"{task.fluent_text(index, code)} = {value}")
            for code, value in values.items()
            if selected.intersection(task.decode(code, arity))
        ]
    return [text for _, text in sorted(texts)]


def _word_lines(analysis: Analysis, trace: StateTrace, symbols: Symbols, number: int, offset: int) -> list[str]:
    """Return the type of the object under the pointer, or the parameters of the action."""
    task, source, place = trace.engine.task, analysis.text.source, trace.places[number]
    if trace.prepared.write is not None:
        names = symbols.names(analysis)
    else:
        words = enumerate(step_words(source, place))
        names = tuple([Mention(NameKind.OBJECT if n else NameKind.ACTION, name, span) for n, (name, span) in words])
    mention = mention_at(tuple([m for m in names if place.start <= m.span.start < place.end]), offset)
    if mention is not None and mention.name_kind is NameKind.ACTION and mention.name in task.actions:
        action = task.actions[mention.name]
        parameters = [f"{v.name} - {_types(trace, v.domain)}" for v in action.parameters]
        return [quoted(f"({' '.join([mention.name, *parameters])})")]
    if mention is not None and mention.name_kind is NameKind.OBJECT and mention.name in task.object_index:
        type_names = [task.type_names[t] for t in task.object_types[task.object_index[mention.name]]]
        return [f"{quoted(mention.name)} is {with_article(', '.join([quoted(kind) for kind in type_names]))}"]
    return []


def _types(trace: StateTrace, domain: int) -> str:
    task = trace.engine.task
    return "/".join([task.type_names[t] for t in task.domain_types[domain]]) or "object"


def _rule(analysis: Analysis, offset: int) -> Form | None:
    forms = enclosing_forms(parse_tree(analysis.text.source), offset)
    return next((form for form in forms if form.head in RULES), None)


def rule_in_words(source: Source, form: Form) -> list[str]:
    """Return a rule in English sentences with its rationale and metadata; only these if it cannot be translated."""
    from plansafe.llm.formalise.in_words import in_words  # noqa: PLC0415 - only needed for rules

    lines = []
    with suppress(ValueError, KeyError, IndexError, TypeError):  # an incomplete rule, or a rule in a template
        lines.append(escape_markdown(in_words(source.slice(form.span))))
    for number, part in enumerate(form.parts[:-1]):
        value = form.parts[number + 1]
        if isinstance(part, Form) or isinstance(value, Form):
            continue
        if part.text in (":rationale", ":source", ":fix", ":hazard", ":severity"):
            lines.append(f"*{part.text[1:]}*: {escape_markdown(value.text.strip(chr(34)))}")
    return lines


def _declaration_lines(analysis: Analysis, symbols: Symbols, mention: Mention) -> list[str]:
    place = symbols.definition(analysis, mention)
    if place is None:
        return []
    text, mention = place
    return [f"```pddl\n{declaration(text.source, mention)}\n```"]


MAX_SHOWN = 3


def hints(text: Text, trace: StateTrace, span: Span) -> list[types.InlayHint]:
    """Return the hints for the steps in a span."""
    out = []
    for place, changes in zip(trace.places, trace.changes, strict=False):
        if place.end < span.start or place.start > span.end or not changes:
            continue
        label = " ".join([change.short for change in changes[:MAX_SHOWN]])
        hidden = len(changes) - MAX_SHOWN
        tooltip = "\n".join([f"{change.fact}: {change.before} -> {change.after}" for change in changes])
        out.append(
            types.InlayHint(
                text.position(place.end),
                clean(label + (f" and {hidden} more" if hidden > 0 else "")),
                tooltip=clean(tooltip),
                padding_left=True,
            )
        )
    return out
