"""Text next to a plan: harmless, or a remark that caps the verdict at UNKNOWN (docs/plan-text.md)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.source import Source
from plansafe.llm.loose.candidates import LooseStep
from plansafe.llm.loose.clauses import Context, Place
from plansafe.llm.loose.cleaned import Cleaned
from plansafe.llm.loose.lines import HEAD
from plansafe.llm.loose.names import Names, short
from plansafe.llm.loose.restating import Restating

MAX_REMARKS = 20
MAX_WORK = 1_000_000
"""The maximum number of sentences times steps; further sentences count as not understood."""
MAX_SENTENCE = 1_000
"""Characters of a sentence that is judged; a longer one is not understood."""
_HELP = "pass --accept-remarks if it changes nothing; else ask for the plan alone, or for a structured format"
_MARK = re.compile(
    r"""[ \t>]*(?:\#{1,6}[ \t]+)?(?:[-*\u2022\u2014][ \t]+)?[*_`"]{0,4}(?:
      (?:step|action)[ \t_\#-]{0,2}(?P<step>\d{1,4})[*_`]{0,3}[ \t]*[.:)\u2014-]?
    | \(?(?P<number>\d{1,4})[.):\]]+(?!\d) | \[(?P<square>\d{1,4})\] | \#(?P<hash>\d{1,4})[.:)]?(?=[ \t])
    | (?P<bare>\d{1,4})(?=[ \t]*$|[ \t]+[-\u2014(]) | [a-z]\)(?=[ \t])
    )?[*_`]{0,3}[ \t]*""",
    re.VERBOSE | re.IGNORECASE,
)
_STRUCTURE = re.compile(
    r"""[ \t>]*(?:[`~]{3,}[ \t]*(?:pddl|plan|te?xt|jsonl?|python|py|lisp|plaintext|bash|sh|markdown|md|xml
      |ya?ml|csv|tsv|html|latex|tex|diff|tool_calls?|output|actions?)?
    | \(\s*(?:define\s*\(\s*plan\s+[\w-]+\s*\))?\s*(?::?(?:plan|steps|actions|sequence))?[()\[\s]*
    | (?:from [\w.]{1,60} )?import [\w*, .]{1,60}
    | diff\ --git\ .{1,200} | (?:-{3}|\+{3})\ [ab]/\S{1,200} | @@\ -[\d,]{1,20}\ \+[\d,]{1,20}\ @@
    )[ \t]*""",
    re.VERBOSE | re.IGNORECASE,
)
_TAG = re.compile(
    r"</?(?:plan|answer|final|final_answer|output|solution|response|result|steps|actions|action_sequence|think|thinking"
    r"|reasoning|scratchpad|reflection|analysis|thought|s|br)>|<\|[a-z_]{1,30}\|>",
    re.IGNORECASE,
)
_MARKS_ONLY = re.compile(r"(?![^\n]*\.\.)[\s()+\[\]{}.,;:|*_`\"'>#=/!\u2014\u2022\u2192\\-]*")
_TIMES = re.compile(r"\s*\d{1,9}(?:\.\d{1,9})?\s*:\s*")
_DURATION = re.compile(r"^\s*\[\s*(?:D:)?\d{1,9}(?:\.\d{1,9})?\s*\]")
_CONNECTIVE = re.compile(
    r"\s*(?:(?:->|=>|\u2192|[,;.])\s*)*(?:and\s+)?(?P<word>then|next|after that|afterwards|and|subsequently|first|"
    r"firstly|finally|lastly)?\b\s*[,:]?\s*(?:->|\u2192)?\s*",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"(?:steps?|actions?|commands?|objects?|arguments?|args|parameters?|explanation|reason|why|purpose|"
    r"description|details?|effects?|results?|notes?|comments?|goal)\s*:?",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?;])[\"')*_]*\s+|,? and (?=(?:please )?(?:let me know|feel free)\b)", re.IGNORECASE)
_NAMES_A_PLAN = re.compile(
    r"\d|\b(?:plan|answer|solution|result|output|sequence|steps|actions|needed|required)\b", re.IGNORECASE
)
_FINAL = re.compile(r"(?:the|my|our) final (?:plan|answer|sequence|solution) is:?", re.IGNORECASE)
_CHEERFUL = re.compile(  # faces, food, kitchen things, books, charts: nothing that is crossed out, warns or points
    "[\U0001f600-\U0001f60e\U0001f642\U0001f917\U0001f44b\U0001f44d\U0001f44f\U0001f64c\U0001f389\u2728\u263a\U0001f916\U0001f3e0"
    "\U0001f32d-\U0001f37f\U0001f950-\U0001f96f\U0001f9c0-\U0001f9cb\u2615\U0001f4cb\U0001f4dd\U0001f4a1\U0001f3af\U0001f680\U0001f31f\u2b50"
    "\U0001f9e0\U0001f9fe\U0001f9d2\U0001f3c1\U0001f6e1\U0001f321\U0001f468\U0001f469\U0001f499-\U0001f49c\u2764\U0001f539\U0001f538\U0001f4a7"
    "\U0001f4ca\U0001f4cc\U0001f4d6\U0001f50d\u200d\ufe0f]"
)


class _Paragraph(NamedTuple):
    """Lines of text that belong together, the number of the list item, and where they are."""

    start: int
    end: int
    number: int | None
    refers: bool  # the number is a step of the plan
    context: Context
    block: int
    heading: bool = False


def find_remarks(
    source: Source, outside: Sequence[Span], steps: Sequence[LooseStep], names: Names
) -> tuple[Diagnostic, ...]:
    """Return a warning (SC710) for each sentence outside the steps that is not known to be harmless.

    ``outside`` are the ranges of the original text that hold no step: prose, comments, descriptions, fields of a
    structured answer that are not part of a step. Time is linear in the text, for each step up to ``MAX_WORK``.
    """
    spans = [span for span in outside if not _MARKS_ONLY.fullmatch(source.text, span.start, span.end)]
    if not spans or not steps:
        return ()
    remarks = [
        Diagnostic(
            SC.REMARK_NOT_UNDERSTOOD,
            f"`{short(source.slice(span), 160)}` next to the plan is not understood, and may change it",
            (Label(source.name, span, "this text"),),
            help=_HELP,
            severity=Severity.WARNING,
        )
        for span in _Reader(source, steps, names).not_understood(sorted(spans))
    ]
    if len(remarks) > MAX_REMARKS:
        more = f"and {len(remarks) - MAX_REMARKS} more remarks"
        remarks = [*remarks[: MAX_REMARKS - 1], remarks[MAX_REMARKS - 1]._replace(notes=(more,))]
    return tuple(remarks)


class _Reader:
    """Judges the sentences next to one plan."""

    def __init__(self, source: Source, steps: Sequence[LooseStep], names: Names) -> None:
        self.source = source
        self.work = 0
        order = sorted(range(len(steps)), key=lambda number: steps[number].span)
        self.spans = [steps[number].span for number in order]
        self.starts = [span.start for span in self.spans]
        self.ends = [span.end for span in self.spans]
        self.numbers = order
        self.words = Restating([step.text for step in steps], names)

    def not_understood(self, outside: Sequence[Span]) -> Iterator[Span]:
        """The sentences that are not known to be harmless, in order."""
        paragraphs = [paragraph for block, span in enumerate(outside) for paragraph in self._paragraphs(span, block)]
        headings = [paragraph.start for paragraph in paragraphs if paragraph.context.place is not Place.STEP]
        listed: dict[bool, list[int]] = {True: [], False: []}
        for paragraph in paragraphs:
            if paragraph.number is not None and paragraph.context.place is not Place.STEP and not paragraph.refers:
                listed[paragraph.context.place is Place.AFTER].append(paragraph.number)
        count = len(self.spans)
        cursor, block = [-1], -1
        for paragraph in paragraphs:
            if paragraph.block != block:
                cursor, block = [-1], paragraph.block
            context = paragraph.context
            if context.place is not Place.STEP:
                numbers = listed[context.place is Place.AFTER]
                if context.place is not Place.AFTER and not context.targets:
                    context = context._replace(targets=self._below(paragraph, headings))
                aligned = context.place is Place.AFTER and numbers == list(range(1, count + 1))
                if paragraph.refers or (paragraph.number is not None and aligned):
                    number = -1 if paragraph.number is None else paragraph.number - 1
                    context = context._replace(targets=frozenset((number,)) if 0 <= number < count else frozenset())
                    if not context.targets:
                        yield Span(paragraph.start, paragraph.end)
                        continue
                elif paragraph.number is not None and numbers != list(range(1, len(numbers) + 1)):
                    yield Span(paragraph.start, paragraph.end)
                    continue
            yield from self._sentences(paragraph, context, cursor)

    def _below(self, paragraph: _Paragraph, headings: list[int]) -> frozenset[int]:
        """The steps between a paragraph and the next one."""
        following = bisect_left(headings, paragraph.end)
        end = headings[following] if following < len(headings) else len(self.source.text)
        return frozenset(self.numbers[bisect_left(self.starts, paragraph.end) : bisect_left(self.starts, end)])

    def _paragraphs(self, span: Span, block: int) -> Iterator[_Paragraph]:
        text = self.source.text
        position = span.start
        current: _Paragraph | None = None
        while position < span.end:
            end = text.find("\n", position, span.end)
            end = span.end if end < 0 else end
            line = text[position:end]
            place = self._place(position, end)
            if _MARKS_ONLY.fullmatch(line) or (place.place is not Place.STEP and _STRUCTURE.fullmatch(line)):
                if current is not None:
                    yield current
                current = None
            else:
                plain = _plain(line)
                mark = _MARK.match(plain if len(plain) == len(line) else line)
                begins = text.rfind("\n", 0, position) + 1
                written = mark if mark is not None and not text[begins:position].strip() else None
                alone = _MARK.match(plain)
                if written and alone and place.place is Place.STEP and _MARKS_ONLY.fullmatch(plain[alone.end() :]):
                    position = end + 1
                    continue
                number = next((int(digits) for digits in written.groups() if digits), None) if written else None
                marked = bool(written and written.group().strip())
                ends = current is not None and (text[current.end - 1] in ".:!?*_" or current.heading)
                if current is not None and current.context == place and not marked and not ends:
                    current = current._replace(end=end)
                else:
                    if current is not None:
                        yield current
                    label = written.group().rstrip("*_` \t") if written is not None and written["step"] else ""
                    heads = place.place is not Place.AFTER and label[-1:] in (".", ":", ")", "-", "\u2014")
                    skip = written.end() if written is not None and (heads or not label) else 0
                    begin = position + (skip if line[skip:].strip() else 0)
                    current = _Paragraph(
                        begin, end, number, bool(label) and not heads, place, block, line.lstrip(" \t>")[:1] == "#"
                    )
            position = end + 1
        if current is not None:
            yield current

    def _place(self, start: int, end: int) -> Context:
        """Where a range is, and the steps on its line."""
        text = self.source.text
        line_start = text.rfind("\n", 0, start) + 1
        line_end = text.find("\n", end)
        line_end = len(text) if line_end < 0 else line_end
        first, last = bisect_left(self.ends, line_start + 1), bisect_left(self.starts, line_end)
        on_line = frozenset(self.numbers[first:last])
        if on_line:
            return Context(Place.STEP, on_line)
        following = bisect_left(self.starts, start)
        if following and text[line_start : line_start + 2].isspace():  # below the item of a step
            place = Place.AFTER if following == len(self.starts) else Place.BETWEEN
            return Context(place, frozenset((self.numbers[following - 1],)), following)
        if following == 0:
            return Context(Place.BEFORE)
        return Context(Place.AFTER if following == len(self.starts) else Place.BETWEEN, passed=following)

    def _sentences(self, paragraph: _Paragraph, context: Context, cursor: list[int]) -> Iterator[Span]:
        text = self.source.text[paragraph.start : paragraph.end]
        if self._is_row(paragraph.start):
            parts = [(match.start(), match.group()) for match in re.finditer(r"[^|]+", text)]
        else:
            parts = [(0, text)]
        for offset, part in parts:
            flat = re.sub(r"\n[ \t>]*", lambda match: " " * len(match.group()), part)
            begin = 0
            for cut in [*[match.span() for match in _SENTENCE.finditer(flat)], (len(flat), len(flat))]:
                sentence = flat[begin : cut[0]]
                sentence = sentence.rstrip(" \t\n*_`")
                self.work += len(self.spans)
                if sentence.strip() and not self._is_harmless(sentence, paragraph.start, context, cursor):
                    start = paragraph.start + offset + begin
                    lead = len(sentence) - len(sentence.lstrip())
                    yield Span(start + lead, start + len(sentence.rstrip()))
                begin = cut[1]

    def _is_row(self, at: int) -> bool:
        """Whether a place is in a row of a table."""
        line = self.source.text[self.source.text.rfind("\n", 0, at) + 1 : at + 1]
        return line.lstrip(" \t>").startswith("|")

    def _is_harmless(self, sentence: str, at: int, context: Context, cursor: list[int]) -> bool:
        if self.work > MAX_WORK or len(sentence) > MAX_SENTENCE or "~~" in sentence:
            return False
        text = _plain(_TAG.sub(" ", sentence))
        if context.place is Place.STEP:
            text = self._without_frame(text, context)
        else:
            text = re.sub(r"[\u2705\u2713\u2714]", " ", _CHEERFUL.sub(" ", text))
        if _MARKS_ONLY.fullmatch(text):
            return True
        bare = text.strip(" \t\n\"'`([{*_|")
        if (context.place is Place.BEFORE or 0 in context.targets) and (
            HEAD.fullmatch(bare.rstrip("*_`")) or _FINAL.fullmatch(bare)
        ):
            return True
        if context.place is Place.STEP and self._is_row(at) and re.fullmatch(r"\d{1,4}\.?", bare):
            return True
        head = "|" in self.source.text and context.place is Place.BEFORE
        if (context.place is Place.STEP or head) and _LABEL.fullmatch(bare.strip("*_` ")):
            return True
        if head and re.fullmatch(r"(?:#|no\.?|nr\.?)", bare, re.IGNORECASE):
            return True
        if context.place is Place.STEP and self.words.plan.names_arguments(bare, context.targets):
            return True
        cursor_state = list(cursor)
        if self.words.is_harmless(text, context, cursor):
            return True
        label, colon, following = text.partition(": ")
        if not colon or not following.strip() or _NAMES_A_PLAN.search(label):
            return False
        cursor[:] = cursor_state
        is_action = self.words.plan.is_action(label.strip("`*_ \"'"))
        return (is_action or self.words.is_harmless(f"{label}:", context, cursor)) and self.words.is_harmless(
            following, context, cursor
        )

    def _without_frame(self, text: str, context: Context) -> str:
        """The text on the line of a step, without marks, times and words that join steps."""
        text = "" if _TIMES.fullmatch(text) else _DURATION.sub("", text)
        text = re.sub(r"^[ \t>]*[-*\u2022][ \t]+", "", text)
        text = re.sub(r"^(?:\d{1,4}[.)])?[ \t]*\[[xX ]\]", "", text)  # lists that are ticked in part were refused
        text = text.strip(" \t\n,;.\"'`*_>]}\\\u2192").lstrip(")")
        while text.endswith(")") and text.count(")") > text.count("("):
            text = text[:-1].rstrip(" \t\n,;.\"'`*_>]}\\\u2192")
        text = re.sub(r"^(?:#+|/{2,}|;+|--|->|=>|[-\u2014\u2192:(])[ \t]*", "", text).strip()
        joined = _CONNECTIVE.fullmatch(text)
        if joined is None or joined["word"] is None:
            return text
        word = joined["word"].lower()
        first, last = word in ("first", "firstly"), word in ("finally", "lastly")
        harmless = (not first or 0 in context.targets) and (not last or len(self.spans) - 1 in context.targets)
        return "" if harmless else text


def _plain(text: str) -> str:
    return Cleaned(text).text
