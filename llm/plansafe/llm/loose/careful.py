"""The careful reading: a text as a plan of the task, every liberty noted, or the reasons why it is none.

``plansafe.llm.loose.wrapping`` takes the text apart; here its lines, fences, tables and data become candidate plans.
One candidate, or several that agree, is the plan. Whatever may be a step and is not understood is a reason against it:
what a text does not say for certain is never guessed (docs/loose-text.md).
"""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Span
from plansafe.grammar.plan_text import is_definition, read_plan
from plansafe.grammar.source import Source
from plansafe.llm.loose.candidates import LooseResult, LooseStep, Plan, Run, Step
from plansafe.llm.loose.decision import Decision
from plansafe.llm.loose.elements import Datum, Form, Line, Table
from plansafe.llm.loose.lines import Found, Lines, manner_note
from plansafe.llm.loose.names import Names, Refused, Tolerance
from plansafe.llm.loose.outline import Outline
from plansafe.llm.loose.prose import Prose
from plansafe.llm.loose.report import COMMENTS, SKIPPED, Report
from plansafe.llm.loose.steps import Steps
from plansafe.llm.loose.strict import decimal, leaves_open, plain_name, timed
from plansafe.llm.loose.values import Values
from plansafe.llm.loose.wrapping import Block, LooseText, read_text

_FLAWS = {
    "cut": SC.TEXT_BREAKS_OFF,
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
        self.beside: list[Span] = []  # comments and fields of values that belong to no step
        self.objects: list[Step] | None = None  # of a file with one object a line

    def read(self) -> LooseResult:
        """The plan, if each of its steps is one of the task."""
        for flaw in self.loose.flaws:
            self.report.refuse(
                Refused(_FLAWS[flaw.kind], flaw.message, _FLAW_HELP.get(flaw.kind)), flaw.start, flaw.end
            )
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
            said = manner_note(manner)
            if said:
                self.report.note(said, plan.steps[0].span)
        if plan.fenced:
            self.report.note(
                Tolerance(SC.OTHER_NOTATION, "the plan was taken out of a fenced block"), plan.steps[0].span
            )
        if plan.numbered:
            self.report.note(Tolerance(SC.OTHER_NOTATION, "the marks of a list were left out"), plan.steps[0].span)
        steps = []
        shown = []
        for step in plan.steps:
            for tolerance in step.found.step.tolerances:
                self.report.note(tolerance, step.span)
            written = step.found.step.text
            steps.append(LooseStep(written, step.span, self.source.position(step.span.start)[0]))
            shown.append(timed(written, step.time, step.found.duration))
        return LooseResult(
            Source(plain_name(self.source), "\n".join(shown) + "\n"), tuple(steps), self.report.notes(), ()
        )

    def note_characters(self) -> None:
        """Note what was replaced or left out before the text was read."""
        cleaned = self.loose.cleaned
        for places, what in (
            (cleaned.invisible, "invisible characters were left out"),
            (cleaned.replaced, _QUOTES_READ),
        ):
            for place in places[:3]:
                self.report.note(Tolerance(SC.CHARACTERS_REPLACED, what), Span(place, place + 1))
        for span in self.loose.reasoning:
            self.report.note(
                Tolerance(SC.REASONING_LEFT_OUT, "the text's reasoning was left out"),
                self.report.place(span.start, span.end),
            )

    def _elements(self, block: Block) -> None:
        for element in block.elements:
            if not isinstance(element, Datum) and not (isinstance(element, Line) and element.kind == "blank"):
                self._end_objects()
            match element:
                case Line():
                    self.outline.line(element, block.fenced)
                case Datum():
                    self._datum(element)
                case Table():
                    self._table(element)
                case Form():
                    self._form(element)
        self._end_objects()

    def _fence(self, block: Block) -> None:
        """A fenced block: a candidate of its own, or the steps of the item it stands below."""
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

    def _datum(self, datum: Datum) -> None:
        values = Values(self.lines)
        single = values.is_step(datum.value) and not datum.lead
        placed = values.plan(datum.value)
        steps: list[Step] = []
        for item in placed:
            if isinstance(item.found, Refused):
                self.report.refuse(item.found, item.start, item.end)
            else:
                steps.append(Step(item.found, self.report.place(item.start, item.end), None))
        for span in datum.comments:
            self.beside.append(span)
            self.report.note(COMMENTS, self.report.place(span.start, span.end))
        self.beside += [Span(start, end) for _, start, end in values.said]
        if values.skipped:
            self.report.note(SKIPPED, self.report.place(datum.start, datum.end))
        if not placed and not self.loose.flaws:
            refused = Refused(SC.NO_PLAN, "an empty list: a plan without steps is written as such in a plan file")
            self.report.refuse(refused, datum.start, datum.end)
        if not steps:
            return
        if single:
            if self.objects is None:
                self.objects = []
                self.outline.pending.append(Plan(self.objects, self.outline.take_lead(), {"data"}))
            self.objects += steps
        else:
            self._end_objects()
            self.outline.pending.append(Plan(steps, f"{self.outline.take_lead()}\n{datum.lead}", {"data"}))
        if self.outline.run is not None:
            self.outline.run.open = False

    def _end_objects(self) -> None:
        self.objects = None

    def _table(self, table: Table) -> None:
        from plansafe.llm.loose.tables import read_table  # noqa: PLC0415 - few texts have one

        steps: list[Step] = []
        for found in read_table(table, self.lines, self.prose):
            if isinstance(found.found, Refused):
                self.report.refuse(found.found, found.start, found.end)
            else:
                steps.append(Step(found.found, self.report.place(found.start, found.end), None))
        if steps:
            self.outline.pending.append(Plan(steps, self.outline.take_lead(), {"table"}))
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
            found = Found(outcome, start, end, decimal(step.duration))
            steps.append(Step(found, self.report.place(start, end), decimal(step.time)))
        if steps:
            self.outline.pending.append(Plan(steps, self.outline.take_lead(), set()))
