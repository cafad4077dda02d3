"""The steps of structured documents, resolved against a task: to steps of it, or as they are written."""

from __future__ import annotations

import re
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Span
from plansafe.llm.loose.calls import MOST_WORDS, Call, as_word, plain_words
from plansafe.llm.loose.lines import Found, Lines
from plansafe.llm.loose.names import Refused, short
from plansafe.llm.structured.interpretation import Interpretation, Problem, WrittenStep, interpret
from plansafe.llm.structured.tree import Document

_ASIDE_LENGTH = 2_000
_ELEMENT = re.compile(r"<(step|action|item)(?: (?:n|number|id|no)=[\"']?\d{1,4}[\"']?)?>([^<>]+)</\1>")


class ResolvedStep(NamedTuple):
    """A step of a document: a step of the task, or why it is none."""

    found: Found | Refused
    written: WrittenStep
    start: int
    end: int


class ReadDocument(NamedTuple):
    """A document read against a task. ``asides`` are other texts, ``removed`` steps that are left out."""

    document: Document
    steps: tuple[ResolvedStep, ...]
    problems: tuple[Problem, ...]
    asides: tuple[Span, ...]
    removed: tuple[Span, ...]
    skipped: bool
    """Whether words in a step were left out."""


def read_document(document: Document, lines: Lines, text: str) -> ReadDocument:
    """Return the document's steps of the task, or the errors. ``text`` is the whole text around the document."""
    interpretation = interpret(document, lines, text)
    asides, removed = _commented_out(interpretation, lines, text)
    asides = (*asides, *[_with_key(name, span, text) for name, span in interpretation.unknown])
    steps: list[ResolvedStep] = []
    skipped = False
    for written in interpretation.steps:
        outcomes, more = _outcomes(written, lines, text)
        steps += outcomes
        skipped = skipped or more
        asides = (*asides, *(_around(outcomes, written, text) if more else ()))
    problems = interpretation.problems
    return ReadDocument(document, tuple(steps), problems, asides, (*interpretation.removed, *removed), skipped)


def _with_key(name: str, span: Span, text: str) -> Span:
    """A field with its key, so that its value is not judged without it."""
    begin = max(span.start - len(name) - 8, 0)
    at = text.rfind(name, begin, span.start) if name else -1
    return span if at < 0 else Span(at, span.end)


def _around(outcomes: list[ResolvedStep], written: WrittenStep, text: str) -> list[Span]:
    """The words of a step's text before and after the step itself."""
    at = text.find(written.name, written.start, written.end)
    end = at + len(written.name)
    if at < 0 or not at <= outcomes[0].start <= outcomes[-1].end <= end:
        return [Span(written.start, max(written.end, written.start + 1))]
    ranges = (Span(at, outcomes[0].start), Span(outcomes[-1].end, end))
    return [span for span in ranges if any([char.isalnum() for char in text[span.start : span.end]])]


def _commented_out(
    interpretation: Interpretation, lines: Lines, text: str
) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Texts outside the steps, and commented-out steps among them."""
    asides: list[Span] = []
    removed: list[Span] = []
    for span in interpretation.asides:
        comment = text[span.start : span.end]
        bare = comment.strip().lstrip("#/*;%- \t").rstrip(",;").strip()
        if element := _ELEMENT.fullmatch(bare):
            bare = element[2]
        is_comment = comment.startswith(("#", "//")) or text[max(span.start - 4, 0) : span.start].endswith(
            ("%", "<!--")
        )
        reading = lines.read(bare) if len(comment) <= _ASIDE_LENGTH and is_comment else None
        if reading is not None and reading.kind == "steps" and reading.manner != "words":
            removed.append(span)
        elif inner := comment.strip("\"' \t\n"):
            start = span.start + comment.index(inner)
            asides.append(Span(start, start + len(inner)))
    return tuple(asides), tuple(removed)


def _outcomes(written: WrittenStep, lines: Lines, text: str) -> tuple[list[ResolvedStep], bool]:
    """What a written step is of the task; one text may hold several steps."""
    start, end = written.start, written.end
    if written.refused is not None or written.nested:
        refused = written.refused or Refused(
            SC.NOT_UNDERSTOOD, "an argument that is a list or a step is not understood"
        )
        return [ResolvedStep(refused, written, start, end)], False
    action = lines.names.action(written.name) if written.arguments is not None else None
    if not written.arguments and action is None and not written.agent:
        return _of_text(written, lines, text)
    if action is None:
        action = lines.names.action(written.name)
    if action is None:
        return [ResolvedStep(lines.names.unknown_action(written.name), written, start, end)], False
    if isinstance(action, Refused):
        return [ResolvedStep(action, written, start, end)], False
    outcome = lines.steps.arguments(action, written.name, list(written.arguments or ()), written.agent)
    result = outcome if isinstance(outcome, Refused) else Found(outcome, start, end)
    return [ResolvedStep(result, written, start, end)], False


def _of_text(written: WrittenStep, lines: Lines, text: str) -> tuple[list[ResolvedStep], bool]:
    start, end = written.start, written.end
    reading = lines.read(written.name)
    if reading.kind != "steps":
        message = f"`{short(written.name)}` is not understood as a step"
        refused = reading.refused or Refused(SC.NOT_UNDERSTOOD, message)
        return [ResolvedStep(refused, written, start, end)], False
    at = text.find(written.name, start, end)
    if written.declared or at < 0:
        return [ResolvedStep(step_found, written, start, end) for step_found in reading.found], reading.skipped
    return [
        ResolvedStep(step_found, written, at + step_found.start, at + step_found.end) for step_found in reading.found
    ], reading.skipped


# -- as written -------------------------------------------------------------------------------------------------------


def written_calls(read: ReadDocument) -> list[Call]:
    """Return the steps of a document as calls, with the words of their author."""
    calls = []
    for step in read.steps:
        written = step.written
        if not written.name:
            continue
        if written.arguments is None:
            words = plain_words(written.name.strip().strip("()[]"))
            words = plain_words(written.name.replace("(", " ").replace(")", " ")) if "(" in written.name else words
        else:
            name = f"{written.agent}.{written.name}" if written.agent and not written.declared else written.name
            words = (as_word(name), *[as_word(argument.text) for argument in written.arguments])
        form = "data" if written.declared or written.arguments is not None else "string"
        calls.append(
            Call(
                words[:MOST_WORDS],
                step.start,
                max(step.end, step.start + 1),
                form,
                written.declared,
                written.nested,
                group=read.document.start,
                outcome=step.found.step if isinstance(step.found, Found) else step.found,
            )
        )
    return calls
