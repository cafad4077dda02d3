"""Which candidate is the plan: one, or several that agree, without text that objects."""

from __future__ import annotations

import re

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Label, Span
from plansafe.llm.loose.candidates import Item, Plan, Run
from plansafe.llm.loose.elements import Line
from plansafe.llm.loose.names import Refused, Tolerance, short
from plansafe.llm.loose.outline import Outline, leads
from plansafe.llm.loose.prose import OPENERS, connective
from plansafe.llm.loose.report import COMMENTS, SKIPPED
from plansafe.llm.loose.strict import timed
from plansafe.llm.loose.vocabulary import vocabulary, vocabulary_verbs
from plansafe.llm.structured.tree import Format, Mark

_EXPLAINS = re.compile(
    r"\b(?:explanation|explained|reasoning|rationale|notes?|why|breakdown|summary|justification)\b", re.I
)
DOUBTFUL = re.compile(
    r"\b(?:draft|(?:initial|first|previous|earlier|original|old) (?:attempt|plan|version|try)|wrong|incorrect|invalid|"
    r"bad|unsafe|already|executed|history|forbidden|prohibited|illegal|removed|skipped|unnecessary|"
    r"(?:available|allowed|possible|legal|applicable|executable) (?:actions?|steps?|moves?|operators?)|example|"
    r"sample|template|do not|don't|never|avoid|instead|mistaken|failed|alternative|option|attempt|"
    r"not (?:valid|safe|correct|work|executable|recommended|the plan|like this))\b",
    re.I,
)


class Decision:
    """Which of the candidates of an outline is the plan, and what the rest of the text says about it."""

    def __init__(self, outline: Outline) -> None:
        self.outline = outline
        self.report = outline.report
        self.prose = outline.prose
        self.repeated: list[Span] = []  # steps of the plan that the text gives again

    def plan(self) -> Plan | None:
        """The plan, once the whole text is read. Where it was refused, the report says so."""
        plans: list[Plan] = []
        unread: list[Run] = []
        for candidate in self.outline.pending:
            plan = self.candidate(candidate) if isinstance(candidate, Run) else candidate
            if plan is not None:
                plans.append(plan)
            elif isinstance(candidate, Run):
                unread.append(candidate)
        plan = self._agreed(plans) if plans else None
        for run in unread:
            self._list(run, plan)
        plain = any([run.kind == "plain" for run in self.outline.pending if isinstance(run, Run)])
        wordy = plan is not None and plain and "words" in plan.manners
        for line in self.outline.unsaid:
            self._judge(line, plan, wordy)
        written = {step.found.step.text for step in plan.steps} if plan else set()
        for line, reading in self.outline.mentions:
            refused = reading.refused
            if plan is None or any([step_found.step.text not in written for step_found in reading.found]):
                help = "write the plan as lines of their own"
                refused = refused or Refused(
                    SC.NOT_UNDERSTOOD, "a sentence mentions a step that is not in the plan", help
                )
            if refused:
                self.report.refuse(refused, line.start + reading.start, line.start + reading.end)
        bare = [step for step in plan.steps if step.time is None] if plan else []
        if plan and 0 < len(bare) < len(plan.steps):
            self.report.refuse_at(Refused(SC.NOT_UNDERSTOOD, "either all steps have a time or none"), bare[0].span)
        elif plan and any([step.found.duration is not None for step in bare]):
            self.report.refuse_at(Refused(SC.NOT_UNDERSTOOD, "a step with a duration has no time"), plan.steps[0].span)
        return plan

    def _agreed(self, plans: list[Plan]) -> Plan:
        """The one plan that all candidates are."""
        first = plans[0]
        written = [[timed(s.found.step.text, s.time, s.found.duration) for s in plan.steps] for plan in plans]
        for candidate_text, plan in zip(written[1:], plans[1:], strict=True):
            if candidate_text == written[0]:
                self.repeated += [step.span for step in plan.steps]
                self.report.note(
                    Tolerance(SC.PLAN_REPEATED, "the plan stands in the text more than once"), plan.steps[0].span
                )
                continue
            message = "steps stand in two places, and they are not the same plan"
            refused = Refused(SC.PLANS_DIFFER, message, "give the final plan alone")
            other_label = Label(self.report.source.name, first.steps[0].span, "another here", False)
            self.report.refuse_at(refused, plan.steps[0].span, "one plan begins here", other_label)
            break
        if all([_is_doubted(plan) for plan in plans]):
            message = f"the text does not stand by this plan: `{short(first.lead)}`"
            refused = Refused(SC.PLANS_DIFFER, message, "give the final plan alone")
            self.report.refuse_at(refused, first.steps[0].span, "this plan")
        return first

    def _list(self, run: Run, plan: Plan | None) -> None:
        """A list without steps: explanations of a plan, or a plan that is not understood."""
        explains = bool(_EXPLAINS.search(run.lead))
        aligned = (
            plan is not None
            and len(run.items) == len(plan.steps)
            and all(
                [
                    self.prose.names_action(item.line.text, step.found.step.action.name)
                    for item, step in zip(run.items, plan.steps, strict=True)
                ]
            )
        )
        for item in run.items:
            reading = item.reading
            start, end = item.line.start, item.line.start + max(1, len(item.line.text))
            if reading.kind == "mention":
                self.outline.mentions.append((item.line, reading))
            says_what_to_do = reading.kind == "attempt" or self._is_imperative(item.line)
            if not (plan is not None and (explains or aligned or not says_what_to_do)) and (
                run.kind == "number" or reading.kind == "attempt"
            ):
                self.report.refuse(reading.refused or self._unread(item.line), start, end)
                continue
            if not item.line.text.strip():
                self.report.refuse(self._unread(item.line), start, end)
            self.outline.say(item.line)

    def _is_imperative(self, line: Line) -> bool:
        """Whether a line begins with the verb of an action, in the imperative."""
        words = re.findall(r"[a-z]+", line.text[len(connective(line.text)) :].lower())
        return bool(words) and words[0] in self.prose.names.verbs | vocabulary_verbs()

    def _judge(self, line: Line, plan: Plan | None, wordy: bool) -> None:
        start, end = line.start, line.start + len(line.text)
        refused = self.prose.objection(line.text)
        if refused is None and wordy and line.kind == "line" and not leads(line):
            words = re.findall(r"[\w']+", line.text.lower())
            if words and words[0].partition("'")[0] not in OPENERS:
                message = f"`{short(line.text)}` may be a step that is not understood"
                refused = Refused(SC.NOT_UNDERSTOOD, message, "begin it with other words, or leave it out")
        if refused:
            self.report.refuse(refused, start, end)
        elif plan is not None:
            self.report.note(SKIPPED if line.kind != "comment" else COMMENTS, self.report.place(start, end))

    def candidate(self, run: Run) -> Plan | None:
        """A run of steps as a candidate; one with steps and items that are none is refused."""
        with_steps = [item for item in run.items if item.steps]
        if not with_steps:
            return None
        for item in run.items:
            reading = item.reading
            if not item.steps:
                start = item.line.start
                why = reading.refused or self._unread(item.line)
                self.report.refuse(why, start, start + max(1, len(item.line.text)))
            elif reading.kind != "steps":
                if refused := self._undescribed(run, item):
                    self.report.refuse(refused, item.line.start, item.line.start + len(item.line.text))
                self.outline.say(item.line)
        self._boxes(run)
        steps = [step for item in with_steps for step in item.steps]
        manners = run.manners
        if len(manners) > 1:
            refused = Refused(
                SC.NOT_UNDERSTOOD, "steps in two notations: one may repeat the other", "write each step once"
            )
            self.report.refuse(refused, with_steps[0].line.start, with_steps[0].line.start + 1)
        return Plan(steps, run.lead, manners, False, run.kind != "plain")

    def _boxes(self, run: Run) -> None:
        """Refuse a list with some items ticked or crossed: done, chosen, or left out?"""
        boxes = {item.line.box for item in run.items}
        if Mark.FAILED in boxes or (Mark.TICKED in boxes and len(boxes) > 1):
            item = next(item for item in run.items if item.line.box in (Mark.FAILED, Mark.TICKED))
            message = "some items of this list are ticked or crossed, and others are not"
            refused = Refused(SC.AMBIGUOUS_NAME, message, "say which steps are to be done")
            self.report.refuse(refused, item.line.start, item.line.start + max(1, len(item.line.text)))

    def _undescribed(self, run: Run, item: Item) -> Refused | None:
        """Why words cannot be a description of the steps below them."""
        reading = item.reading
        if reading.kind == "attempt" and reading.refused:
            names_actions = [self.prose.names_action(item.line.text, s.found.step.action.name) for s in item.steps]
            if reading.refused.code not in (SC.STEP_ARITY, SC.STEP_OBJECT) or not any(names_actions):
                return reading.refused
        alone = len(run.items) == 1 or any([sibling.reading.kind == "steps" for sibling in run.items])
        return self._unread(item.line) if alone and not item.beneath else None

    def _unread(self, line: Line) -> Refused:
        """The reason why an item is not a step."""
        if not line.text.strip():
            return Refused(SC.TEXT_CUT_OFF, "an item without text", "ask for the plan in full")
        message = f"`{short(line.text)}` may be a step that is not understood"
        return Refused(SC.NOT_UNDERSTOOD, message, "write it as `(action object ..)`")


def _is_doubted(plan: Plan) -> bool:
    """Whether the words before a plan say that it is not to be done.

    Not where they are a whole sentence before a table or the like, of words that cap the verdict (``remarks``).
    """
    lead = re.sub(r"</?[a-z]\w*>", "", plan.lead.rsplit(". ", 1)[-1]).strip(" \t\n*_")
    match = DOUBTFUL.search(lead)
    if match is None:
        return False
    known_words = vocabulary().words
    is_remark = lead.endswith((".", "!")) and not all([word in known_words for word in match.group().lower().split()])
    return not (is_remark and plan.manners <= set(map(str, Format)))
