"""Plans as language models write them, read against a task: a plain plan with every liberty noted, or a refusal.

The answer is looked for first, and where it breaks off. It is read as a plan of the task, with care; where that fails
for its steps, it is read as it is written, and its ill-formed steps are the checker's to judge (docs/plan-text.md).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.sexpr import has_invalid_utf8
from plansafe.grammar.source import Source
from plansafe.llm.loose.as_written import AsWritten, Step
from plansafe.llm.loose.candidates import LooseResult, LooseStep
from plansafe.llm.loose.careful import Careful
from plansafe.llm.loose.elements import Form, Line
from plansafe.llm.loose.mending import mended
from plansafe.llm.loose.names import Names, Refused, Tolerance
from plansafe.llm.loose.placing import answer_scope
from plansafe.llm.loose.remarks import find_remarks
from plansafe.llm.loose.report import SKIPPED
from plansafe.llm.loose.strict import plain_name, strict_plan
from plansafe.llm.loose.wrapping import LIMIT
from plansafe.llm.loose.written import Written
from plansafe.llm.structured.tree import Document
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.steps import IllFormed, Resolver
from plansafe.verifier.reporting.report import Report

_BROKEN_OFF = Tolerance(SC.TEXT_CUT_OFF, "the text breaks off; it was read up to there", "ask for the plan in full")
_ILL_FORMED = Tolerance(
    SC.READ_AS_WRITTEN, "a step that the task does not have was read as it is written", "use the names of the task"
)
_LEFT_OUT = Tolerance(SC.TEXT_LEFT_OUT, "what stands before the answer was left out")
_FINAL = (SC.TEXT_DECLINES, SC.TEXT_TOO_LARGE)
_REMOVAL_MARKS = re.compile(
    r"^[ \t>]*(?:[-+*][ \t]+)?(?:\[[ xX]?\][ \t]*)?|~~|</?(?:del|s|strike)>|<!--|-->|\b\d{1,4}[.)](?=\s)|^[-+#;/%]+"
)
_NOT_BLANK = re.compile(r"[^\r\n]")


def read_loose(text: Source, checker: Checker) -> LooseResult:
    """Read a plan that a language model wrote; names are resolved against the checker's task.

    A user's mistake is a diagnostic, never an exception. Time and memory are linear in the text, which has at most a
    million characters. A step that the task does not have is an ill-formed step of the plan; the checker says INVALID.
    """
    if not checker.ok:
        return LooseResult(None, (), (), checker.diagnostics)
    strict = strict_plan(text, checker)
    if strict is not None:
        comments = [Span(*match.span()) for match in re.finditer(r";[^\n]*", text.text)]
        names = Names(checker.engine.task, checker.compiled.symbols.types.ancestors) if comments else None
        return strict if names is None else strict._replace(remarks=find_remarks(text, comments, strict.steps, names))
    if len(text.text) > LIMIT:
        message = f"a loose text may have {LIMIT:,} characters; this has {len(text.text):,}"
        return _alone(text, SC.TEXT_TOO_LARGE, message, "cut the text, or write a plain plan")
    if has_invalid_utf8(text.text):
        return _alone(text, SC.NOT_UTF8, "bytes that are not UTF-8", "save the text as UTF-8")
    return _Answer(text, checker).read()


class CheckedAnswer(NamedTuple):
    """An answer as it was read, and the report on its plan (``None`` without a plan)."""

    read: LooseResult
    report: Report | None


def check_answer(text: Source, checker: Checker, *, accept_remarks: bool = False) -> CheckedAnswer:
    """Read an answer and judge its plan. A remark that was not understood caps the verdict at UNKNOWN."""
    read = read_loose(text, checker)
    if read.plan is None:
        return CheckedAnswer(read, None)
    return CheckedAnswer(read, read.capped(checker.check(read.plan), accept_remarks=accept_remarks))


def _alone(text: Source, code: str, message: str, help: str) -> LooseResult:
    label = Label(text.name, Span(0, min(1, len(text.text))), "this text")
    return LooseResult(None, (), (), (Diagnostic(code, message, (label,), help=help),))


def _without(text: str, spans: tuple[Span, ...]) -> str:
    """The text with ranges overwritten, places unchanged."""
    parts: list[str] = []
    position = 0
    for span in spans:
        parts += (text[position : span.start], _NOT_BLANK.sub(" ", text[span.start : span.end]))
        position = span.end
    return "".join([*parts, text[position:]])


def _says_more(text: str, steps: tuple[Step, ...]) -> bool:
    """Whether the text has words outside the steps."""
    position = 0
    for step in steps:
        if re.search(r"[^\W\d]", text[position : step.start]):
            return True
        position = max(position, step.end)
    return bool(re.search(r"[^\W\d]", text[position:]))


class _Answer:
    """The answer that a text gives."""

    def __init__(self, source: Source, checker: Checker) -> None:
        self.source = source
        self.names = Names(checker.engine.task, checker.compiled.symbols.types.ancestors)
        self.resolver = Resolver(
            checker.engine.task, checker.engine.resolver.lenient
        )  # the checker's has its own hints
        self.before: Span | None = None  # the text before the answer
        self.announced = False  # as the final one: the text before it may be a draft
        self.end = len(source.text)  # where the answer ends; later text may still object to it

    def read(self) -> LooseResult:
        careful = self.full_reader = Careful(self.source, self.names)
        declined = self._find(careful)
        if declined is not None:
            return declined
        reader = careful if self.before is None else Careful(self._answer(self.source.text), self.names)
        result = reader.read()
        if result.plan is not None or any([diagnostic.code in _FINAL for diagnostic in result.diagnostics]):
            return self._noted(result, reader)
        if reader.is_unreadable:
            return result
        broken = mended(reader.source.text)
        if broken is not None:
            closed = Careful(self._answer(self.source.text[: broken.end] + broken.closing), self.names)
            cut = closed.read()
            cut = cut if cut.plan is not None else self._as_written(closed)
            if cut.plan is not None:
                place = Span(max(broken.end - 1, 0), broken.end)
                return self._noted(cut, closed, (_BROKEN_OFF, place))
        has_more = self.end < len(self.source.text)
        alone = Careful(self._answer(self.source.text[: self.end]), self.names) if has_more else reader
        as_written = self._as_written(alone)
        if as_written.plan is not None:
            return self._noted(as_written, alone)
        reported = [(diagnostic.code, diagnostic.message) for diagnostic in as_written.diagnostics]
        additional = [
            diagnostic for diagnostic in result.diagnostics if (diagnostic.code, diagnostic.message) not in reported
        ]
        return result._replace(diagnostics=(*as_written.diagnostics, *additional))

    def _find(self, careful: Careful) -> LooseResult | None:
        """Find the answer; where the text declines before it, say so."""
        cleaned = careful.loose.cleaned
        written = Written(careful.lines, self.resolver, careful.documents())
        scope = answer_scope(
            careful.loose,
            lambda start, end: written.holds_step(cleaned.text, start, end),
            lambda text: careful.lines.read(text).kind == "prose",
        )
        if scope is None:
            return None
        self.announced = scope.announced
        end = scope.end
        if end < len(cleaned.text):  # the fence that closes the block
            closing = cleaned.text.find("\n", end)
            end = len(cleaned.text) if closing < 0 else closing
        self.end = cleaned.origin(end - 1, end).end
        if not cleaned.text[: scope.lead].strip():
            return None
        if refused := careful.prose.refusal(cleaned.text[: scope.lead]):
            careful.report.refuse(refused, 0, scope.lead)
            return LooseResult(None, (), (), careful.report.why())
        self.before = Span(0, cleaned.origin(scope.lead, scope.lead + 1).start)
        return None

    def _answer(self, text: str) -> Source:
        """The text without the part before the answer, places unchanged."""
        end = self.before.end if self.before else 0
        return Source(self.source.name, _without(text, (Span(0, end),)))

    def _with_remarks(self, result: LooseResult, reader: Careful) -> LooseResult:
        """Read the text around the steps; drafts before an announced final plan are ignored."""
        report = self.full_reader.report
        first = min([step.span.start for step in result.steps], default=0)
        left_out = [step.span for step in result.steps] + [*reader.decision.repeated]
        left_out += [
            span
            for span in (report.place(span.start, span.end) for span in self.full_reader.loose.reasoning)
            if span.end <= first
        ]
        if self.announced and self.before is not None:
            left_out += self._drafts(self.before)
        places_outside: list[Span] = [report.place(span.start, span.end) for span in reader.outside_steps]
        left_out += [report.place(*span) for span in self.full_reader.loose.removed if self._is_step(span)]
        for block in self.full_reader.loose.blocks:
            for element in block.elements:
                if isinstance(element, Document):
                    place = report.place(element.start, element.end)
                    if any([place.start <= step.span.start < place.end for step in result.steps]):
                        left_out.append(place)  # its text outside the steps is in ``outside_steps``
                elif isinstance(element, Form):
                    left_out.append(report.place(element.start, element.end))
                    text = self.full_reader.loose.cleaned.text
                    comments = re.compile(r";[^\n]*").finditer(text, element.start, element.end)
                    places_outside += [report.place(*match.span()) for match in comments]
        outside = [*_complement(left_out, len(self.source.text)), *places_outside]
        return result._replace(remarks=find_remarks(self.source, outside, result.steps, self.names))

    def _is_step(self, removed: Span) -> bool:
        """Whether text that is struck out, commented out or removed by a diff is a step; other text is a remark."""
        text = self.full_reader.loose.cleaned.text[removed.start : removed.end]
        return self.full_reader.lines.read(_REMOVAL_MARKS.sub("", text).strip()).kind == "steps"

    def _drafts(self, before: Span) -> list[Span]:
        """The steps on lines of their own before the final plan."""
        lines = [e for block in self.full_reader.loose.blocks for e in block.elements if isinstance(e, Line)]
        drafts = []
        for line in lines:
            if line.kind == "line" and self.full_reader.report.place(line.start, line.start + 1).end <= before.end:
                reading = self.full_reader.lines.read(line.text)
                if reading.kind == "steps":
                    drafts.append(self.full_reader.report.place(line.start + reading.start, line.start + reading.end))
        return drafts

    def _as_written(self, reader: Careful) -> LooseResult:
        cleaned = _without(reader.loose.cleaned.text, tuple(sorted([*reader.loose.reasoning, *reader.loose.removed])))
        read = Written(reader.lines, self.resolver, reader.documents()).read(cleaned, 0, len(cleaned))
        if read is None or not any([step.ill_formed for step in read.steps]):
            refused = () if read is None or read.refused is None else (self._refused(read, read.refused, reader),)
            return LooseResult(None, (), (), refused)
        report = reader.report.fresh()
        steps = []
        for step in read.steps:
            span = report.place(step.start, step.end)
            steps.append(LooseStep(step.text, span, self.source.position(span.start)[0], step.ill_formed))
            for tolerance in (_ILL_FORMED,) if step.taken is None else step.taken.tolerances:
                report.note(tolerance, span)
        if _says_more(cleaned, read.steps):
            report.note(SKIPPED, steps[0].span)
        plan = Source(plain_name(self.source), "".join([f"{step.text}\n" for step in steps]))
        return LooseResult(plan, tuple(steps), report.notes(), ())

    def _refused(self, read: AsWritten, refused: Refused, reader: Careful) -> Diagnostic:
        report = reader.report.fresh()
        report.refuse(refused, read.start, read.end)
        return report.refusals[0]

    def _within(self, span: Span) -> Span:
        """Return a place within the text, for a place in the closing that was added to it."""
        end = len(self.source.text)
        return Span(min(span.start, max(end - 1, 0)), min(span.end, end))

    def _noted(self, result: LooseResult, reader: Careful, *more: tuple[Tolerance, Span]) -> LooseResult:
        """The result, with notes about omissions."""
        liberties = [*more] if self.before is None else [(_LEFT_OUT, self.before), *more]
        name = self.source.name
        steps = [
            step._replace(
                span=self._within(step.span),
                ill_formed=isinstance(self.resolver.resolve_tokens(step.text[1:-1].split()), IllFormed),
            )
            for step in result.steps
        ]
        notes_read = [
            note._replace(labels=tuple([label._replace(span=self._within(label.span)) for label in note.labels]))
            for note in result.notes
        ]
        diagnostics = [
            Diagnostic(
                liberty.code, liberty.message, (Label(name, span, "here"),), help=liberty.help, severity=Severity.NOTE
            )
            for liberty, span in liberties
        ]
        notes = tuple(sorted([*notes_read, *diagnostics], key=lambda note: note.code))
        return self._with_remarks(result._replace(steps=tuple(steps), notes=notes), reader)


def _complement(spans: list[Span], size: int) -> list[Span]:
    """The ranges that no span covers."""
    gaps = []
    position = 0
    for span in sorted(spans):
        if span.start > position:
            gaps.append(Span(position, span.start))
        position = max(position, span.end)
    return [*gaps, Span(position, size)] if position < size else gaps
