"""The lines of a loose text: the steps, the lists that they make, and the other text."""

from __future__ import annotations

import re

from plansafe.grammar.codes import SC
from plansafe.llm.loose.candidates import Item, Plan, Run, Step
from plansafe.llm.loose.elements import Line
from plansafe.llm.loose.lines import HEAD, Lines, Reading
from plansafe.llm.loose.names import Refused, Tolerance, short
from plansafe.llm.loose.prose import OPENERS, Prose, connective
from plansafe.llm.loose.report import REMOVED, SKIPPED, Report
from plansafe.llm.structured.marks import struck_beginning

_STEP_HEADING = re.compile(r"[ \t]*step[ _#-]{0,2}(\d{1,4})\b", re.I)
_WRAPPER = re.compile(r"\(?:?(?:plan|steps|actions|sequence)?\)*[.;,]?", re.I)
_ODD_MARK = re.compile(r"[ \t]*\d{1,4}(?:[a-z]|(?:\.\d{1,3})+)[.):]?[ \t]")
_STEP_LIKE = re.compile(r"[\w.-]*\((?:[^().!?\s]{1,60}(?:\s{1,8}|(?=\)))){0,8}\)[.,;]?")
_IMPORT = re.compile(r"(?:from [\w.]{1,60} )?import [\w*, .]{1,60}\Z")


class Outline:
    """The lines of a text as lists and runs of steps, in its order, and the prose between them."""

    def __init__(self, report: Report, lines: Lines, prose: Prose) -> None:
        self.report = report
        self.lines = lines
        self.prose = prose
        self.pending: list[Run | Plan] = []  # in order of the text
        self.run: Run | None = None
        self.lead = ""
        self.unsaid: list[Line] = []  # prose
        self.mentions: list[tuple[Line, Reading]] = []
        self.struck_in_part = False
        self.before: Line | None = None  # the line directly before, if not empty

    def line(self, line: Line, fenced: bool) -> None:
        """Add a line."""
        if line.kind == "blank":
            self.before = None
            return
        if line.removed:
            self._removed(line)
            return
        if line.kind in ("comment", "rule"):
            if line.kind == "comment":
                self.say(line)
            elif self.run is not None:
                self.run.open = False
            return
        heading = _STEP_HEADING.match(line.text) if line.kind == "heading" else None
        if heading:
            line = line._replace(
                kind="line", marked=True, number=int(heading[1]), text=line.text[heading.end() :].lstrip(" .:-")
            )
        reading = self.lines.read(line.text) if line.kind == "line" else Reading("prose")
        if line.kind == "heading" and self.lines.read(line.text).kind == "steps":
            self.report.refuse(
                Refused(SC.NOT_UNDERSTOOD, "a heading reads like a step", "write it as a step"),
                line.start,
                line.start + len(line.text),
            )
        if fenced and reading.kind != "steps" and self._in_fence(line, reading):
            return
        if line.marked:
            self._item(line, reading)
        elif reading.kind == "steps":
            self._plain(line, reading)
        else:
            self._outside(line, reading)
        self.before = line

    def _removed(self, line: Line) -> None:
        """A line that is struck out; its number counts. Words after the struck step are a remark."""
        struck = struck_beginning(line.text)
        reading = self.lines.read(line.text[struck:])
        if reading.kind != "prose" or reading.refused is not None:
            self.struck_in_part = True
            refused = Refused(SC.MORE_THAN_A_SEQUENCE, "part of the text is struck out", "leave out what is struck out")
            self.report.refuse(refused, line.start, line.start + len(line.text))
            return
        self.report.note(REMOVED, self.report.place(line.start, line.start + len(line.text)))
        run = self._numbered_run()
        if line.number is not None and run is not None and line.number == run.last + 1:
            run.last = line.number
        elif line.number == 1:
            self.run = Run("number", self.take_lead(), line.indent)
            self.run.last = 1
            self.pending.append(self.run)

    def _in_fence(self, line: Line, reading: Reading) -> bool:
        """Handle a line of a fenced block that is not a step; only wrapping is allowed. True if it was handled."""
        if _WRAPPER.fullmatch("".join(line.text.split())) or _IMPORT.match(line.text) or line.text in ('"""', "'''"):
            return True
        if HEAD.fullmatch(line.text):
            return False
        if line.marked and reading.kind == "prose" and not reading.refused:
            return False  # an item whose steps may follow
        refused = reading.refused
        help = "a fenced block should hold the plan alone"
        refused = refused or Refused(
            SC.NOT_UNDERSTOOD, f"`{short(line.text)}` in a fenced block is not understood", help
        )
        self.report.refuse(refused, line.start + reading.start, line.start + (reading.end or len(line.text)))
        return True

    def _item(self, line: Line, reading: Reading) -> None:
        """A numbered or bulleted line."""
        run = self.run
        number = line.number
        steps = self._steps(line, reading) if reading.kind == "steps" else []
        if number is None:
            if run is not None and run.items and self._belongs(run, line, steps):
                return
            if run is None or run.kind != "bullet" or not run.open:
                run = self._open_run("bullet", line)
        else:
            numbered = self._numbered_run()
            if numbered is not None and number == numbered.last + 1 and not numbered.same:
                run = numbered
            elif numbered is not None and number == numbered.last and self._goes_on(numbered):
                run = numbered
                run.same = True
            elif number in (0, 1):
                run = self._open_run("number", line)
            else:
                expected = numbered.last + 1 if numbered is not None else 1
                message = f"the step numbered {number} stands where number {expected} should"
                self.report.refuse(
                    Refused(SC.NUMBERS_OUT_OF_ORDER, message, "number the steps from 1"),
                    line.start,
                    line.start + len(line.text),
                )
                return
            run.last = number
            self.run = run
        item = Item(line, reading)
        item.steps = steps
        run.items.append(item)
        run.manners |= {reading.manner} if steps else set()
        run.open = True

    def _plain(self, line: Line, reading: Reading) -> None:
        """A line of steps without a mark."""
        steps = self._steps(line, reading)
        run = self.run
        if run is not None and run.items:
            if run.kind != "plain" and (run.open or (run.kind == "number" and not run.items[-1].steps)):
                item = run.items[-1]
                item.beneath |= line.indent > item.line.indent
                further = item.reading.kind == "steps" and connective(line.text.lstrip())  # "Finally, .."
                if not further and self._below(run, item, steps, reading):
                    run.open = True
                    return
            elif run.kind == "plain" and run.open:
                run.items[-1].steps += steps
                run.manners.add(reading.manner)
                return
        if self.before is not None and not self._introduces(self.before, reading):
            refused = Refused(
                SC.NOT_UNDERSTOOD,
                "the line before this step may be one too",
                "end it with a colon, or leave a line empty",
            )
            self.report.refuse(refused, line.start, line.start + len(line.text))
        item = Item(line, reading)
        item.steps = steps
        run = self._open_run("plain", line)
        run.items.append(item)
        run.manners.add(reading.manner)

    def _outside(self, line: Line, reading: Reading) -> None:
        """A line that is neither a step nor an item."""
        text = line.text
        if reading.kind == "mention":
            self.mentions.append((line, reading))
        run, apart = self.run, False
        if _ODD_MARK.match(text):
            self.report.refuse(
                Refused(SC.NUMBERS_OUT_OF_ORDER, "this numbering is not understood", "number the steps from 1"),
                line.start,
                line.start + len(text),
            )
            return
        if run is not None and run.open and self.before is not None and not leads(line):
            apart = run.kind != "plain" and line.indent > run.indent  # a paragraph of the item
            if not apart and ("words" in run.manners or text.rstrip()[-1:] not in (".", "!", "?")):
                refused = reading.refused or self.prose.cut(text)
                refused = refused or Refused(SC.NOT_UNDERSTOOD, f"`{short(text)}` may be a step that is not understood")
                self.report.refuse(refused, line.start, line.start + len(text))
                return
            if apart and reading.kind == "prose":
                self.say(line)
                return
        if run is not None:
            run.open = False
        if reading.refused and _STEP_LIKE.fullmatch(text.strip()):
            self.report.refuse(reading.refused, line.start, line.start + len(text))
            return
        if apart and reading.kind == "attempt" and self._describes(run, text):
            self.say(line)
            return
        if reading.kind == "attempt" and reading.refused:
            words = text.split()
            if len(words) <= 8 or reading.refused.code in (SC.TEXT_CUT_OFF, SC.MORE_THAN_A_SEQUENCE) or "(" in text:
                self.report.refuse(reading.refused, line.start + reading.start, line.start + (reading.end or len(text)))
                return
        self.lead = text
        self.say(line)

    def _describes(self, run: Run | None, text: str) -> bool:
        """Whether a paragraph of an item names the action of one of its steps."""
        steps = run.items[-1].steps if run is not None and run.items else []
        return any([self.prose.names_action(text, step.found.step.action.name) for step in steps])

    def _steps(self, line: Line, reading: Reading) -> list[Step]:
        steps = []
        for step_found in reading.found:
            time = line.time
            if time is None and step_found.duration is not None and line.number is not None:
                time = str(line.number)
            steps.append(
                Step(step_found, self.report.place(line.start + step_found.start, line.start + step_found.end), time)
            )
        if reading.skipped:
            self.report.note(SKIPPED, self.report.place(line.start, line.start + len(line.text)))
        return steps

    def _open_run(self, kind: str, line: Line) -> Run:
        self.run = Run(kind, self.take_lead(), line.indent)
        self.pending.append(self.run)
        return self.run

    def _goes_on(self, run: Run) -> bool:
        """Whether an item with the number of the one directly before it belongs to the same list."""
        return self.before is not None and run.open and (run.same or len(run.items) == 1)

    def _numbered_run(self) -> Run | None:
        """The last numbered list; text indented below its items does not end it."""
        for run in reversed(self.pending[-3:]):
            if isinstance(run, Run) and run.kind == "number":
                return run
        return None

    def _belongs(self, run: Run, line: Line, steps: list[Step]) -> bool:
        """A bullet below an item of a list: its steps, or words about it."""
        item = run.items[-1]
        deeper = line.indent > item.line.indent
        if run.kind in ("bullet", "plain") and not deeper:
            return False
        if run.kind == "number" and not deeper and not (run.open and not item.steps and steps):
            return False
        reading = self.lines.read(line.text)
        if steps:
            item.beneath = True
            return self._below(run, item, steps, reading)
        if reading.kind == "attempt" and reading.refused:
            self.report.refuse(reading.refused, line.start, line.start + len(line.text))
        elif reading.kind == "mention":
            self.mentions.append((line, reading))
        self.say(line)
        return True

    def _below(self, run: Run, item: Item, steps: list[Step], reading: Reading) -> bool:
        """Steps below an item: its own, or those it has already, once more. Whether they are either."""
        if item.reading.kind != "steps":
            item.steps += steps
            run.manners.add(reading.manner)
            return True
        if [step.found.step.text for step in steps] != [step.found.step.text for step in item.steps]:
            return False
        self.report.note(
            Tolerance(SC.PLAN_REPEATED, "a step stands in the text more than once, in two notations"), steps[0].span
        )
        return True

    def _introduces(self, line: Line, reading: Reading) -> bool:
        """Whether the line directly before a step is none itself."""
        if leads(line):
            return True
        words = re.findall(r"[\w']+", line.text.lower())
        ends = line.text.rstrip()[-1:] in (".", "!", "?")
        return reading.manner != "words" and (ends or not words or words[0].partition("'")[0] in OPENERS)

    def say(self, line: Line) -> None:
        """Keep prose, to be noted once the plan is known."""
        if line.text.strip():
            self.unsaid.append(line)

    def take_lead(self) -> str:
        """The text before a plan that begins here."""
        lead, self.lead = self.lead, ""
        return lead


def leads(line: Line) -> bool:
    """Whether a line announces the text below it."""
    return line.kind == "heading" or line.text.rstrip().endswith(":") or bool(HEAD.fullmatch(line.text))
