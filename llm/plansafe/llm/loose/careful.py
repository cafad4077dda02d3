"""The careful reading: a text as a plan of the task, every liberty noted, or the reasons why it is none.

``plansafe.llm.loose.wrapping`` takes the text apart; here its lines, fences, tables and data become candidate plans.
One candidate, or several that agree, is the plan. Whatever may be a step and is not understood is a reason against it:
what a text does not say for certain is never guessed (docs/plan-text.md).
"""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Span
from plansafe.grammar.plan_text import is_definition, read_plan
from plansafe.grammar.source import Source
from plansafe.llm.loose.candidates import LooseResult, LooseStep, Plan, Run, Step
from plansafe.llm.loose.decision import Decision
from plansafe.llm.loose.elements import Form, Line
from plansafe.llm.loose.lines import Found, Lines, manner_note
from plansafe.llm.loose.names import Names, Refused, Tolerance
from plansafe.llm.loose.outline import Outline
from plansafe.llm.loose.prose import Prose
from plansafe.llm.loose.report import REMOVED, SKIPPED, Report
from plansafe.llm.loose.steps import Steps
from plansafe.llm.loose.strict import decimal, leaves_open, plain_name, timed
from plansafe.llm.loose.wrapping import Block, LooseText, read_text
from plansafe.llm.structured.resolver import ReadDocument, read_document
from plansafe.llm.structured.tree import Document

_FLAWS = {
    "cut": SC.TEXT_CUT_OFF,
    "deep": SC.TEXT_TOO_LARGE,
    "struck": SC.MORE_THAN_A_SEQUENCE,
    "data": SC.NOT_UNDERSTOOD,
}
_FLAW_HELP = {"cut": "ask for the plan in full", "struck": "leave out what is struck out"}
_QUOTES_READ = "typographic spaces, quotes or hyphens were read as plain ones"


class Careful:
    """The state of reading one text."""

    def __init__(self, source: Source, names: Names) -> None:
        self.source = source
        self.steps = Steps(names)
        self.prose = Prose(names)
        self.lines = Lines(self.steps)
        self.loose: LooseText = read_text(source.text)
        self.report = Report(source, self.loose.cleaned)
        self.outline = Outline(self.report, self.lines, self.prose)
        self.decision = Decision(self.outline)
        self._documents: dict[int, ReadDocument] = {}
        self.outside_steps: list[Span] = []  # comments and fields of documents that belong to no step

    def read(self) -> LooseResult:
        """The plan, if each of its steps is one of the task."""
        for flaw in self.loose.flaws:
            refused = flaw.refused or Refused(_FLAWS[flaw.kind], flaw.message, _FLAW_HELP.get(flaw.kind))
            self.report.refuse(refused, flaw.start, flaw.end)
        for block in self.loose.blocks:
            if block.fenced:
                self._fence(block)
            else:
                self._elements(block)
        plan = self.decision.plan()
        if plan is None or self.report.refusals:
            return LooseResult(None, (), self.report.notes(), self.report.why())
        return self._result(plan)

    def _result(self, plan: Plan) -> LooseResult:
        self.note_characters()
        for manner in sorted(plan.manners):
            notation_note = manner_note(manner)
            if notation_note:
                self.report.note(notation_note, plan.steps[0].span)
        if plan.fenced:
            self.report.note(
                Tolerance(SC.OTHER_NOTATION, "the plan was taken out of a fenced block"), plan.steps[0].span
            )
        if plan.numbered:
            self.report.note(Tolerance(SC.OTHER_NOTATION, "the marks of a list were left out"), plan.steps[0].span)
        steps = []
        steps_shown = []
        for step in plan.steps:
            for tolerance in step.found.step.tolerances:
                self.report.note(tolerance, step.span)
            written = step.found.step.text
            steps.append(LooseStep(written, step.span, self.source.position(step.span.start)[0]))
            steps_shown.append(timed(written, step.time, step.found.duration))
        text = Source(plain_name(self.source), "\n".join(steps_shown) + "\n")
        return LooseResult(text, tuple(steps), self.report.notes(), ())

    def note_characters(self) -> None:
        """Note replacements and omissions made before the text was read."""
        cleaned = self.loose.cleaned
        for places, description in (
            (cleaned.invisible, "invisible characters were left out"),
            (cleaned.replaced, _QUOTES_READ),
        ):
            for place in places[:3]:
                self.report.note(Tolerance(SC.CHARACTERS_REPLACED, description), Span(place, place + 1))
        for span in self.loose.reasoning:
            self.report.note(
                Tolerance(SC.REASONING_LEFT_OUT, "the text's reasoning was left out"),
                self.report.place(span.start, span.end),
            )

    def _elements(self, block: Block) -> None:
        for element in block.elements:
            match element:
                case Line():
                    self.outline.line(element, block.fenced)
                case Document():
                    self._document(element)
                case Form():
                    self._form(element)

    def _fence(self, block: Block) -> None:
        """A fenced block: a candidate of its own, or the steps of the item above it."""
        outer, self.outline.run = self.outline.run, None
        first = len(self.outline.pending)
        lead, refusals = self.outline.take_lead(), len(self.report.refusals)
        self.outline.before = None
        self._elements(block)
        runs = self.outline.pending[first:]
        del self.outline.pending[first:]
        self.outline.run = outer
        steps: list[Step] = []
        manners: set[str] = set()
        for run in runs:
            plan = self.decision.candidate(run) if isinstance(run, Run) else run
            if plan is not None:
                steps += plan.steps
                manners |= plan.manners
        if not steps:
            empty = not any([not isinstance(e, Line) or e.kind == "line" for e in block.elements])
            only_forms = all(
                [isinstance(e, Form) or (isinstance(e, Line) and e.kind != "line") for e in block.elements]
            )
            if len(self.report.refusals) == refusals and not empty and not only_forms:
                refused = Refused(SC.NOT_UNDERSTOOD, "a fenced block that holds no plan", "leave it out")
                self.report.refuse(refused, block.start, block.start + 1)
            return
        owner = outer.items[-1] if outer is not None and outer.items and outer.kind != "plain" else None
        if outer is not None and owner is not None and not owner.steps and (outer.open or outer.kind == "number"):
            owner.steps += steps
            owner.beneath = True
            outer.manners |= manners
            return
        if len(runs) > 1:
            refused = Refused(SC.PLANS_DIFFER, "steps in two parts of a fenced block", "write the plan without a break")
            self.report.refuse(refused, block.start, block.start + 1)
        self.outline.lead = ""
        self.outline.pending.append(
            Plan(steps, lead, manners, True, any([isinstance(r, Run) and r.kind != "plain" for r in runs]))
        )
        if outer is not None:
            outer.open = False

    @property
    def is_unreadable(self) -> bool:
        """Whether a structured document cannot be read: then nothing is read in its place."""
        struck = self.outline.struck_in_part
        return struck or any([flaw.kind in ("document", "struck") for flaw in self.loose.flaws])

    def documents(self) -> list[ReadDocument]:
        """Return the structured documents of the text, read against the task."""
        document_elements = [
            element for block in self.loose.blocks for element in block.elements if isinstance(element, Document)
        ]
        return [self._read(document) for document in document_elements]

    def _read(self, document: Document) -> ReadDocument:
        if document.start not in self._documents:
            self._documents[document.start] = read_document(document, self.lines, self.loose.cleaned.text)
        return self._documents[document.start]

    def _document(self, document: Document) -> None:
        """A structured document: a candidate of its own."""
        read = self._read(document)
        text = self.loose.cleaned.text
        steps: list[Step] = []
        for problem in read.problems:
            self.report.refuse(problem.refused, problem.start, problem.end)
        for step in read.steps:
            if isinstance(step.found, Refused):
                self.report.refuse(step.found, step.start, step.end)
            else:
                steps.append(Step(step.found, self.report.place(step.start, step.end), None))
        for span in read.asides:
            if refused := self.prose.objection(text[span.start : span.end]):
                self.report.refuse(refused, span.start, span.end)
            self.outside_steps.append(span)
            self.report.note(SKIPPED, self.report.place(span.start, span.end))
        for span in read.removed:
            self.report.note(REMOVED, self.report.place(span.start, span.end))
        if read.skipped:
            self.report.note(SKIPPED, self.report.place(document.start, document.end))
        if steps:
            lead = f"{self.outline.take_lead()}\n{document.lead}"
            self.outline.pending.append(Plan(steps, lead, {str(document.format)}))
        if self.outline.run is not None:
            self.outline.run.open = False

    def _form(self, form: Form) -> None:
        span = self.report.place(form.start, form.end)
        if form.what in ("domain", "problem"):
            self.report.note(Tolerance(SC.TEXT_LEFT_OUT, f"a {form.what} beside the plan was left out"), span)
            return
        text = self.loose.cleaned.text[form.start : form.end]
        read = read_plan(Source(self.source.name, text))
        if form.what != "plan" or read.diagnostics or not is_definition(text):
            message = read.diagnostics[0].message if read.diagnostics else f"`(define ({form.what} ..` is no plan"
            self.report.refuse(Refused(SC.NOT_UNDERSTOOD, message), form.start, form.end)
            return
        if leaves_open(read):
            message = "an order or durations that are left open, among other text"
            self.report.refuse(Refused(SC.NOT_UNDERSTOOD, message, "write the plan alone"), form.start, form.end)
            return
        steps = []
        for step in read.steps:
            start, end = form.start + step.span.start, form.start + step.span.end
            outcome = self.steps.words.step(list(step.tokens)) or self.steps.names.unknown_action(step.tokens[0])
            if isinstance(outcome, Refused):
                self.report.refuse(outcome, start, end)
                continue
            step_found = Found(outcome, start, end, decimal(step.duration))
            steps.append(Step(step_found, self.report.place(start, end), decimal(step.time)))
        if steps:
            self.outline.pending.append(Plan(steps, self.outline.take_lead(), set()))
