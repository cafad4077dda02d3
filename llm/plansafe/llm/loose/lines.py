"""One line of a loose text as the steps it holds, or as prose, or as something that may be a step and is none."""

from __future__ import annotations

import re
from itertools import islice, pairwise
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.llm.loose.groups import Group, groups, unquoted
from plansafe.llm.loose.names import Refused, Tolerance, short
from plansafe.llm.loose.placing import Resolved
from plansafe.llm.loose.prose import CONNECTIVE, connective
from plansafe.llm.loose.steps import Steps

_SEPARATOR = re.compile(
    r"(?:,|;|->|=>|\u2192|>|\.)?[ \t\n]{0,40}(?:(?:and[ \t]{1,8})?"
    r"(?:then|next|finally|afterwards|after that)[ \t]{0,8},?)?",
    re.IGNORECASE,
)
HEAD = re.compile(
    r"[ \t\"'({\[:]{0,8}(?:(?:the|my|a|here is the|here's the|final|complete|valid|correct|resulting|action|"
    r"pddl|safe|full)[ \t_]{1,4}){0,4}"
    r"(?:plan|answer|action sequence|actions|action|steps|sequence|solution|output|result)"
    r"[ \t\"']{0,4}[:=]?[ \t]{0,4}",
    re.IGNORECASE,
)
_LED = re.compile(r"(?::|=>|->|\u2192|=|[ \t]-|\u2014|--)[ \t\n]{0,8}\Z")
_COMMENT = re.compile(
    r"(?:;|#|//|--|\u2014|-[ \t]|:|\((?!\d)|=>|->|\u2192|because\b|so that\b|in order to\b|to\b|so\b|%)"
)
_DURATION = re.compile(r"[ \t]{0,8}\[[ \t]{0,8}(?:D:)?(\d{1,9}(?:\.\d{1,9})?)(?![\d.]|\s{0,8}(?:\+|±))[^\]\n]{0,40}\]")
_HARD = re.compile(
    r"[ \t]{0,8}(?:->|=>|\u2192|;|\.[ \t]|,?[ \t](?:and[ \t]{1,4})?"
    r"(?:then|next|finally|afterwards|after that),?[ \t])[ \t]{0,8}"
)
_WORDS_TAIL = re.compile(r"[ \t](?:#|//|--|\u2014|-)[ \t]|[ \t]\(|\u2014|,?[ \t](?:because|so that|in order to)[ \t]")
_ALTERNATIVE = re.compile(r"\b(?:or|either|option|choice|alternative|alternatively|variant)\b", re.IGNORECASE)
MAX_HEADS = 100
_HEADED = re.compile(r"(?<![\w-])([^\W\d][\w-]{0,60})\(")
_TRIM = " \t\n.,;!:"


class Found(NamedTuple):
    """A step and its place, from the beginning of the line."""

    step: Resolved
    start: int
    end: int
    duration: str | None = None


class Reading(NamedTuple):
    """What a line is.

    ``kind``: ``steps``; ``mention``, steps within a sentence; ``attempt``, a failed step;
    ``prose``. ``refused`` is the reason of an attempt (and of prose with brackets, which action is unknown).
    ``manner`` names the notation of the steps, ``skipped`` whether other words were left out.
    """

    kind: str
    found: tuple[Found, ...] = ()
    refused: Refused | None = None
    start: int = 0
    end: int = 0
    manner: str = ""
    skipped: bool = False


class _Act(NamedTuple):
    start: int
    end: int
    outcome: Resolved | Refused
    manner: str


class Lines:
    """Reads lines against the names of a task."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        self.names = steps.names

    def read(self, text: str) -> Reading:
        """A line without its marker. Linear in its length, apart from short lists of words."""
        acts: list[_Act] = []
        unknown: Refused | None = None
        position = 0
        for group in groups(text):
            act = self._act(group, text, position)
            if isinstance(act, _Act):
                acts.append(act)
                position = act.end
            elif act is not None:
                unknown = unknown or act
        if acts:
            return self._structured(text, acts)
        if opened := self._open(text):
            return opened
        words = self._words(text)
        if words.kind == "prose" and unknown:
            return words._replace(refused=unknown, end=len(text))
        return words

    # -- steps with brackets ------------------------------------------------------------------------------------------

    def _act(self, group: Group, text: str, since: int) -> _Act | Refused | None:
        """A group as a step; a refusal if it looks like one of an unknown action; ``None`` if it is none."""
        names = self.names
        if group.square:
            action = names.action(group.head)
            if action is None:
                outcome: Resolved | Refused = names.unknown_action(group.head)
                return _Act(group.start, group.end, outcome, "square") if group.arguments else None
            if isinstance(action, Refused):
                return _Act(group.start, group.end, action, "square")
            outcome = self.steps.arguments(action, group.head, list(group.arguments), group.receiver)
            return _Act(group.start, group.end, outcome, "square")
        acts: list[_Act] = []
        if not group.head:
            listed = self.steps.listed(group.body)
            if listed is not None:
                acts.append(_Act(group.start, group.end, listed, "list"))
        elif (action := names.action(group.head)) is not None:
            outcome = action if isinstance(action, Refused) else self.steps.call(action, group)
            acts.append(_Act(group.start, group.end, outcome, "call"))
        if not group.receiver:
            acts += self._led_by_words(group, text, since)
        if len(acts) > 1:
            both = Refused(SC.AMBIGUOUS_NAME, f"`{short(text[acts[-1].start : group.end])}` can be read as two steps")
            return _Act(acts[-1].start, group.end, both, "call")
        if acts:
            return acts[0]
        if group.head:
            return names.unknown_action(group.head)
        tokens = group.body.split()
        return names.unknown_action(tokens[0].strip(",")) if tokens and not tokens[0].isdecimal() else None

    def _led_by_words(self, group: Group, text: str, since: int) -> list[_Act]:
        """``turn on(stove)``, ``grab (mug)``: an action's name in words directly before the bracket."""
        lead = text[max(since, group.start - 120) : group.start]
        if lead and not group.head and not lead[-1].isspace():
            return []
        cut = max([lead.rfind(char) for char in ":;,.>=\u2192\u2014|(\"'\n"]) + 1
        words = lead[cut:].split()
        if not group.head:
            following = lead[cut:].lstrip()
            words = following[len(connective(following)) :].split()
        for count in range(min(4, len(words)), 0, -1):
            if not group.head and count < len(words):
                break
            name = " ".join([*words[-count:], *([group.head] if group.head else [])])
            action = self.names.action(name)
            if action is None:
                continue
            begin = group.start
            for word in reversed(words[-count:]):
                begin = text.rindex(word, 0, begin)
            outcome = action if isinstance(action, Refused) else self.steps.call(action, group, name)
            return [_Act(begin, group.end, outcome, "call")]
        return []

    def _structured(self, text: str, acts: list[_Act]) -> Reading:
        steps = []
        for act in acts:
            if isinstance(act.outcome, Refused):
                return Reading("attempt", (), act.outcome, act.start, act.end)
            steps.append(Found(act.outcome, act.start, act.end))
        manner = acts[0].manner
        lead = text[: acts[0].start]
        bare, closing = self._lead(lead)
        if bare == "alternative":
            refused = Refused(
                SC.MORE_THAN_A_SEQUENCE, f"the text offers alternatives: `{short(lead)}`", "give one plan"
            )
            return Reading("attempt", (), refused, 0, acts[0].start)
        mention = bare == "sentence"
        for left, right in pairwise(acts):
            gap = text[left.end : right.start]
            timed = _DURATION.match(gap)
            if timed and not mention:
                refused = Refused(
                    SC.NOT_UNDERSTOOD, "two timed steps on one line", "write each timed step on a line of its own"
                )
                return Reading("attempt", (), refused, left.start, right.end)
            if _SEPARATOR.fullmatch(gap.strip()) and not (";" in gap and left.manner == "list"):
                continue
            if mention:
                continue
            message, help = "what stands between two steps is not understood", "write each step on a line of its own"
            if gap.strip().startswith(";"):
                message, help = "`;` begins a comment, but a step follows it", "write each step on a line of its own"
            return Reading("attempt", (), Refused(SC.NOT_UNDERSTOOD, message, help), left.start, right.end)
        if mention:
            return Reading("mention", tuple(steps), None, acts[0].start, acts[-1].end, manner, True)
        tail = text[acts[-1].end :]
        timed = _DURATION.match(tail)
        if timed:
            steps[-1] = steps[-1]._replace(duration=timed[1])
            tail = tail[timed.end() :]
        for _ in range(closing):
            tail = tail.lstrip()
            tail = tail[1:] if tail.startswith(")") else tail
        if wrong := self._tail(tail):
            return Reading("attempt", (), wrong, acts[-1].end, len(text))
        described = bare == "description"
        for item in steps:
            if item.step.supplied and described:
                message = f"`{item.step.action.name}` lacks an argument, and the words before it may name it"
                return Reading("attempt", (), Refused(SC.NOT_UNDERSTOOD, message), 0, acts[-1].end)
        skipped = described or bool(tail.strip(_TRIM + "\"'`)"))
        return Reading("steps", tuple(steps), None, acts[0].start, acts[-1].end, manner, skipped)

    def _lead(self, lead: str) -> tuple[str, int]:
        """What words before a step are, and how many parentheses they open."""
        closing = lead.count("(") - lead.count(")")
        bare = lead.strip(" \t\n\"'`([{,")
        if not bare:
            return "", closing
        if HEAD.fullmatch(bare) or CONNECTIVE.fullmatch(bare):
            return "head", closing
        if _ALTERNATIVE.search(bare):
            return "alternative", closing
        if _LED.search(lead) and closing <= 0:
            return "description", closing
        return "sentence", closing

    def _tail(self, tail: str) -> Refused | None:
        """The reason why the text after the last step cannot be left out."""
        remainder = tail.strip(" \t\n.,!\"'`]}")
        if not remainder or remainder == ";":
            return None
        if not _COMMENT.match(remainder):
            return Refused(
                SC.NOT_UNDERSTOOD, f"`{short(remainder)}` after a step is not understood", "begin a comment with `;`"
            )
        if remainder.count("(") != remainder.count(")"):
            return Refused(SC.TEXT_CUT_OFF, "a parenthesis is not closed, or closed twice")
        return None

    def _open(self, text: str) -> Reading | None:
        """A step whose parenthesis is not closed, or holds what no step has."""
        opened = text.rfind("(")
        if opened < 0:
            return None
        for match in islice(_HEADED.finditer(text), MAX_HEADS):
            if self.names.action(match[1]) is not None:
                break
        else:
            inside = text[opened + 1 :].split(None, 1)
            if text.find(")", opened) >= 0 or not inside or self.names.action(inside[0]) is None:
                return None
        refused = Refused(SC.NOT_UNDERSTOOD, "a step that is not understood", "write it as `(action object ..)`")
        if text.count("(") > text.count(")"):
            refused = Refused(SC.TEXT_CUT_OFF, "the text breaks off within a step", "ask for the plan in full")
        return Reading("attempt", (), refused, opened, len(text))

    # -- steps in words -----------------------------------------------------------------------------------------------

    def _words(self, text: str) -> Reading:
        """A line of words: one step or several, all words used."""
        line = text.strip()
        offset = len(text) - len(text.lstrip())
        if len(line) > 2000 or not line or line.endswith(":"):
            return Reading("prose")
        bare = unquoted(line.rstrip(_TRIM + "\\"))
        head = HEAD.match(bare)
        if head and head.group().rstrip(" \"'").endswith((":", "=")):
            bare = bare[head.end() :]
        pieces = _HARD.split(bare)
        outcomes = [self._piece(piece) for piece in pieces]
        first, skipped = outcomes[0][0], bool(outcomes[0][1])
        if first is None:
            if any([isinstance(outcome, Resolved) for outcome, _ in outcomes]):
                refused = Refused(SC.NOT_UNDERSTOOD, "part of this line is a step, and part of it is not understood")
                return Reading("attempt", (), refused, offset, len(text))
            return Reading("prose")
        if isinstance(first, Resolved) and len(pieces) > 1 and not all([isinstance(o, Resolved) for o, _ in outcomes]):
            following = bare[len(pieces[0]) :]
            if not following.lstrip().startswith(";"):
                wrong = next((outcome for outcome, _ in outcomes if isinstance(outcome, Refused)), None)
                unread = Refused(SC.NOT_UNDERSTOOD, f"`{short(following)}` after a step is not understood")
                return Reading("attempt", (), wrong or unread, offset, len(text))
            end = offset + line.index(following)
            return Reading("steps", (Found(first, offset, end),), None, offset, len(text), "words", True)
        steps = []
        for outcome, more in outcomes:
            if not isinstance(outcome, Resolved):
                several = self._by_commas(bare) if len(pieces) == 1 else None
                if several:
                    start, end = offset, offset + len(line)
                    return Reading("steps", tuple([Found(s, start, end) for s in several]), None, start, end, "words")
                return Reading("attempt", (), outcome, offset, offset + len(line))
            end = offset + (line.rindex(more) if more else len(line))
            steps.append(Found(outcome, offset, end))
            skipped = skipped or bool(more)
        if len(pieces) == 1 and self._by_commas(bare):
            refused = Refused(
                SC.AMBIGUOUS_NAME, "this line can be read as one step or as several", "write one step a line"
            )
            return Reading("attempt", (), refused, offset, offset + len(line))
        return Reading("steps", tuple(steps), None, offset, offset + len(line), "words", skipped)

    def _piece(self, piece: str) -> tuple[Resolved | Refused | None, str]:
        """One step in words, and the words after it."""
        body = piece[len(connective(piece)) :].strip(_TRIM)
        tokens_of_body = self._tokens(body)
        if tokens_of_body is None or isinstance(tokens_of_body, Resolved):
            return tokens_of_body, ""
        match = _WORDS_TAIL.search(body)
        if match is None:
            return tokens_of_body, ""
        tail = body[match.start() :]
        step = self._tokens(body[: match.start()])
        if not isinstance(step, Resolved):
            return tokens_of_body if step is None else step, ""
        if re.search(r"\(\s*\d", tail):
            return Refused(SC.NOT_UNDERSTOOD, f"`{short(tail)}` after a step is not understood"), ""
        return step, tail

    def _tokens(self, text: str) -> Resolved | Refused | None:
        return self.steps.words.step([unquoted(token) for token in text.replace(",", " ").split()])

    def _by_commas(self, text: str) -> list[Resolved] | None:
        """Steps between commas, if every part is one."""
        if "," not in text:
            return None
        steps = []
        for part in text.split(","):
            outcome, skipped = self._piece(part)
            if not isinstance(outcome, Resolved) or skipped:
                return None
            steps.append(outcome)
        return steps


def manner_note(manner: str) -> Tolerance | None:
    """What to say about the notation of steps, or about the format of their document; ``None`` for PDDL."""
    if not manner or manner == "list":
        return None
    example = {
        "call": "steps written as `action(arg, arg)` were read",
        "square": "steps written as `[ACTION] <object>` were read",
        "words": "steps written as mere words were read",
    }.get(manner, f"steps were read from {manner}")
    return Tolerance(SC.OTHER_NOTATION, example, "write each step as `(action object ..)`")
