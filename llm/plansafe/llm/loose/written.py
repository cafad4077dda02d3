"""A plan as its author wrote it, steps included that the task does not have.

The careful reading (``plansafe.llm.loose.reader``) takes a text only if each step is one of the task. Here each call of
the answer is a step of the plan: one that the task has is read as ever, any other stays as written, and is an
ill-formed step for the checker. What makes calls a plan, and which of several lists is meant, docs/plan-text.md says.

Lists of sentences that say what to do, such as ``1. Open the fridge.``: a step each, mostly none of the task.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Span
from plansafe.llm.loose.as_written import AsWritten, Step, StepsAsWritten, complete_plan, differ, part_of
from plansafe.llm.loose.calls import MOST_CALLS, Call, calls_in, plain_words
from plansafe.llm.loose.decision import DOUBTFUL
from plansafe.llm.loose.lines import Lines
from plansafe.llm.loose.names import ARTICLES, Refused, key, short
from plansafe.llm.loose.prose import Prose
from plansafe.llm.structured.resolver import ReadDocument, written_calls
from plansafe.verifier.execution.steps import Resolver

_FENCE = re.compile(r"[ \t>]*(?:`{3}|~{3})")
_HEADING = re.compile(r"[ \t]*(?:#{1,6}[ \t]|(?:-{3,}|={3,}|\*{3,})[ \t]*$)")
_QUESTION = re.compile(
    r"[ \t>#*_(-]{0,8}(?:the )?(?:current )?(?:task|goal|initial state|home|scene|instructions?|explanation|notes?)"
    r"(?: description)?(?: is| of the task)?[ \t*_]{0,4}:",
    re.IGNORECASE,
)
_CODE = re.compile(r"[ \t]*(?:for \w+ in |(?:while|if|elif|with|def|class)\b[^\n]*:[ \t]*(?:#[^\n]*)?$)")
_DOTS = re.compile(r"[.\u2026]{2,}|\u2026")
_ARTICLE = re.compile(r"\b(?:the|a|an)\b", re.IGNORECASE)
_FRAME_WORDS = (
    "and or not imply forall exists when increase decrease assign scale-up scale-down at over start end all preference "
    "always sometime within task goal goals now home init initial objects object types type predicates predicate "
    "functions constants requirements domain problem define action actions parameters precondition preconditions "
    "effect effects metric plan step steps"
)
_FRAME = frozenset(_FRAME_WORDS.split())
_IN_FULL = "ask for the plan in full"
LONGEST_LINE = 4_000


class _Placed(NamedTuple):
    """A call, the kind of its name and whether its line has a number."""

    call: Call
    kind: str
    numbered: bool


class _Run:
    """Calls that follow one another with nothing but remarks between them; ``lead`` is the line before."""

    def __init__(self, lead: str) -> None:
        self.lead = lead
        self.calls: list[_Placed] = []
        self.last = 0


class Written:
    """Reads plans as they are written, against the names of a task."""

    def __init__(self, lines: Lines, resolver: Resolver, documents: Sequence[ReadDocument] = ()) -> None:
        self.lines, self.names, self.prose = lines, lines.names, Prose(lines.names)
        self.documents = documents
        self.steps = StepsAsWritten(lines, resolver)
        self.sentences = Sentences(self.steps, self.prose)
        self.predicates = {key(predicate.name) for predicate in self.names.task.predicates}

    def read(self, text: str, start: int, end: int) -> AsWritten | None:
        """The plan of a range of the cleaned text; ``None`` if it holds none."""
        for written_document in self._within(start, end):
            if written_document.problems:
                problem = written_document.problems[0]
                return AsWritten((), problem.refused, problem.start, problem.end)
        runs = self._runs(text, start, end)
        if isinstance(runs, AsWritten):
            return runs
        plans = [run for run in runs if self._is_plan(run.calls)]
        if not plans:
            return self.sentences.read(text, start, end)
        chosen = max(plans, key=lambda run: len(run.calls))
        chosen_counts: Counter[Hashable] = Counter([placed.call.words for placed in chosen.calls])
        for run in plans:
            if not part_of([placed.call.words for placed in run.calls], chosen_counts):
                return differ(run.calls[0].call)
        if DOUBTFUL.search(chosen.lead.rsplit(". ", 1)[-1]):
            message = f"the text does not stand by this plan: `{short(chosen.lead)}`"
            refused = Refused(SC.PLANS_DIFFER, message, "give the final plan alone")
            return AsWritten((), refused, chosen.calls[0].call.start, chosen.calls[0].call.end)
        steps = [self.steps.of_call(placed.call, text) for placed in chosen.calls]
        return complete_plan(steps, [placed.call for placed in chosen.calls], any([p.numbered for p in chosen.calls]))

    def holds_step(self, text: str, start: int, end: int) -> bool:
        """Whether a range holds a step: a call of an action, one that declares itself an action, or such words."""
        calls = self._calls(text, start, end)
        if any([call.said or self._kind(call) == "action" for call in calls]):
            return True
        lines = [line for line in text[start:end].splitlines() if "(" not in line]
        return any([self.lines.read(line).kind == "steps" for line in lines])

    # -- calls --------------------------------------------------------------------------------------------------------

    def _within(self, start: int, end: int) -> list[ReadDocument]:
        return [
            written_document for written_document in self.documents if start <= written_document.document.start < end
        ]

    def _calls(self, text: str, start: int, end: int) -> list[Call]:
        """The calls of a range, including its documents."""
        documents = self._within(start, end)
        spans = [Span(written_document.document.start, written_document.document.end) for written_document in documents]
        calls = [
            *calls_in(text, start, end, spans).found,
            *[call for written_document in documents for call in written_calls(written_document)],
        ]
        return sorted(calls, key=lambda call: call.start)[:MOST_CALLS]

    def _runs(self, text: str, start: int, end: int) -> list[_Run] | AsWritten:
        """The calls of a range in runs, without facts before the first step."""
        calls = self._calls(text, start, end)
        runs: list[_Run] = []
        run: _Run | None = None
        lead, position, at = "", start, 0
        while position < end:
            stop = text.find("\n", position, end)
            stop = end if stop < 0 else stop
            line = text[position:stop]
            here = []
            while at < len(calls) and calls[at].start < stop:
                here.append(calls[at])
                at += 1
            inside = at > len(here) and calls[at - len(here) - 1].end > position  # of a call that began before
            if _CODE.match(line):
                code = Refused(SC.MORE_THAN_A_SEQUENCE, f"a plan has no conditions and loops: `{short(line)}`")
                return AsWritten((), code, position, stop)
            if _QUESTION.match(line):
                run, lead = None, line
            elif not here:
                if runs and not inside and (wrong := self.prose.cut(line)):
                    return AsWritten((), wrong, position, stop)
                unmarked = line.rstrip(" \t*_").endswith(":") and not MARK.match(line)
                if not inside and (unmarked or _FENCE.match(line) or _HEADING.match(line)):
                    run = None
                lead = line if line.strip() and not inside and not _FENCE.match(line) else lead
            else:
                placed = self._line(text, position, here)
                if isinstance(placed, AsWritten):
                    return placed
                number = NUMBER.match(line)
                if run is None or (number and int(number[1]) < 2 <= run.last):
                    run = _Run(lead)
                    runs.append(run)
                run.last = int(number[1]) if number else run.last
                for placed_call in placed:
                    if run.calls and placed_call.call.group != run.calls[-1].call.group >= 0:  # a list of its own
                        run = _Run(lead)
                        runs.append(run)
                    if run.calls or not self._is_scene(placed_call):
                        run.calls.append(placed_call)
            position = stop + 1
        return [run for run in runs if run.calls]

    def _line(self, text: str, start: int, calls: list[Call]) -> list[_Placed] | AsWritten:
        """The calls of a line that are steps, without calls in a remark."""
        placed_calls: list[_Placed] = []
        numbered = bool(NUMBER.match(text, start, calls[0].start))
        position = start
        first = calls[0]
        for call in calls:
            gap = text[position : call.start]
            kind = self._kind(call)
            written_text = text[call.start : call.end]
            remark = call is not first and call.form == "form"
            plainer = bool(_ARTICLE.search(written_text)) and not _ARTICLE.search(text[first.start : first.end])
            if remark and (first.form == "call" or plainer):
                position = call.end
                continue
            if all([_DOTS.fullmatch(word) for word in call.words]):
                left_out = Refused(SC.TEXT_CUT_OFF, "part of the plan was left out of the text", _IN_FULL)
                return AsWritten((), left_out, call.start, call.end)
            loose = call.form not in ("data", "string")
            if loose and len(gap) <= LONGEST_LINE and (wrong := self.prose.before(gap)):
                return AsWritten((), wrong, position, call.end)
            if kind == "unknown" and not call.said and (wrong := self.prose.before(written_text)):
                return AsWritten((), wrong, call.start, call.end)
            if call.form == "form" and kind != "action":
                call, kind = self._led(gap, call, kind)
            placed_calls.append(_Placed(call, kind, numbered))
            position = call.end
        return placed_calls

    def _led(self, gap: str, call: Call, kind: str) -> tuple[Call, str]:
        """``grab (mug)``: an action's name in words before the parenthesis."""
        words = gap[-120:].split()
        for count in range(min(3, len(words)), 0, -1):
            name = " ".join(words[-count:])
            if self.names.action(name) is not None:
                begin = call.start - len(gap) + gap.rindex(words[-count])
                led = ("-".join(words[-count:]).lower(), *call.words)
                return call._replace(words=led, start=begin, form="call"), "action"
        return call, kind

    def _kind(self, call: Call) -> str:
        """What bears a call's name: an ``action``, ``predicate``, ``object`` or the ``frame``; or it is ``unknown``."""
        names = [word.strip(":?") for word in call.words[:4]]
        if names[0] == "to" and len(names) > 1:
            names = names[1:]
        if any([self.names.action(" ".join(names[:count])) is not None for count in range(1, len(names) + 1)]):
            return "action"
        if call.words[0].startswith(":") or names[0] in _FRAME:
            return "frame"
        if key(names[0]) in self.predicates:
            return "predicate"
        return "object" if self.names.has_object(names[0]) else "unknown"

    def _is_scene(self, placed: _Placed) -> bool:
        """Whether a call before the first step is a fact of the scene, or words in parentheses."""
        in_words = placed.kind == "unknown" and placed.call.form == "form" and bool({*placed.call.words} & ARTICLES)
        return (placed.kind == "predicate" or in_words) and not placed.numbered and not placed.call.said

    def _is_plan(self, calls: list[_Placed]) -> bool:
        """Whether calls are meant as steps."""
        if any([placed.kind == "action" or placed.call.said for placed in calls]):
            return True
        unknown = [placed for placed in calls if placed.kind == "unknown" and not placed.call.within]
        intended = [
            placed
            for placed in unknown
            if len(placed.call.words) > 1 and all([self.names.has_object(word) for word in placed.call.words[1:]])
        ]
        return bool(calls) and 2 * len(intended) >= len(calls)


NUMBER = re.compile(r"[ \t>*_#]{0,8}(?:(?:step|action|move)[ _#-]{0,2})?\(?(\d{1,4})[.):]", re.IGNORECASE)
MARK = re.compile(
    r"([ \t>]*)(?:[*_]{0,3}(?:(?:step|action|move)[ _#-]{0,2})?\(?\d{1,4}[.):]|[-*+\u2022])[*_]{0,3}[ \t]+",
    re.IGNORECASE,
)
LONGEST_ITEM = 300


class Sentences:
    """Reads lists of sentences as steps."""

    def __init__(self, steps: StepsAsWritten, prose: Prose) -> None:
        self.steps, self.lines, self.names, self.prose = steps, steps.lines, steps.names, prose

    def read(self, text: str, start: int, end: int) -> AsWritten | None:
        """A list of sentences that say what to do; ``None`` if there is none."""
        lists: list[list[tuple[str, int]]] = []
        items: list[tuple[str, int]] | None = None
        depth, numbered, position = 0, False, start
        while position < end:
            stop = text.find("\n", position, end)
            stop = end if stop < 0 else stop
            line = text[position:stop]
            mark = MARK.match(line)
            if mark and (items is None or len(mark[1]) <= depth):
                number = NUMBER.match(line)
                if items is None or (number and int(number[1]) < 2) or bool(number) is not numbered:
                    items = []
                    lists.append(items)
                    depth, numbered = len(mark[1]), bool(number)
                items.append((line[mark.end() : mark.end() + LONGEST_ITEM], position + mark.end()))
            elif not mark and line.strip() and not line.startswith((" ", "\t")):
                items = None
            position = stop + 1
        plans = [candidate_list for candidate_list in lists if self._says_what_to_do(candidate_list)]
        if not plans:
            return None
        chosen = max(plans, key=len)
        chosen_counts: Counter[Hashable] = Counter(_folded(chosen))
        if not all([part_of(_folded(candidate_list), chosen_counts) for candidate_list in plans]):
            return differ(Call((), plans[0][0][1], plans[0][0][1] + 1, "words"))
        steps: list[Step | Refused] = []
        calls = []
        for item, at in chosen:
            sentence = _sentence(item)
            begin = at + item.index(sentence) if sentence in item else at
            calls.append(Call(plain_words(sentence), begin, begin + max(1, len(sentence)), "words"))
            steps.append(self._sentence_step(sentence, calls[-1]))
        return complete_plan(steps, calls, True, True)

    def _says_what_to_do(self, items: list[tuple[str, int]]) -> bool:
        sentences = [_sentence(item).lower().split() for item, _ in items]
        verbs = [words for words in sentences if words and words[0].strip(".,") in self.names.verbs]
        return len(items) > 1 and 2 * len(verbs) >= len(items)

    def _sentence_step(self, sentence: str, call: Call) -> Step | Refused:
        if wrong := self.prose.opens_no_step(sentence):
            return wrong
        reading = self.lines.read(sentence)
        if reading.kind == "steps" and len(reading.found) == 1:
            return self.steps.taken(reading.found[0].step, call)
        ambiguous = reading.refused is not None and reading.refused.code == SC.AMBIGUOUS_NAME
        if reading.refused is not None and ambiguous and not self.steps.lacks_arguments(call):
            return reading.refused
        return self.steps.ill_formed(call.words, call.start, call.end)


def _sentence(item: str) -> str:
    """An item up to its first colon or full stop, without emphasis."""
    bare = item.strip().strip("*_` ")
    return re.split(r"\*{0,3}:|[.](?:\s|\Z)", bare, maxsplit=1)[0].strip("*_` ")


def _folded(items: list[tuple[str, int]]) -> list[str]:
    return [" ".join(_sentence(item).lower().split()) for item, _ in items]
