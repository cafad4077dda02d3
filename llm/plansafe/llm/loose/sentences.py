"""Lists of sentences that say what to do, such as ``1. Open the fridge.``: a step each, mostly none of the task."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable

from plansafe.grammar.codes import SC
from plansafe.llm.loose.as_written import AsWritten, Step, StepsAsWritten, complete_plan, differ, part_of
from plansafe.llm.loose.calls import Call, plain_words
from plansafe.llm.loose.names import Refused
from plansafe.llm.loose.prose import Prose

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
