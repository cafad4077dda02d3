"""Plans as language models write them, read against a task: a plain plan with every liberty noted, or a refusal.

``plansafe.llm.loose.wrapping`` takes the text apart; here its lines, fences, tables and data become candidate plans.
One candidate, or several that agree, is the plan. Whatever may be a step and is not understood is a refusal: what a
text does not say for certain is never guessed (docs/loose-text.md).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.plan_text import PlanText, is_definition, read_plan
from plansafe.grammar.sexpr import is_foreign
from plansafe.grammar.source import Source
from plansafe.llm.loose.lines import HEAD, Found, Lines, Reading, manner_note
from plansafe.llm.loose.names import Names, Refused, Tolerance, short
from plansafe.llm.loose.prose import OPENERS, Prose, connective
from plansafe.llm.loose.values import Values
from plansafe.llm.loose.wrapping import LIMIT, Block, Datum, Form, Line, LooseText, Table, read_text
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.steps import IllFormed

MAX_REFUSALS = 20
MAX_NOTES = 200

_EXPLAINS = re.compile(
    r"\b(?:explanation|explained|reasoning|rationale|notes?|why|breakdown|summary|justification)\b", re.I
)
_DOUBTFUL = re.compile(
    r"\b(?:draft|(?:initial|first|previous|earlier|original|old) (?:attempt|plan|version|try)|wrong|incorrect|invalid|"
    r"bad|unsafe|already|executed|history|forbidden|prohibited|illegal|removed|skipped|unnecessary|"
    r"(?:available|allowed|possible|legal|applicable|executable) (?:actions?|steps?|moves?|operators?)|example|"
    r"sample|template|do not|don't|never|avoid|instead|mistaken|failed|alternative|option|attempt|"
    r"not (?:valid|safe|correct|work|executable|recommended|the plan|like this))\b",
    re.I,
)
_STEP_HEADING = re.compile(r"[ \t]*step[ _#-]{0,2}(\d{1,4})\b", re.I)
_WRAPPER = re.compile(r"\(?:?(?:plan|steps|actions|sequence)?\)*[.;,]?", re.I)
_ODD_MARK = re.compile(r"[ \t]*\d{1,4}(?:[a-z]|(?:\.\d{1,3})+)[.):]?[ \t]")
_STEP_LIKE = re.compile(r"[\w.-]*\((?:[^().!?\s]{1,60}(?:\s{1,8}|(?=\)))){0,8}\)[.,;]?")
_IMPORT = re.compile(r"(?:from [\w.]{1,60} )?import [\w*, .]{1,60}\Z")
_FLAWS = {"cut": "SC741", "deep": "SC747", "struck": "SC745", "data": "SC746"}
_FLAW_HELP = {"cut": "ask for the plan in full", "struck": "leave out what is struck out"}


class LooseStep(NamedTuple):
    """A step as PDDL, its place in the original text, and its line there."""

    text: str
    span: Span
    line: int


class LooseResult(NamedTuple):
    """What a loose text says. ``plan`` is ``None`` where it was refused; ``diagnostics`` then say why.

    ``notes`` report each liberty taken, in the order of their codes.
    """

    plan: Source | None
    steps: tuple[LooseStep, ...]
    notes: tuple[Diagnostic, ...]
    diagnostics: tuple[Diagnostic, ...]


def read_loose(text: Source, checker: Checker) -> LooseResult:
    """Read a plan that a language model wrote; names are resolved against the checker's task.

    A user's mistake is a diagnostic, never an exception. Time and memory are linear in the text, which has at most a
    million characters.
    """
    if checker.engine is None or checker.elaborated is None:
        return LooseResult(None, (), (), checker.diagnostics)
    strict = _strict(text, checker)
    if strict is not None:
        return strict
    if len(text.text) > LIMIT:
        message = f"a loose text may have {LIMIT:,} characters; this has {len(text.text):,}"
        return _alone(text, "SC747", message, "cut the text, or write a plain plan")
    if is_foreign(text.text):
        return _alone(text, "SC005", "bytes that are not UTF-8", "save the text as UTF-8")
    names = Names(checker.engine.task, checker.elaborated.symbols.types.ancestors)
    return _Reader(text, names).read()


def _alone(text: Source, code: str, message: str, help: str) -> LooseResult:
    label = Label(text.name, Span(0, min(1, len(text.text))), "this text")
    return LooseResult(None, (), (), (Diagnostic(code, message, (label,), help=help),))


def _name(text: Source) -> str:
    return f"{text.name} (as read)"


def _strict(text: Source, checker: Checker) -> LooseResult | None:
    """A text that already is a plain plan, and whose names the task has; ``None`` for any other."""
    assert checker.engine is not None
    if not text.text.lstrip().startswith(("(", ";")) and not text.text.lstrip()[:1].isdigit():
        return None
    if any(["(" in comment for comment in re.findall(r";[^\n]*", text.text)]):
        return None  # a step that is commented out, or follows a `;` meant to separate
    read = read_plan(text)
    if read.diagnostics or not read.steps or len({step.time is None for step in read.steps}) > 1:
        return None
    for step in read.steps:
        taken = checker.engine.resolver.step(step.tokens)
        known = all([token in checker.engine.task.object_index for token in step.tokens[1:]])
        if isinstance(taken, IllFormed) and not (taken.code == "SC404" and known):
            return None
    steps = []
    shown = []
    for step in read.steps:
        written = f"({' '.join(step.tokens)})"
        steps.append(LooseStep(written, step.span, text.position(step.span.start)[0]))
        shown.append(_timed(written, _decimal(step.time), _decimal(step.duration)))
    if _leaves_open(read):
        return LooseResult(Source(_name(text), text.text), tuple(steps), (), ())
    return LooseResult(Source(_name(text), "\n".join(shown) + "\n"), tuple(steps), (), ())


def _leaves_open(read: PlanText) -> bool:
    """Whether a plan says more than a list of steps can: an order that is partial, or durations within tolerances."""
    return read.ordering is not None or any([step.tolerance for step in read.steps])


def _decimal(value: object) -> str | None:
    """A time as a decimal; plan texts hold nothing else, so every one ends."""
    if value is None or isinstance(value, int):
        return None if value is None else str(value)
    from decimal import Decimal, localcontext  # noqa: PLC0415 - for timed plans alone

    with localcontext() as context:
        context.prec = 40_000
        return format(Decimal(value.numerator) / Decimal(value.denominator), "f")  # type: ignore[attr-defined]


def _timed(step: str, time: str | None, duration: str | None) -> str:
    return (f"{time}: " if time is not None else "") + step + (f" [{duration}]" if duration is not None else "")


class _Step(NamedTuple):
    """A step with its place in the original text."""

    found: Found
    span: Span
    time: str | None


class _Item:
    """An item of a list: its steps, or those below it (``beneath``: as indentation, a colon or a fence show)."""

    def __init__(self, line: Line, reading: Reading) -> None:
        self.line = line
        self.reading = reading
        self.beneath = line.text.rstrip().endswith(":")
        self.steps: list[_Step] = []


class _Run:
    """A list of items, or lines of steps that follow one another."""

    def __init__(self, kind: str, lead: str, indent: int) -> None:
        self.kind = kind
        self.lead = lead
        self.indent = indent
        self.items: list[_Item] = []
        self.last = -1
        self.manners: set[str] = set()
        self.same = False  # every item has the same number, as Markdown allows
        self.open = True  # nothing but empty lines since the last item


class _Plan(NamedTuple):
    """A candidate plan. ``lead`` is what stands before it; ``manners`` are the notations of its steps."""

    steps: list[_Step]
    lead: str
    manners: set[str]
    fenced: bool = False
    numbered: bool = False


class _Reader:
    """The state of reading one text."""

    def __init__(self, source: Source, names: Names) -> None:
        self.source = source
        self.names = names
        self.prose = Prose(names)
        self.lines = Lines(names, self.prose)
        self.loose: LooseText = read_text(source.text)
        self.refusals: list[Diagnostic] = []
        self.notes: dict[tuple[str, str], list[Diagnostic]] = {}
        self.plans: list[_Plan] = []
        self.pending: list[_Run | _Plan] = []  # in order of the text
        self.run: _Run | None = None
        self.lead = ""
        self.lead_line: Line | None = None
        self.headings: set[int] = set()  # where lines begin that stand directly before steps
        self.unsaid: list[tuple[Line, bool]] = []  # prose, and whether its imperatives matter
        self.mentions: list[tuple[Line, Reading]] = []
        self.before: Line | None = None  # the line directly before, if not empty
        self.objects: list[_Step] | None = None  # of a file with one object a line

    # -- reporting ----------------------------------------------------------------------------------------------------

    def refuse(self, refused: Refused, start: int, end: int) -> None:
        if len(self.refusals) < MAX_REFUSALS:
            label = Label(self.source.name, self.loose.cleaned.origin(start, max(end, start + 1)), "here")
            self.refusals.append(Diagnostic(refused.code, refused.message, (label,), help=refused.help))

    def note(self, tolerance: Tolerance, span: Span) -> None:
        known = self.notes.setdefault((tolerance.code, tolerance.message), [])
        label = Label(self.source.name, span, "here")
        known.append(
            Diagnostic(tolerance.code, tolerance.message, (label,), help=tolerance.help, severity=Severity.NOTE)
        )

    def _place(self, start: int, end: int) -> Span:
        return self.loose.cleaned.origin(start, max(end, start + 1))

    # -- the whole ----------------------------------------------------------------------------------------------------

    def read(self) -> LooseResult:
        for flaw in self.loose.flaws:
            self.refuse(Refused(_FLAWS[flaw.kind], flaw.message, _FLAW_HELP.get(flaw.kind)), flaw.start, flaw.end)
        for block in self.loose.blocks:
            if block.fenced:
                self._fence(block)
            else:
                self._elements(block)
        plan = self._decide()
        if plan is None or self.refusals:
            return LooseResult(None, (), self._notes(), self._why())
        return self._result(plan)

    def _why(self) -> tuple[Diagnostic, ...]:
        if self.refusals:
            return tuple(self.refusals)
        label = Label(self.source.name, Span(0, min(1, len(self.source.text))), "in this text")
        message = "there is no step in this text" if self.source.text.strip() else "the text is empty"
        return (Diagnostic("SC740", message, (label,), help="write each step as `(action object ..)`"),)

    def _notes(self) -> tuple[Diagnostic, ...]:
        notes = []
        for _, found in sorted(self.notes.items(), key=lambda item: (item[0][0], item[1][0].labels[0].span)):
            more = (f"and in {len(found) - 1} more places",) if len(found) > 2 else ("and in one more place",)
            notes.append(found[0]._replace(notes=more if len(found) > 1 else ()))
        return tuple(notes[:MAX_NOTES])

    def _result(self, plan: _Plan) -> LooseResult:
        cleaned = self.loose.cleaned
        for places, what in (
            (cleaned.invisible, "invisible characters were left out"),
            (cleaned.replaced, _QUOTES_READ),
        ):
            for place in places[:3]:
                self.note(Tolerance("SC738", what), Span(place, place + 1))
        for span in self.loose.reasoning:
            self.note(Tolerance("SC731", "the text's reasoning was left out"), self._place(span.start, span.end))
        for manner in sorted(plan.manners):
            said = manner_note(manner)
            if said:
                self.note(said, plan.steps[0].span)
        if plan.fenced:
            self.note(Tolerance("SC732", "the plan was taken out of a fenced block"), plan.steps[0].span)
        if plan.numbered:
            self.note(Tolerance("SC732", "the marks of a list were left out"), plan.steps[0].span)
        steps = []
        shown = []
        for step in plan.steps:
            for tolerance in step.found.step.tolerances:
                self.note(tolerance, step.span)
            written = step.found.step.text
            steps.append(LooseStep(written, step.span, self.source.position(step.span.start)[0]))
            shown.append(_timed(written, step.time, step.found.duration))
        return LooseResult(Source(_name(self.source), "\n".join(shown) + "\n"), tuple(steps), self._notes(), ())

    # -- text between fences ------------------------------------------------------------------------------------------

    def _elements(self, block: Block) -> None:
        for element in block.elements:
            if not isinstance(element, Datum) and not (isinstance(element, Line) and element.kind == "blank"):
                self._end_objects()
            match element:
                case Line():
                    self._line(element, block.fenced)
                case Datum():
                    self._datum(element)
                case Table():
                    self._table(element)
                case Form():
                    self._form(element)
        self._end_objects()

    def _line(self, line: Line, fenced: bool) -> None:
        if line.kind == "blank":
            self.before = None
            return
        if line.kind in ("comment", "rule"):
            if line.kind == "comment":
                self._said(line, False)
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
            self.refuse(
                Refused("SC746", "a heading reads like a step", "write it as a step"),
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

    def _in_fence(self, line: Line, reading: Reading) -> bool:
        """Whether a line of a fenced block that is no step was dealt with: nothing but wrapping may stand there."""
        if _WRAPPER.fullmatch("".join(line.text.split())) or _IMPORT.match(line.text) or line.text in ('"""', "'''"):
            return True
        if HEAD.fullmatch(line.text):
            return False
        if line.marked and reading.kind == "prose" and not reading.refused:
            return False  # an item whose steps may follow
        refused = reading.refused or self.prose.before(line.text)
        help = "a fenced block should hold the plan alone"
        refused = refused or Refused("SC746", f"`{short(line.text)}` in a fenced block is not understood", help)
        self.refuse(refused, line.start + reading.start, line.start + (reading.end or len(line.text)))
        return True

    def _steps(self, line: Line, reading: Reading) -> list[_Step]:
        steps = []
        for found in reading.found:
            time = line.time
            if time is None and found.duration is not None and line.number is not None:
                time = str(line.number)
            steps.append(_Step(found, self._place(line.start + found.start, line.start + found.end), time))
        if reading.skipped:
            self.note(_SKIPPED, self._place(line.start, line.start + len(line.text)))
        return steps

    def _open_run(self, kind: str, line: Line) -> _Run:
        self.run = _Run(kind, self._take_lead(), line.indent)
        self.pending.append(self.run)
        return self.run

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
                self.refuse(
                    Refused("SC749", message, "number the steps from 1"), line.start, line.start + len(line.text)
                )
                return
            run.last = number
            self.run = run
        item = _Item(line, reading)
        item.steps = steps
        run.items.append(item)
        run.manners |= {reading.manner} if steps else set()
        run.open = True

    def _goes_on(self, run: _Run) -> bool:
        """Whether an item with the number of the one directly before it belongs to the same list."""
        return self.before is not None and run.open and (run.same or len(run.items) == 1)

    def _numbered_run(self) -> _Run | None:
        """The last numbered list; what is indented below its items does not end it."""
        for run in reversed(self.pending[-3:]):
            if isinstance(run, _Run) and run.kind == "number":
                return run
        return None

    def _belongs(self, run: _Run, line: Line, steps: list[_Step]) -> bool:
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
            self.refuse(reading.refused, line.start, line.start + len(line.text))
        elif reading.kind == "mention":
            self.mentions.append((line, reading))
        self._said(line, True)
        return True

    def _below(self, run: _Run, item: _Item, steps: list[_Step], reading: Reading) -> bool:
        """Steps below an item: its own, or those it has already, once more. Whether they are either."""
        if item.reading.kind != "steps":
            item.steps += steps
            run.manners.add(reading.manner)
            return True
        if [step.found.step.text for step in steps] != [step.found.step.text for step in item.steps]:
            return False
        self.note(Tolerance("SC737", "a step stands in the text more than once, in two notations"), steps[0].span)
        return True

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
                "SC746", "the line before this step may be one too", "end it with a colon, or leave a line empty"
            )
            self.refuse(refused, line.start, line.start + len(line.text))
        item = _Item(line, reading)
        item.steps = steps
        run = self._open_run("plain", line)
        run.items.append(item)
        run.manners.add(reading.manner)

    def _introduces(self, line: Line, reading: Reading) -> bool:
        """Whether the line directly before a step is none itself."""
        if self._leads(line):
            return True
        words = re.findall(r"[\w']+", line.text.lower())
        ends = line.text.rstrip()[-1:] in (".", "!", "?")
        return reading.manner != "words" and (ends or not words or words[0].partition("'")[0] in OPENERS)

    def _leads(self, line: Line) -> bool:
        return line.kind == "heading" or line.text.rstrip().endswith(":") or bool(HEAD.fullmatch(line.text))

    def _outside(self, line: Line, reading: Reading) -> None:
        """A line that is neither a step nor an item."""
        text = line.text
        if reading.kind == "mention":
            self.mentions.append((line, reading))
        run = self.run
        if _ODD_MARK.match(text):
            self.refuse(
                Refused("SC749", "this numbering is not understood", "number the steps from 1"),
                line.start,
                line.start + len(text),
            )
            return
        if run is not None and run.open and self.before is not None and not self._leads(line):
            apart = run.kind != "plain" and line.indent > run.indent  # a paragraph of the item
            if not apart and ("words" in run.manners or text.rstrip()[-1:] not in (".", "!", "?")):
                refused = reading.refused or self.prose.cut(text)
                refused = refused or Refused("SC746", f"`{short(text)}` may be a step that is not understood")
                self.refuse(refused, line.start, line.start + len(text))
                return
            if apart and reading.kind == "prose":
                self._said(line, True)
                return
        if run is not None:
            run.open = False
        if reading.refused and _STEP_LIKE.fullmatch(text.strip()):
            self.refuse(reading.refused, line.start, line.start + len(text))
            return
        if reading.kind == "attempt" and reading.refused:
            words = text.split()
            if len(words) <= 8 or reading.refused.code in ("SC741", "SC745") or "(" in text:
                self.refuse(reading.refused, line.start + reading.start, line.start + (reading.end or len(text)))
                return
        self.lead = text
        self._said(line, True)
        self.lead_line = line if self._leads(line) else None

    def _said(self, line: Line, imperative: bool) -> None:
        """Keep prose, to be judged once the plan is known."""
        if line.text.strip():
            self.unsaid.append((line, imperative))

    def _take_lead(self) -> str:
        """What stands before a plan that begins here; as its heading it may be an imperative."""
        lead, self.lead = self.lead, ""
        if self.lead_line is not None:
            self.headings.add(self.lead_line.start)
        self.lead_line = None
        return lead

    # -- other elements -----------------------------------------------------------------------------------------------

    def _fence(self, block: Block) -> None:
        """A fenced block: a candidate of its own, or the steps of the item it stands below."""
        outer, self.run = self.run, None
        first = len(self.pending)
        lead, refusals = self._take_lead(), len(self.refusals)
        self.before = None
        self._elements(block)
        runs = self.pending[first:]
        del self.pending[first:]
        self.run = outer
        steps: list[_Step] = []
        manners: set[str] = set()
        for run in runs:
            plan = self._candidate(run) if isinstance(run, _Run) else run
            if plan is not None:
                steps += plan.steps
                manners |= plan.manners
        if not steps:
            empty = not any([not isinstance(e, Line) or e.kind == "line" for e in block.elements])
            only_forms = all(
                [isinstance(e, Form) or (isinstance(e, Line) and e.kind != "line") for e in block.elements]
            )
            if len(self.refusals) == refusals and not empty and not only_forms:
                refused = Refused("SC746", "a fenced block that holds no plan", "leave it out")
                self.refuse(refused, block.start, block.start + 1)
            return
        owner = outer.items[-1] if outer is not None and outer.items and outer.kind != "plain" else None
        if outer is not None and owner is not None and not owner.steps and (outer.open or outer.kind == "number"):
            owner.steps += steps
            owner.beneath = True
            outer.manners |= manners
            return
        if len(runs) > 1:
            refused = Refused("SC743", "steps in two parts of a fenced block", "write the plan without a break")
            self.refuse(refused, block.start, block.start + 1)
        self.lead = ""
        self.pending.append(
            _Plan(steps, lead, manners, True, any([isinstance(r, _Run) and r.kind != "plain" for r in runs]))
        )
        if outer is not None:
            outer.open = False

    def _unread(self, line: Line) -> Refused:
        """Why an item is no step."""
        if not line.text.strip():
            return Refused("SC741", "an item without text", "ask for the plan in full")
        message = f"`{short(line.text)}` may be a step that is not understood"
        return self.prose.before(line.text) or Refused("SC746", message, "write it as `(action object ..)`")

    def _candidate(self, run: _Run) -> _Plan | None:
        """A run of steps as a candidate; one with steps and items that are none is refused."""
        with_steps = [item for item in run.items if item.steps]
        if not with_steps:
            return None
        for item in run.items:
            reading = item.reading
            if not item.steps:
                start = item.line.start
                why = reading.refused or self._unread(item.line)
                self.refuse(why, start, start + max(1, len(item.line.text)))
            elif reading.kind != "steps":
                if refused := self._undescribed(run, item):
                    self.refuse(refused, item.line.start, item.line.start + len(item.line.text))
                self._said(item.line, False)
        steps = [step for item in with_steps for step in item.steps]
        manners = run.manners
        if len(manners) > 1:
            refused = Refused("SC746", "steps in two notations: one may repeat the other", "write each step once")
            self.refuse(refused, with_steps[0].line.start, with_steps[0].line.start + 1)
        return _Plan(steps, run.lead, manners, False, run.kind != "plain")

    def _undescribed(self, run: _Run, item: _Item) -> Refused | None:
        """Why words cannot be a description of the steps below them."""
        reading = item.reading
        if reading.kind == "attempt" and reading.refused:
            named = [self.prose.names_action(item.line.text, s.found.step.action.name) for s in item.steps]
            if reading.refused.code not in ("SC402", "SC403") or not any(named):
                return reading.refused
        alone = len(run.items) == 1 or any([other.reading.kind == "steps" for other in run.items])
        return self._unread(item.line) if alone and not item.beneath else None

    def _datum(self, datum: Datum) -> None:
        values = Values(self.names, self.lines)
        single = values.is_step(datum.value) and not datum.lead
        placed = values.plan(datum.value)
        steps: list[_Step] = []
        for item in placed:
            if isinstance(item.found, Refused):
                self.refuse(item.found, item.start, item.end)
            else:
                steps.append(_Step(item.found, self._place(item.start, item.end), None))
        for span in datum.comments:
            comment = self.loose.cleaned.text[span.start : span.end]
            refused = self.prose.objection(comment, False) or self.prose.behind(comment.lstrip("#/* "))
            if refused:
                self.refuse(refused, span.start, span.end)
            self.note(_COMMENTS, self._place(span.start, span.end))
        for text, start, end in values.said:
            if refused := self.prose.objection(text, False):
                self.refuse(refused, start, end)
        if values.skipped:
            self.note(_SKIPPED, self._place(datum.start, datum.end))
        if not placed and not self.loose.flaws:
            refused = Refused("SC740", "an empty list: a plan without steps is written as such in a plan file")
            self.refuse(refused, datum.start, datum.end)
        if not steps:
            return
        if single:
            if self.objects is None:
                self.objects = []
                self.pending.append(_Plan(self.objects, self._take_lead(), {"data"}))
            self.objects += steps
        else:
            self._end_objects()
            self.pending.append(_Plan(steps, f"{self._take_lead()}\n{datum.lead}", {"data"}))
        if self.run is not None:
            self.run.open = False

    def _end_objects(self) -> None:
        self.objects = None

    def _table(self, table: Table) -> None:
        from plansafe.llm.loose.tables import read_table  # noqa: PLC0415 - few texts have one

        steps: list[_Step] = []
        for found in read_table(table, self.names, self.lines, self.prose):
            if isinstance(found.found, Refused):
                self.refuse(found.found, found.start, found.end)
            else:
                steps.append(_Step(found.found, self._place(found.start, found.end), None))
        if steps:
            self.pending.append(_Plan(steps, self._take_lead(), {"table"}))
        if self.run is not None:
            self.run.open = False

    def _form(self, form: Form) -> None:
        span = self._place(form.start, form.end)
        if form.what in ("domain", "problem"):
            self.note(Tolerance("SC730", f"a {form.what} beside the plan was left out"), span)
            return
        text = self.loose.cleaned.text[form.start : form.end]
        read = read_plan(Source(self.source.name, text))
        if form.what != "plan" or read.diagnostics or not is_definition(text):
            message = read.diagnostics[0].message if read.diagnostics else f"`(define ({form.what} ..` is no plan"
            self.refuse(Refused("SC746", message), form.start, form.end)
            return
        if _leaves_open(read):
            message = "an order or durations that are left open, among other text"
            self.refuse(Refused("SC746", message, "write the plan alone"), form.start, form.end)
            return
        steps = []
        for step in read.steps:
            start, end = form.start + step.span.start, form.start + step.span.end
            outcome = self.names.words(list(step.tokens)) or self.names.unknown_action(step.tokens[0])
            if isinstance(outcome, Refused):
                self.refuse(outcome, start, end)
                continue
            found = Found(outcome, start, end, _decimal(step.duration))
            steps.append(_Step(found, self._place(start, end), _decimal(step.time)))
        if steps:
            self.pending.append(_Plan(steps, self._take_lead(), set()))

    # -- the decision -------------------------------------------------------------------------------------------------

    def _decide(self) -> _Plan | None:
        unread: list[_Run] = []
        for candidate in self.pending:
            plan = self._candidate(candidate) if isinstance(candidate, _Run) else candidate
            if plan is not None:
                self.plans.append(plan)
            elif isinstance(candidate, _Run):
                unread.append(candidate)
        plan = self._agreed()
        for run in unread:
            self._list(run, plan)
        wordy = plan is not None and any([run.kind == "plain" for run in self.pending if isinstance(run, _Run)])
        wordy = wordy and plan is not None and "words" in plan.manners
        for line, imperative in self.unsaid:
            self._judge(line, imperative, plan, wordy)
        written = {step.found.step.text for step in plan.steps} if plan else set()
        for line, reading in self.mentions:
            refused = reading.refused
            if plan is None or any([found.step.text not in written for found in reading.found]):
                help = "write the plan as lines of their own"
                refused = refused or Refused("SC746", "a sentence mentions a step that is not in the plan", help)
            if refused:
                self.refuse(refused, line.start + reading.start, line.start + reading.end)
        if plan is not None and len({step.time is None for step in plan.steps}) > 1:
            bare = next(step for step in plan.steps if step.time is None)
            self.refusals.append(
                Diagnostic(
                    "SC746", "either all steps have a time or none", (Label(self.source.name, bare.span, "here"),)
                )
            )
        elif plan is not None and any([s.time is None and s.found.duration is not None for s in plan.steps]):
            self.refusals.append(
                Diagnostic(
                    "SC746",
                    "a step with a duration has no time",
                    (Label(self.source.name, plan.steps[0].span, "here"),),
                )
            )
        return plan

    def _agreed(self) -> _Plan | None:
        """The one plan that all candidates are."""
        if not self.plans:
            return None
        first = self.plans[0]
        written = [[_timed(s.found.step.text, s.time, s.found.duration) for s in plan.steps] for plan in self.plans]
        for other, plan in zip(written[1:], self.plans[1:], strict=True):
            if other == written[0]:
                self.note(Tolerance("SC737", "the plan stands in the text more than once"), plan.steps[0].span)
                continue
            labels = (
                Label(self.source.name, plan.steps[0].span, "one plan begins here"),
                Label(self.source.name, first.steps[0].span, "another here", False),
            )
            message = "steps stand in two places, and they are not the same plan"
            if len(self.refusals) < MAX_REFUSALS:
                self.refusals.append(Diagnostic("SC743", message, labels, help="give the final plan alone"))
            break
        if all([_DOUBTFUL.search(plan.lead.rsplit(". ", 1)[-1]) for plan in self.plans]):
            label = Label(self.source.name, first.steps[0].span, "this plan")
            message = f"the text does not stand by this plan: `{short(first.lead)}`"
            self.refusals.append(Diagnostic("SC743", message, (label,), help="give the final plan alone"))
        return first

    def _list(self, run: _Run, plan: _Plan | None) -> None:
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
                self.mentions.append((item.line, reading))
            if not (plan is not None and (explains or aligned)) and (run.kind == "number" or reading.kind == "attempt"):
                self.refuse(reading.refused or self._unread(item.line), start, end)
                continue
            if not item.line.text.strip():
                self.refuse(self._unread(item.line), start, end)
            self._said(item.line, run.kind == "bullet" and not explains and not aligned)

    def _judge(self, line: Line, imperative: bool, plan: _Plan | None, wordy: bool) -> None:
        start, end = line.start, line.start + len(line.text)
        refused = self.prose.objection(line.text, imperative and start not in self.headings)
        if refused is None and wordy and line.kind == "line" and not self._leads(line):
            words = re.findall(r"[\w']+", line.text.lower())
            if words and words[0].partition("'")[0] not in OPENERS:
                message = f"`{short(line.text)}` may be a step that is not understood"
                refused = Refused("SC746", message, "begin it with other words, or leave it out")
        if refused:
            self.refuse(refused, start, end)
        elif plan is not None:
            self.note(_SKIPPED if line.kind != "comment" else _COMMENTS, self._place(start, end))


_SKIPPED = Tolerance("SC730", "text beside the plan was left out")
_COMMENTS = Tolerance("SC730", "comments were left out")
_QUOTES_READ = "typographic spaces, quotes or hyphens were read as plain ones"
