"""Sentences next to a plan that change nothing: made of harmless words, or restating steps of the plan.

A sentence is closed: each word must be in ``vocabulary.toml``, or name an action or an object of a step. A sentence not
known to be harmless is not (docs/plan-text.md says what harmless means).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from plansafe.llm.loose.clauses import Clauses, Context, Mention, Place
from plansafe.llm.loose.names import Names
from plansafe.llm.loose.plan_words import NotUnderstood, PlanWords, Token
from plansafe.llm.loose.vocabulary import (
    ADVERBS,
    ARTICLES,
    ASSURES,
    COPULAS,
    DONE,
    ENDS,
    EXPLAINS,
    FIRST,
    GOALS,
    LAST,
    NEEDS,
    PLACES,
    PLANS,
    PREPOSITIONS,
    STARTS,
    THEN,
)

_COUNTS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_STEP_NUMBER = re.compile(r"\bstep #?(\d{1,4})\b")
_STEP_COUNT = re.compile(
    rf"\b(\d+|{'|'.join(_COUNTS)})(?:-| )(?:(?:simple|main|safe|easy) )?(?:steps?|actions?)\b"
    r"|\b(?:steps?|actions|length): (\d+)(?: steps?)?"
)
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_ORDINAL_STEP = re.compile(rf"\b(?:(?:in|for|during|with) )the ({'|'.join(_ORDINALS)}|last|final) (?:step|action)\b")
_OPEN_ENDED = re.compile(r"\b(?:where|as) (?!it\b|the\b|they\b)|\b(?:place|task|goal|plan) of\b")
_PHASE = re.compile(r"^(?:phase|part|stage|section) \d{1,2}(?=$| ?[:.\u2014-])")
_SAME = (  # what means the same as shorter words
    (re.compile(r"\b(is|are) (?:not|never) left (?:on|running)\b"), r"\1 off"),
    (re.compile(r"\b(is|are) (?:not|never) left open\b"), r"\1 closed"),
    (re.compile(r"\b(is|are) (?:not|never) left unattended\b"), "\\1 \u0001"),
    (
        re.compile(r"\b(?:when|by the time|as) (?=(?:the (?:robot|character|agent)|it) (?:leaves|goes|moves|walks)\b)"),
        "before ",
    ),
    (re.compile(r"\b(?:at|in) the end(?: of the (?:plan|sequence|task))?\b"), "lastly"),
    (re.compile(r"\b(closed|shut|off) again\b"), r"\1"),
    (re.compile(r"\b(open\w*)\b([^.;]*)\b(clos\w+|shut\w*)\b([^,.;]*) again\b"), r"\1\2\3\4"),
    (re.compile(r"\b(on)\b([^.;]*)\b(off)\b([^,.;]*) again\b"), r"\1\2\3\4"),
    (re.compile(r"\b((?:switch|turn)(?:es|s|ing|ed)?) ([^.,;]*?) ?on and off\b"), r"\1 \2 on and \1 \2 off"),
    (re.compile(r"\bends up\b"), "ends"),
    (
        re.compile(
            r"^(?:with|in|by following|following) (?:this|these|the) (?:plan|sequence|approach|steps|actions)"
            r"(?: of actions)?, "
        ),
        "",
    ),
    (re.compile(r"\b(?:right|immediately|straight) (?=after\b|before\b)"), "directly "),
    (re.compile(r"\b(?:has|have) to\b"), "must to"),
)
_HERE = re.compile(
    r"\bhere (?:is|are)\b|\bhere's\b|\bbelow\b|\bas follows\b|\bthe following\b|\bfollows?$|\bwhat follows\b"
)
_ABOVE = re.compile(r"\b(?:plan|steps|actions|sequence|list) above\b|\babove (?:plan|steps|actions|sequence|list)\b")
_SHORT = {"here's": "here is", "it's": "it is", "that's": "that is", "let's": "let us", "we'll": "we will",
          "i'll": "i will", "i'd": "i would",
          "i've": "i have", "we've": "we have", "you'll": "you will", "there's": "there is",
          "what's": "what is", "they're": "they are", "we're": "we are", "i'm": "i am",
          "you're": "you are"}  # fmt: skip
_AGENT_AT = re.compile(
    r"(initially |currently )?(?:robot|character|agent) (is|will be|starts|begins|ends|finishes) "
    r"(?:in|at|inside|near) O(?: lastly)?"
)
_THING_IS = re.compile(r"O (?:is|are|remains) (?:safe|secure|secured|reachable|accessible|\u0001)")
_THING_AT = re.compile(
    r"(?:initially |currently |because |since )?O (?:is |are |ends )?(?:in|at|on|inside|near) O(?: in O)?(?: \u0001)?"
)
_IS_TO = re.compile(r"\b(\w+) (?:is|are|will be) to\b")
_FOR_PEOPLE = re.compile(r"\b(?:is|are) (?:your|my|for (?:you|me))\b")
_COMPLETE = re.compile(  # announces the complete plan
    r"\b(?:consists?|contains?)\b"
    r"|\b(?:required|needed|necessary|whole|entire|complete) (?:steps?|actions?|plan|sequence)\b"
    r"|^(?:required|needed|necessary)\b"
    r"|\b(?:actions?|steps?|answer|solution|result|output|sequence|plan|outcome) ?(?:is|are|:(?=.*\w))"
    r"(?! (?:that|to|safe|as|in|because|since|valid|based|executable|followed))"
)
_TELLS = re.compile(
    r"(?:now )?(?:this|it|(?:the )?(?:robot|character|agent)|to|for|so|gives|allows|ensures|provides)\b"
)
_STARTS_AWAY = re.compile(r"(?:in|at|inside|on|near|within)\b")


class Restating:
    """Judges the sentences next to one plan."""

    def __init__(self, steps: Sequence[str], names: Names) -> None:
        self.plan = PlanWords(steps, names)
        self.clauses = Clauses(self.plan)
        self.vocabulary = self.plan.vocabulary

    def is_harmless(self, sentence: str, context: Context, cursor: list[int]) -> bool:
        """Whether a sentence is known to change nothing.

        ``cursor`` holds the step that the sentences before it in the paragraph have reached, and is updated.
        """
        text = _normalised(sentence)
        if not re.search(r"[^\s.,;:!*_>()\[\]\"'`|#\u2014-]", text):
            return "?" not in text and ".." not in text
        bare = text.strip(" .!,:;?\u2014-\"'")
        if context.place is not Place.STEP and all(
            [self._is_form(part, context.place) for part in re.split(r",? and |, ", bare)]
        ):
            return True
        if self._is_form(bare, context.place) or (context.place is not Place.STEP and self._is_offer(bare)):
            return True
        if "?" in text:
            return False
        text = text.strip(" \"'")
        try:
            return self._is_restating(text, context, cursor)
        except NotUnderstood:
            return False

    def _is_form(self, bare: str, place: Place) -> bool:
        forms = self.vocabulary.forms
        kinds = ["any", *(["before"] if place is Place.BEFORE else ["after"] if place is Place.AFTER else [])]
        return place is not Place.STEP and any([forms[kind].fullmatch(bare) for kind in kinds])

    def _is_offer(self, bare: str) -> bool:
        """Whether a sentence is a conventional offer to explain or to change the plan, which names no step."""
        if self.vocabulary.offers.match(bare) is None:
            return False
        words = re.findall(r"[^\s,;:.!?()/\u2014]+", bare)
        return all([word in self.vocabulary.offered for word in words]) and not any(
            [
                self.plan.names.named(word) or self.plan.names.action(word) is not None
                for word in words
                if len(word) > 3 and word not in ("robot", "character", "agent")
            ]
        )

    def _is_restating(self, text: str, context: Context, cursor: list[int]) -> bool:
        place = context.place
        if _HERE.search(text.rstrip(" .:!")) and place is not Place.BEFORE:
            return False
        if "above" in text:
            if place is not Place.AFTER:
                return False
            text = _ABOVE.sub("plan", text)
        if _FOR_PEOPLE.search(text) and not re.match(r"(?:this|here|it) ", text):
            return False
        speaks_of_people = bool(self.vocabulary.persons & set(re.findall(r"[a-z]+", text)))
        for pattern, shorter in _SAME:
            text = pattern.sub(shorter, text)
        text = self.vocabulary.people.sub("\u0001", text)
        text = self.vocabulary.phrases.sub("\u0001", text).replace("\u0001's", "\u0001")
        text = self._without_counts(text)
        text = _ORDINAL_STEP.sub(self._numbered, text)
        if _OPEN_ENDED.search(text):
            return False
        numbered = None
        if match := _STEP_NUMBER.search(text):
            numbered = int(match[1]) - 1
            text = _STEP_NUMBER.sub("\u0001", text)
        text = _PHASE.sub("\u0001", text)
        tokens = self.plan.tokens_of(text)
        words = {token.text for token in tokens if token.kind == "word"}
        colon = text.rstrip().endswith(":")
        if place in (Place.BETWEEN, Place.STEP) and words & (self.vocabulary.limits | self.vocabulary.persons):
            return False
        if colon and place is Place.AFTER and words & self.vocabulary.limits and not words & EXPLAINS:
            return False
        people = words & self.vocabulary.persons
        if people and not (people <= {"you"} and words & PLANS):
            return False
        if (texts_to := _IS_TO.search(text)) and (place is not Place.BEFORE or texts_to[1] not in GOALS):
            return False
        if _STARTS_AWAY.match(text) and any([token.kind == "objects" for token in tokens[:3]]):
            return False
        if numbered is not None:
            context = Context(place, frozenset((numbered,)))
        mentions = self.clauses.mentions(tokens, context)
        if numbered is not None and not any([numbered in mention.steps for mention in mentions]):
            return False
        if not mentions:
            if words & LAST and place not in (Place.BEFORE, Place.AFTER):
                return False
            if words & (FIRST | (THEN - {"now"}) | NEEDS | {"before", "after", "step", "action"}):
                return False
            return self._without_verbs(tokens, words, context)
        if people or words & DONE or (speaks_of_people and place is not Place.BEFORE):
            return False
        if place is not Place.BEFORE and not all([t.names & self.plan.used for t in tokens if t.kind == "objects"]):
            return False
        if words & NEEDS and place is Place.AFTER and not words & {"so", "because", "since", "before"}:
            return False
        if "can" in words and not words & {"so", "before", "\u0001"} and not (place is Place.BEFORE and "how" in words):
            return False
        if "also" in words and (place is not Place.BEFORE or text.startswith("also")):
            return False
        if words & {"we", "our", "us"} and (place is not Place.BEFORE or "will" in words):
            return False
        if self._is_about_a_step(tokens, mentions) or self._is_elsewhere(tokens, mentions):
            return False
        if _COMPLETE.search(text) and len(frozenset().union(*[mention.steps for mention in mentions])) < len(
            self.plan.steps
        ):
            return False
        return self._in_order(tokens, mentions, words, context, cursor)

    def _is_about_a_step(self, tokens: list[Token], mentions: list[Mention]) -> bool:
        """Whether a step is the subject of a form of ``to be``: ``Closing the fridge is ..``."""
        first = mentions[0].at
        if tokens[first].kind != "step" and not ("ing" in tokens[first].forms and first == 0):
            return False
        passive = {at - 1 for mention in mentions for at in (mention.at, mention.at - 1)}
        return any([token.text in COPULAS and at not in passive for at, token in enumerate(tokens) if at > first])

    def _is_elsewhere(self, tokens: list[Token], mentions: list[Mention]) -> bool:
        """Whether a preposition precedes an object that no step of the sentence has: ``From the sofa, ..``."""
        if all([mention.is_state for mention in mentions]):
            return False
        handled = frozenset().union(*[self.plan.handled[number] for mention in mentions for number in mention.steps])
        preposition = ""
        for token in tokens:
            unknown = token.text in self.vocabulary.things and preposition in PLACES
            if preposition and (unknown or token.kind == "objects") and not token.names & handled:
                return True
            if token.text not in ARTICLES:
                preposition = token.text if token.text in PREPOSITIONS else ""
        return False

    def _numbered(self, match: re.Match[str]) -> str:
        """``in the second step`` as ``step 2``."""
        word = match[1]
        return f"step {len(self.plan.steps) if word in ('last', 'final') else _ORDINALS.index(word) + 1}"

    def _without_counts(self, text: str) -> str:
        """Leave out a number of steps that is the plan's."""

        def replaced(match: re.Match[str]) -> str:
            number = match[1] or match[2]
            value = int(number) if number.isdecimal() else _COUNTS.index(number) if number in _COUNTS else -1
            return "\u0001" if value == len(self.plan.steps) else match.group()

        return _STEP_COUNT.sub(replaced, text)

    def _without_verbs(self, tokens: list[Token], words: set[str], context: Context) -> bool:
        """Whether a sentence that names no action is harmless."""
        object_names = [token.names for token in tokens if token.kind == "objects"]
        if not object_names and not words & self.vocabulary.content and "\u0001" not in words:
            return False
        if words & self.vocabulary.things and words & COPULAS:
            return False
        if not object_names:
            return not any([token.kind == "state" for token in tokens])
        if context.place in (Place.STEP, Place.BETWEEN) and context.targets:
            near = frozenset().union(*[self.plan.arguments[number] for number in context.targets])
            plain = words <= ARTICLES | PREPOSITIONS | {"and", "be", "\u0001"}
            tells_of_plan = _TELLS.match(" ".join([token.text for token in tokens])) is not None
            if (
                tells_of_plan
                and context.place is Place.STEP
                and not words & (COPULAS | {"we", "our", "us", "stays", "remains"})
                and all([names & self.plan.used for names in object_names])
                and not any([t.kind == "state" for t in tokens])
            ):
                return True
            return (plain and all([names & near for names in object_names])) or self._is_location(tokens)
        if any([token.kind == "state" for token in tokens]) or not all(
            [names & self.plan.used for names in object_names]
        ):
            return False
        texts = [token.text for token in tokens]
        is_claim = bool(words & COPULAS) and texts[:1] != ["here"] and "\u0001" not in words
        if words & ASSURES or (context.place is Place.BEFORE and words & PLANS and not is_claim):
            return True
        return self._is_location(tokens)

    def _is_location(self, tokens: list[Token]) -> bool:
        """``The milk is in the fridge``, as a step or the initial state has it; ``The robot ends in the hall``."""
        shape = " ".join(
            [
                "O" if token.kind == "objects" else token.text
                for token in tokens
                if token.kind != "mark" and token.text not in ARTICLES | ADVERBS
            ]
        )
        object_names = [token.names for token in tokens if token.kind == "objects"]
        if match := _AGENT_AT.fullmatch(shape):
            begins = match[1] is not None or match[2] in STARTS
            moved = [step[-1] for step, groups in zip(self.plan.steps, self.plan.groups, strict=True) if "go" in groups]
            return begins or (bool(moved) and moved[-1] in object_names[0])
        if _THING_IS.fullmatch(shape):
            return True
        if _THING_AT.fullmatch(shape) is None:
            return False
        return all(
            [
                any([first & a and second & a for a in self.plan.arguments]) or self._is_initial(first, second)
                for first, second in pairwise(object_names)
            ]
        )

    def _is_initial(self, first: frozenset[str], last: frozenset[str]) -> bool:
        task = self.plan.names.task
        size = len(task.objects)
        codes = {
            task.object_index[a] * size + task.object_index[b]
            for a in first
            for b in last
            if a in task.object_index and b in task.object_index
        }
        return any(
            [codes & facts for predicate, facts in zip(task.predicates, task.initial_facts, strict=False)
             if len(predicate.domains) == 2]
        )  # fmt: skip

    def _in_order(
        self, tokens: list[Token], mentions: list[Mention], words: set[str], context: Context, cursor: list[int]
    ) -> bool:
        """Whether the mentions can be steps in the order of the plan."""
        texts = [token.text for token in tokens]
        ordered = list(mentions)
        if "after" in texts:
            cut = texts.index("after")
            if cut > 0:
                ordered = [m for m in mentions if m.at > cut] + [m for m in mentions if m.at < cut]
        elif texts[:1] == ["before"]:
            cut = texts.index(",") if "," in texts else len(texts)
            ordered = [m for m in mentions if m.at > cut] + [m for m in mentions if m.at < cut]
        if texts[0] == "to":  # a purpose, in no order
            cut = texts.index(",") if "," in texts else 0
            ordered = [mention for mention in ordered if mention.at > cut] or ordered
        described = bool(context.targets) and context.place is not Place.AFTER
        start = min(context.targets, default=0) if described and words & (THEN - {"now"}) else 0
        if context.place is Place.BEFORE and words & (THEN - {"now"}) and len(ordered) < 2 and cursor[0] < 0:
            return False
        leading = texts[0] in THEN or texts[:2] == ["after", "that"]
        if words & (THEN - {"now"}) and not described and len(ordered) < 2 and cursor[0] < 0:
            return False
        if (leading or (words & LAST and not ordered[-1].is_state)) and cursor[0] >= 0 and not described:
            start = cursor[0]
        if texts[0] in THEN and texts[0] != "now" and cursor[0] < 0 and not described:
            return False
        if words & (FIRST | STARTS) and 0 not in ordered[0].steps:
            return False
        if words & (LAST | ENDS) and not ordered[-1].is_state and len(self.plan.steps) - 1 not in ordered[-1].steps:
            return False
        reached, matched = start, list[int]()
        for mention in ordered:
            following = [number for number in mention.steps if number >= reached]
            if not following:
                return False
            reached = min(following)
            matched.append(reached)
        if words & {"directly", "immediately"} and len({*matched}) > 1 and max(matched) - min(matched) > 1:
            return False
        cursor[0] = reached
        return True


def _normalised(sentence: str) -> str:
    text = " ".join(sentence.lower().replace("\u2019", "'").replace("&", " and ").split())
    text = re.sub(r"[\u2013\u2014\u2015]| --? ", " \u2014 ", text)
    text = re.sub(r"[*`]+|(?<!\w)_+|_+(?!\w)", "", text)
    text = re.sub(r"[a-z]+'[a-z]+", lambda match: _SHORT.get(match.group(), match.group()), text)
    return text.strip()
