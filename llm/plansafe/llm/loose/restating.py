"""Sentences next to a plan that change nothing: made of harmless words, or restating steps of the plan.

A sentence is closed: each word must be in ``vocabulary.toml``, or name an action or an object of a step. What is not
known to be harmless is not (docs/loose-text.md says what harmless means).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from enum import Enum
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from plansafe.llm.loose.names import Names, key

_VOCABULARY = Path(__file__).with_name("vocabulary.toml")
_COUNTS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_TOKEN = re.compile(
    r"\(\s*[a-z][^()]*\)|[a-z][\w.-]*\([^()]*\)|[a-z0-9_]+(?:[-'][a-z0-9_]+)*|[.,;:!?/\u2014()]|\u0001|-+|\S"
)
_STEP_NUMBER = re.compile(r"\bstep #?(\d{1,4})\b")
_STEP_COUNT = re.compile(
    rf"\b(\d+|{'|'.join(_COUNTS)})(?:-| )(?:(?:simple|main|safe|easy) )?(?:steps?|actions?)\b|\b(?:steps?|actions|length): (\d+)(?: steps?)?"
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
    (re.compile(r"\bends up\b"), "ends"),
    (
        re.compile(
            r"^(?:with|in|by following|following) (?:this|these|the) (?:plan|sequence|approach|steps|actions)(?: of actions)?, "
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
          "i'll": "i will", "i've": "i have", "we've": "we have", "you'll": "you will", "there's": "there is",
          "what's": "what is", "they're": "they are", "we're": "we are", "i'm": "i am", "you're": "you are"}  # fmt: skip
_ARTICLES = frozenset(("the", "a", "an", "its", "this", "that"))
_COPULAS = frozenset(("is", "are", "be", "being", "been", "gets"))
_PREPOSITIONS = frozenset(
    ("from", "to", "into", "onto", "in", "inside", "within", "on", "at", "with", "for", "of", "near", "next-to", "by",
     "toward", "towards", "through", "around")
)  # fmt: skip
_ADVERBS = frozenset(("safely", "also", "carefully", "directly", "successfully", "now", "fully", "simply", "properly"))
_PARTICLES = frozenset(("up", "down", "over", "away", "out", "in", "on", "off", "to"))
_THEN = frozenset(("then", "next", "afterwards", "afterward", "subsequently", "now"))
_FIRST = frozenset(("first", "firstly", "initially"))
_LAST = frozenset(("finally", "lastly"))
_NEEDS = frozenset(("needs", "need", "must"))
_EXPLAINS = frozenset(
    [
        "explanation",
        "explanations",
        "reasoning",
        "rationale",
        "summary",
        "overview",
        "breakdown",
        "note",
        "notes",
        "why",
        "how",
        "reason",
        "reasons",
        "details",
        "key",
        "safety",
        "highlights",
        "considerations",
        "consideration",
        "points",
        "goal",
    ]
)
_ASSURES = frozenset(
    [
        "ensures",
        "ensuring",
        "ensure",
        "guarantees",
        "guaranteeing",
        "achieves",
        "satisfies",
        "maintains",
        "keeps",
        "respects",
    ]
)


class Place(Enum):
    """Where a sentence is, relative to the steps of the plan."""

    BEFORE = "before the first step"
    BETWEEN = "between two steps"
    STEP = "on the line of a step"
    AFTER = "after the last step"


class Context(NamedTuple):
    """Where a sentence is, and the numbers (from 0) of the steps that it may describe in the imperative."""

    place: Place
    targets: frozenset[int] = frozenset()
    passed: int | None = None  # how many steps are before it; all, if not given


class _Vocabulary(NamedTuple):
    words: frozenset[str]
    content: frozenset[str]
    things: frozenset[str]
    persons: frozenset[str]
    limits: frozenset[str]
    phrases: re.Pattern[str]
    offers: re.Pattern[str]
    offered: frozenset[str]
    forms: dict[str, re.Pattern[str]]
    verbs: dict[str, tuple[frozenset[str], frozenset[str]]]
    lemmas: dict[str, frozenset[str]]
    states: dict[str, str]
    synonyms: dict[str, frozenset[str]]


@cache
def _vocabulary() -> _Vocabulary:
    data = tomllib.loads(_VOCABULARY.read_text(encoding="utf-8"))
    slots: dict[str, str] = {}
    pending = dict(data["slots"])
    while pending:  # slots may use one another
        for name, pattern in list(pending.items()):
            filled = _filled(pattern, slots)
            if "{" not in filled:
                slots[name] = filled
                del pending[name]
    forms = {
        place: re.compile("|".join([f"(?:{_filled(form, slots)})" for form in listed]))
        for place, listed in data["forms"].items()
    }
    lemmas: dict[str, frozenset[str]] = {}
    verbs: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
    for group, listed in data["verbs"].items():
        for lemma in listed.split():
            lemmas[lemma] = lemmas.get(lemma, frozenset()) | {group}
            for form, kind in verb_forms(lemma, data["irregular"].get(lemma)):
                known = verbs.get(form, (frozenset(), frozenset()))
                verbs[form] = (known[0] | {group}, known[1] | {kind})
    persons = frozenset(data["words"]["persons"].split())
    limits = frozenset(data["words"]["limits"].split())
    lists = {name: frozenset(text.split()) for name, text in data["words"].items() if name != "persons"}
    words = frozenset().union(*lists.values())
    content = words - lists["function"]
    synonyms: dict[str, frozenset[str]] = {}
    for word, others in data["synonyms"].items():
        group_of_names = frozenset((word, *others.split()))
        synonyms |= dict.fromkeys(group_of_names, group_of_names)
    phrases = re.compile(rf"\b(?:{'|'.join(sorted(data['phrases']['neutral'], key=len, reverse=True))})(?![\w-])")
    offers = re.compile("|".join(data["offers"]["heads"]))
    offered = frozenset(data["offers"]["words"].split()) | lists["function"] | persons
    return _Vocabulary(
        words,
        content,
        lists["things"],
        persons,
        limits,
        phrases,
        offers,
        offered,
        forms,
        verbs,
        lemmas,
        data["states"],
        synonyms,
    )


def _filled(pattern: str, slots: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: slots.get(match[1], match.group()), pattern)


def verb_forms(lemma: str, irregular: str | None = None) -> list[tuple[str, str]]:
    """The forms of a verb, each with its kind: ``base``, ``s``, ``ing`` or ``ed``."""
    if irregular:
        third, gerund, past, participle = irregular.split()
        return [(lemma, "base"), (third, "s"), (gerund, "ing"), (past, "past"), (participle, "ed")]
    stem = lemma[:-1] if lemma.endswith("e") else lemma
    third = f"{lemma}es" if lemma.endswith(("s", "sh", "ch", "x", "o")) else f"{lemma}s"
    third = f"{lemma[:-1]}ies" if re.search(r"[^aeiou]y$", lemma) else third
    past = f"{lemma[:-1]}ied" if re.search(r"[^aeiou]y$", lemma) else f"{stem}ed"
    return [(lemma, "base"), (third, "s"), (f"{stem}ing", "ing"), (past, "ed")]


@cache
def vocabulary_verbs() -> frozenset[str]:
    """The household verbs that are known, in the imperative."""
    return frozenset(form for form, (_, kinds) in _vocabulary().verbs.items() if "base" in kinds)


class _Token(NamedTuple):
    """``kind``: ``word``, ``verb``, ``state``, ``objects``, ``step`` or ``mark``; ``names`` are groups or objects."""

    kind: str
    text: str
    names: frozenset[str] = frozenset()
    forms: frozenset[str] = frozenset()


class _Mention(NamedTuple):
    """An action that a sentence names: the steps that it may be, and where in the sentence it is."""

    steps: frozenset[int]
    at: int
    imperative: bool = False
    is_state: bool = False


class _NotUnderstood(Exception):
    """Something in the sentence is not known to be harmless."""


class PlanWords:
    """The steps of a plan, as sentences may restate them."""

    def __init__(self, steps: Sequence[str], names: Names) -> None:
        self.names = names
        self.vocabulary = _vocabulary()
        self.tokens = [tuple(step.lower().strip("()").split()) for step in steps]
        self.arguments = [frozenset(tokens[1:]) for tokens in self.tokens]
        self.used = frozenset().union(*self.arguments)
        self.groups: list[frozenset[str]] = []
        for tokens in self.tokens:
            first, *more = re.split(r"[-_]", tokens[0])
            groups = self.vocabulary.lemmas.get(first, frozenset()) | {first}
            side = {"on", "off"} & set(more) if "switch" in groups else set()
            groups = frozenset(f"switch-{each}" for each in side) if side else groups
            reached = self._effects(tokens[0]) & _REACHED
            self.groups.append(groups | {self.vocabulary.states[word] for word in reached})
        own = {re.split(r"[-_]", name)[0] for name in names.task.actions}
        self.verbs = dict(self.vocabulary.verbs)
        for verb in own:
            for form, kind in verb_forms(verb):
                known = self.verbs.get(form, (frozenset(), frozenset()))
                self.verbs[form] = (known[0] | {verb}, known[1] | {kind})
        self.effects = [self._effects(tokens[0]) for tokens in self.tokens]
        self.heads: dict[str, frozenset[str]] = {}
        for name in self.used:
            for word in {re.split(r"[-_]", name)[-1], re.split(r"[-_]", re.sub(r"[-_]?\d+$", "", name))[-1]}:
                self.heads[word] = self.heads.get(word, frozenset()) | {name}

    def _effects(self, name: str) -> frozenset[str]:
        """The words of the facts that an action makes true."""
        action = self.names.task.actions.get(name)
        snaps = () if action is None else (action.start, *(() if action.end is None else (action.end,)))
        predicates = {atom.predicate for snap in snaps for effect in snap.effects for atom in effect.adds}
        names = [self.names.task.predicates[predicate].name for predicate in predicates]
        return frozenset(word for each in names for word in re.split(r"[-_]", each.lower()))

    # -- sentences ----------------------------------------------------------------------------------------------------

    def is_harmless(self, sentence: str, context: Context, cursor: list[int]) -> bool:
        """Whether a sentence is known to change nothing.

        ``cursor`` holds the step that the sentences before it in the paragraph have reached, and is updated.
        """
        text = _normalised(sentence)
        if not re.search(r"[^\s.,;:!*_>()\[\]\"'`|#\u2014-]", text):
            return "?" not in text
        bare = text.strip(" .!,:;?\u2014-\"'")
        if context.place is not Place.STEP and all(
            [self._is_form(part, context.place) for part in re.split(r",? and |, ", bare)]
        ):
            return True
        if self._is_form(bare, context.place) or (context.place is not Place.STEP and self._is_offer(bare)):
            return True
        if "?" in text:
            return False
        try:
            return self._is_restating(text.strip(" \"'"), context, cursor)
        except _NotUnderstood:
            return False

    def _is_form(self, bare: str, place: Place) -> bool:
        forms = self.vocabulary.forms
        kinds = ["any", *(["before"] if place is Place.BEFORE else ["after"] if place is Place.AFTER else [])]
        return place is not Place.STEP and any([forms[kind].fullmatch(bare) for kind in kinds])

    def names_arguments(self, text: str, targets: frozenset[int]) -> bool:
        """Whether a text is nothing but arguments of the steps that it is next to."""
        words = re.findall(r"[^\s,;]+", text.lower())
        known = {key(name) for number in targets for name in self.arguments[number]}
        return bool(words) and all([key(word.strip("*`_|")) in known for word in words])

    def is_action(self, text: str) -> bool:
        """Whether a text is the name of an action that the plan has."""
        return key(text) in {key(tokens[0]) for tokens in self.tokens}

    def _is_offer(self, bare: str) -> bool:
        """Whether a sentence is a conventional offer to explain or to change the plan, which names no step."""
        if self.vocabulary.offers.match(bare) is None:
            return False
        words = re.findall(r"[^\s,;:.!?()/\u2014]+", bare)
        return all([word in self.vocabulary.offered for word in words]) and not any(
            [self.names.named(word) or self.names.action(word) is not None for word in words if len(word) > 3]
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
        tokens = self._tokens(text)
        words = {token.text for token in tokens if token.kind == "word"}
        colon = text.rstrip().endswith(":")
        if place in (Place.BETWEEN, Place.STEP) and words & (self.vocabulary.limits | self.vocabulary.persons):
            return False
        if colon and place is Place.AFTER and words & self.vocabulary.limits and not words & _EXPLAINS:
            return False
        people = words & self.vocabulary.persons
        if people and not (people <= {"you"} and words & _PLANS):
            return False
        if (texts_to := _IS_TO.search(text)) and (place is not Place.BEFORE or texts_to[1] not in _GOALS):
            return False
        if _STARTS_AWAY.match(text) and any([token.kind == "objects" for token in tokens[:3]]):
            return False
        if numbered is not None:
            context = Context(place, frozenset((numbered,)))
        mentions = self._mentions(tokens, context)
        if numbered is not None and not any([numbered in mention.steps for mention in mentions]):
            return False
        if not mentions:
            if words & _LAST and place not in (Place.BEFORE, Place.AFTER):
                return False
            if words & (_FIRST | (_THEN - {"now"}) | _NEEDS | {"before", "after", "step", "action", "can"}):
                return False
            return self._without_verbs(tokens, words, context)
        if people or words & _DONE or (speaks_of_people and place is not Place.BEFORE):
            return False
        if place is not Place.BEFORE and not all([t.names & self.used for t in tokens if t.kind == "objects"]):
            return False
        if words & _NEEDS and place is Place.AFTER and not words & {"so", "because", "since"}:
            return False
        if "can" in words and not words & {"so", "\u0001"} and not (place is Place.BEFORE and "how" in words):
            return False
        if words & {"we", "our", "us"} and (place is not Place.BEFORE or "will" in words):
            return False
        if self._is_about_a_step(tokens, mentions):
            return False
        if _WHOLE.search(text) and len(frozenset().union(*[mention.steps for mention in mentions])) < len(self.tokens):
            return False
        return self._in_order(tokens, mentions, words, context, cursor)

    def _is_about_a_step(self, tokens: list[_Token], mentions: list[_Mention]) -> bool:
        """Whether a step is the subject of a form of ``to be``: ``Closing the fridge is ..``."""
        first = mentions[0].at
        if tokens[first].kind != "step" and not ("ing" in tokens[first].forms and first == 0):
            return False
        passive = {at - 1 for mention in mentions for at in (mention.at, mention.at - 1)}
        return any([token.text in _COPULAS and at not in passive for at, token in enumerate(tokens) if at > first])

    def _numbered(self, match: re.Match[str]) -> str:
        """``in the second step`` as ``step 2``."""
        word = match[1]
        return f"step {len(self.tokens) if word in ('last', 'final') else _ORDINALS.index(word) + 1}"

    def _without_counts(self, text: str) -> str:
        """Leave out a number of steps that is the plan's."""

        def replaced(match: re.Match[str]) -> str:
            number = match[1] or match[2]
            value = int(number) if number.isdecimal() else _COUNTS.index(number) if number in _COUNTS else -1
            return "\u0001" if value == len(self.tokens) else match.group()

        return _STEP_COUNT.sub(replaced, text)

    # -- words --------------------------------------------------------------------------------------------------------

    def _tokens(self, text: str) -> list[_Token]:
        raw = _TOKEN.findall(text)
        tokens: list[_Token] = []
        position = 0
        while position < len(raw):
            count, token = self._token(raw, position)
            tokens.append(token)
            position += count
        return [
            _Token("word", token.text) if token.text == "on" and self._takes_object(tokens, at) else token
            for at, token in enumerate(tokens)
        ]

    def _token(self, raw: list[str], at: int) -> tuple[int, _Token]:
        word = raw[at]
        if word[-1] == ")" and len(word) > 1:
            if (steps := self._steps_written(word)) is not None:
                return 1, _Token("step", word, steps)
            raw[at : at + 1] = re.findall(r"[a-z0-9_]+(?:[-'][a-z0-9_]+)*|\S", word)
            word = raw[at]
        if not word[0].isalnum():
            if word in ".,;:!/\u2014()\u0001" or set(word) == {"-"}:
                return 1, _Token("word" if word == "\u0001" else "mark", word)
            raise _NotUnderstood(word)
        if word not in self.vocabulary.words or len(word) > 2:
            for count in range(min(4, len(raw) - at), 0, -1):
                if names := self._objects("-".join(raw[at : at + count])):
                    return count, _Token("objects", " ".join(raw[at : at + count]), names)
        if word in self.verbs:
            groups, forms = self.verbs[word]
            if word in self.vocabulary.states:
                return 1, _Token("state", word, groups | {self.vocabulary.states[word]}, forms)
            return 1, _Token("verb", word, groups, forms)
        if word not in self.vocabulary.words and any([word in words for words in self.effects]):
            return 1, _Token("state", word, frozenset((self.vocabulary.states.get(word, word),)))
        if word in self.vocabulary.states:
            return 1, _Token("state", word, frozenset((self.vocabulary.states[word],)))
        if word in self.vocabulary.words or word in self.vocabulary.persons or word in _KNOWN:
            return 1, _Token("word", word)
        if "-" in word or "_" in word:
            raw[at : at + 1] = [part for part in re.split(r"[-_]", word) if part] or ["?"]
            return self._token(raw, at)
        if word.endswith("'s"):
            raw[at] = word[:-2]
            return self._token(raw, at)
        raise _NotUnderstood(word)

    def _objects(self, text: str) -> frozenset[str]:
        """The objects that words may name."""
        found: set[str] = set()
        for each in {text, text[:-1] if text.endswith("s") else text}:
            found.update(self.names.named(each))
            found |= self.heads.get(each, frozenset())
            for other in self.vocabulary.synonyms.get(each, ()):
                found.update(self.names.named(other))
                found |= self.heads.get(other, frozenset())
        return frozenset(found)

    def _steps_written(self, text: str) -> frozenset[str] | None:
        """The steps that ``(action object ..)`` or ``action(object, ..)`` is; ``None`` if it is no step of the plan."""
        head, _, body = text.partition("(")
        parts = [key(part.strip(" \"'")) for part in re.split(r"[\s,]+", f"{head} {body.rstrip(')')}") if part]
        same = {
            str(number)
            for number, step in enumerate(self.tokens)
            if parts in ([key(each) for each in step], [key(step[0]), *map(key, step[2:])])
        }
        if not same and (head or self.names.action(parts[0] if parts else "") is not None):
            raise _NotUnderstood(text)
        return frozenset(same) or None

    # -- sentences without an action ----------------------------------------------------------------------------------

    def _without_verbs(self, tokens: list[_Token], words: set[str], context: Context) -> bool:
        """Whether a sentence that names no action is harmless."""
        named = [token.names for token in tokens if token.kind == "objects"]
        if not named and not words & self.vocabulary.content and "\u0001" not in words:
            return False
        if words & self.vocabulary.things and words & _COPULAS:
            return False
        if not named:
            return not any([token.kind == "state" for token in tokens])
        if context.place in (Place.STEP, Place.BETWEEN) and context.targets:
            near = frozenset().union(*[self.arguments[number] for number in context.targets])
            plain = words <= _ARTICLES | _PREPOSITIONS | {"and", "be", "\u0001"}
            return (plain and all([names & near for names in named])) or self._is_location(tokens)
        if any([token.kind == "state" for token in tokens]) or not all([names & self.used for names in named]):
            return False
        if words & _ASSURES or (context.place is Place.BEFORE and words & _PLANS):
            return True
        return self._is_location(tokens)

    def _is_location(self, tokens: list[_Token]) -> bool:
        """``The milk is in the fridge``, as a step or the initial state has it; ``The robot ends in the hall``."""
        shape = " ".join(
            [
                "O" if token.kind == "objects" else token.text
                for token in tokens
                if token.kind != "mark" and token.text not in _ARTICLES | _ADVERBS
            ]
        )
        named = [token.names for token in tokens if token.kind == "objects"]
        if match := _AGENT_AT.fullmatch(shape):
            begins = match[1] is not None or match[2] in _STARTS
            moved = [step[-1] for step, groups in zip(self.tokens, self.groups, strict=True) if "go" in groups]
            return begins or (bool(moved) and moved[-1] in named[0])
        if _THING_IS.fullmatch(shape):
            return True
        if _THING_AT.fullmatch(shape) is None:
            return False
        return all(
            [
                any([first & a and second & a for a in self.arguments]) or self._is_initial(first, second)
                for first, second in pairwise(named)
            ]
        )

    def _is_initial(self, first: frozenset[str], last: frozenset[str]) -> bool:
        task = self.names.task
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

    # -- sentences that name actions ----------------------------------------------------------------------------------

    def _mentions(self, tokens: list[_Token], context: Context) -> list[_Mention]:
        mentions: list[_Mention] = []
        accepted: list[int] = []  # verbs that are not in the imperative
        used: set[int] = set()  # particles that belong to a verb
        for at, token in enumerate(tokens):
            if token.kind == "step":
                mentions.append(_Mention(frozenset(map(int, token.names)), at))
            elif token.kind == "state" and at not in used and self._is_state(tokens, at):
                mentions.append(self._state(tokens, at, context))
            elif (
                token.kind in ("verb", "state")
                and at not in used
                and not self._is_copula(tokens, at)
                and not self._is_noun(tokens, at)
            ):
                if mention := self._verb(tokens, at, used, context, accepted):
                    mentions.append(mention)
            elif token.kind == "word" and token.text in _PARTICLES and at not in used:
                following = tokens[at + 1] if at + 1 < len(tokens) else None
                if token.text not in ("in", "to", "on") or following is None or following.kind == "mark":
                    raise _NotUnderstood(token.text)
        return mentions

    def _is_copula(self, tokens: list[_Token], at: int) -> bool:
        """``gets`` in ``it gets hot``."""
        following = next((token for token in tokens[at + 1 :] if token.text not in _ADVERBS), None)
        passive = following is not None and (following.kind == "state" or following.forms & {"ed"})
        return tokens[at].text in _COPULAS and bool(passive)

    def _is_noun(self, tokens: list[_Token], at: int) -> bool:
        """``a look``, ``in place``, ``on the table``: no action."""
        token, before = tokens[at], tokens[at - 1].text if at else ""
        return before in _BEFORE_NOUNS and (token.text in self.vocabulary.words or token.text in ("heat", "check"))

    def _is_state(self, tokens: list[_Token], at: int) -> bool:
        """Whether a word such as ``off`` follows a form of ``to be``, or the object in ``with the stove off``."""
        before = at - 1
        while before >= 0 and tokens[before].text in _ADVERBS:
            before -= 1
        if before < 0:
            return False
        if tokens[before].text in _COPULAS or tokens[before].text in ("and",):
            return tokens[before].text in _COPULAS
        leads = [token.text for token in tokens[max(0, before - 3) : before]]
        return tokens[before].kind == "objects" and ("with" in leads or "keeps" in leads)

    def _state(self, tokens: list[_Token], at: int, context: Context) -> _Mention:
        """The steps that reach a state, if no later one leaves it."""
        word = tokens[at].text
        group = self.vocabulary.states.get(word, "")
        named = [token for token in tokens[:at] if token.kind == "objects"]
        if not named:
            raise _NotUnderstood(word)
        if "it" in [token.text for token in tokens[max(0, at - 3) : at]]:
            named.append(named[-1]._replace(names=frozenset().union(*[token.names for token in named])))
        if not any([group in groups for groups in self.groups]):
            reached = [
                n for n, words in enumerate(self.effects) if word in words and named[-1].names & self.arguments[n]
            ]
            if not reached:
                raise _NotUnderstood(word)
            return _Mention(frozenset(reached), at, is_state=True)
        steps = [n for n, groups in enumerate(self.groups) if group in groups and named[-1].names & self.arguments[n]]
        passed = len(self.groups) if context.passed is None else context.passed
        opposite = _OPPOSITES.get(group, "")
        objects = named[-1].names & frozenset().union(*[self.arguments[n] for n in steps])
        left = [
            n
            for n, groups in enumerate(self.groups)
            if n < passed and opposite in groups and objects & self.arguments[n]
        ]
        if not steps or (left and max(left) > max(steps)):
            raise _NotUnderstood(word)
        return _Mention(frozenset(steps), at, is_state=True)

    def _verb(
        self, tokens: list[_Token], at: int, used: set[int], context: Context, accepted: list[int]
    ) -> _Mention | None:
        """The steps that a verb with its objects may be."""
        token = tokens[at]
        copula = self._has_copula(tokens, at)
        before = [each.text for each in tokens[:at]]
        while before and before[-1] in _ADVERBS:
            before.pop()
        imperative = False
        if token.forms <= {"past", "ed"} or ("ed" in token.forms and copula):
            if not copula:
                raise _NotUnderstood(token.text)
        elif token.forms & {"base"}:
            last = before[-1] if before else ""
            led = last in ("to", "will", "can", "we", "\u0001")
            joined = last in ("and", "then", ",") and bool(accepted)
            imperative = not led and not joined
        segment = self._segment(tokens, at, used)
        groups = token.names
        if "switch" in groups or segment.side:
            groups = (
                frozenset((f"switch-{segment.side}",)) if segment.side and "switch" in groups else groups - {"switch"}
            )
        if "off" in segment.sides and "switch" not in token.names:
            raise _NotUnderstood(token.text)
        if token.text in ("leave", "leaves", "leaving", "left") and not segment.is_place:
            raise _NotUnderstood(token.text)
        subjects = [] if "base" in token.forms and not copula else self._subjects(tokens, at)
        steps = {number for number in range(len(self.tokens)) if self._may_be(number, groups, segment, subjects)}
        if not steps:
            purpose = before[-1:] == ["to"] and not {*before[-2:-1]} & (_COPULAS | {"must"})
            things = (*segment.direct, *segment.others)
            if purpose and not groups & frozenset().union(*self.groups) and all([each & self.used for each in things]):
                accepted.append(at)
                return None
            raise _NotUnderstood(token.text)
        if not imperative:
            accepted.append(at)
        if imperative:
            if before and before[-1] not in _BEFORE_IMPERATIVES:
                raise _NotUnderstood(token.text)
            steps &= context.targets
            if not steps:
                raise _NotUnderstood(token.text)
        return _Mention(frozenset(steps), at, imperative)

    def _may_be(self, number: int, groups: frozenset[str], segment: _Segment, subjects: list[frozenset[str]]) -> bool:
        """Whether a verb with its subjects and objects may be a step."""
        arguments = self.arguments[number]
        shared = groups & self.groups[number]
        if not shared or not all([names & arguments for names in (*segment.direct, *subjects)]):
            return False
        if shared == {"go"} and not (
            all([names & arguments for names in segment.others[:1]])
            and all([self.tokens[number][-1] in names for names in segment.reached])
            and not any([names <= {self.tokens[number][-1]} for names in segment.left])
        ):
            return False
        return all([names & self.used for names in segment.others]) and all(
            [names & (arguments | self._around(number)) for names in segment.located]
        )

    def _around(self, number: int) -> frozenset[str]:
        """Where the robot may be at a step, as the steps that move it say."""
        before = [
            tokens[-1] for tokens, groups in zip(self.tokens[:number], self.groups, strict=False) if "go" in groups
        ]
        later = [
            tokens[1:-1]
            for tokens, groups in zip(self.tokens[number:], self.groups[number:], strict=True)
            if "go" in groups
        ]
        return frozenset((*before[-1:], *(later[0] if later else ())))

    def _has_copula(self, tokens: list[_Token], at: int) -> bool:
        for token in reversed(tokens[max(0, at - 3) : at]):
            if token.text in _COPULAS or token.text == "\u0001":
                return True
            if token.text not in _ADVERBS:
                return False
        return False

    def _subjects(self, tokens: list[_Token], at: int) -> list[frozenset[str]]:
        """The objects between the clause's beginning and its verb."""
        subjects: list[frozenset[str]] = []
        for token in reversed(tokens[:at]):
            if token.kind in ("verb", "step", "state") or token.text in _BOUNDARIES | {"and"}:
                break
            if token.text in _PREPOSITIONS and subjects:
                subjects.pop()
            elif token.kind == "objects":
                subjects.append(token.names)
        return subjects

    def _segment(self, tokens: list[_Token], at: int, used: set[int]) -> _Segment:
        direct: list[frozenset[str]] = []
        others: list[frozenset[str]] = []
        located: list[frozenset[str]] = []
        reached: list[frozenset[str]] = []
        left: list[frozenset[str]] = []
        sides: list[str] = []
        preposition = ""
        place = True
        for number in range(at + 1, len(tokens)):
            token = tokens[number]
            nothing_after = number + 1 == len(tokens) or tokens[number + 1].kind == "mark"
            if token.text in ("on", "off") and (
                sides or not self._takes_object(tokens, number) or "switch" in tokens[at].names
            ):
                if "switch" not in tokens[at].names or sides:
                    place = False
                    break
                sides.append(token.text)
                used.add(number)
                continue
            if token.kind == "word" and token.text in _PARTICLES and number == at + 1:
                used.add(number)
                if token.text == "off":
                    sides.append(token.text)
                if token.text not in ("to", "in", "on") or nothing_after:
                    continue
            if token.kind in ("verb", "step", "state") or token.text in _BOUNDARIES | _ASSURES:
                place = place and token.kind not in ("state",)
                break
            if token.text in _PREPOSITIONS:
                used.add(number)
                preposition = token.text
            elif token.kind == "objects":
                (others if preposition else direct).append(token.names)
                if preposition in ("to", "into", "onto", "toward", "towards"):
                    reached.append(token.names)
                elif preposition == "from":
                    left.append(token.names)
                if preposition in ("in", "at", "inside", "within") and not tokens[at].names & {"put", "go"}:
                    located.append(token.names)
            elif token.kind == "word" and token.text in _PARTICLES:
                used.add(number)
        return _Segment(direct, others, located, reached, left, sides, place)

    def _takes_object(self, tokens: list[_Token], at: int) -> bool:
        following = tokens[at + 1] if at + 1 < len(tokens) else None
        return following is not None and (following.kind == "objects" or following.text in _ARTICLES)

    def _in_order(
        self, tokens: list[_Token], mentions: list[_Mention], words: set[str], context: Context, cursor: list[int]
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
        start = min(context.targets, default=0) if described and words & (_THEN - {"now"}) else 0
        if context.place is Place.BEFORE and words & (_THEN - {"now"}) and len(ordered) < 2 and cursor[0] < 0:
            return False
        leading = texts[0] in _THEN or texts[:2] == ["after", "that"]
        if words & (_THEN - {"now"}) and not described and len(ordered) < 2 and cursor[0] < 0:
            return False
        if (leading or words & _LAST) and cursor[0] >= 0 and not described:
            start = cursor[0]
        if texts[0] in _THEN and texts[0] != "now" and cursor[0] < 0 and not described:
            return False
        if words & (_FIRST | _STARTS) and 0 not in ordered[0].steps:
            return False
        if words & (_LAST | _ENDS) and not ordered[-1].is_state and len(self.tokens) - 1 not in ordered[-1].steps:
            return False
        reached, taken = start, list[int]()
        for mention in ordered:
            following = [number for number in mention.steps if number >= reached]
            if not following:
                return False
            reached = min(following)
            taken.append(reached)
        if words & {"directly", "immediately"} and len({*taken}) > 1 and max(taken) - min(taken) > 1:
            return False
        cursor[0] = reached
        return True


class _Segment(NamedTuple):
    """What follows a verb: its objects, those after a preposition, ``on`` or ``off``, and whether it ends as a place."""

    direct: list[frozenset[str]]
    others: list[frozenset[str]]
    located: list[frozenset[str]]
    reached: list[frozenset[str]]
    left: list[frozenset[str]]
    sides: list[str]
    is_place: bool

    @property
    def side(self) -> str:
        return self.sides[0] if self.sides else ""


_AGENT_AT = re.compile(
    r"(initially |currently )?(?:robot|character|agent) (is|will be|starts|begins|ends|finishes) (?:in|at|inside|near) O(?: lastly)?"
)
_THING_IS = re.compile(r"O (?:is|are|remains) (?:safe|secure|secured|reachable|accessible|\u0001)")
_THING_AT = re.compile(
    r"(?:initially |currently |because |since )?O (?:is |are |ends )?(?:in|at|on|inside|near) O(?: in O)?(?: \u0001)?"
)
_BEFORE_IMPERATIVES = (
    _THEN
    | _FIRST
    | _LAST
    | frozenset((",", ";", ":", ".", "\u2014", "and", "please", "to", "\u0001", "that", "(", "before", "after"))
)
_BEFORE_NOUNS = frozenset(
    ["the", "a", "an", "of", "in", "with", "for", "some", "this", "proper", "correct", "its", "their", "safety"]
)
_PLANS = frozenset(["plan", "plans", "sequence", "steps", "actions", "task", "solution", "answer", "goal"])
_GOALS = frozenset(("goal", "objective", "aim", "purpose"))
_DONE = frozenset(["complete", "completed", "executed", "performed", "achieved", "accomplished"])
_STARTS = frozenset(["start", "starts", "starting", "begin", "begins", "beginning"])
_ENDS = frozenset(["end", "ends", "ending", "finish", "finishes", "finishing"])
_IS_TO = re.compile(r"\b(\w+) (?:is|are|will be) to\b")
_FOR_PEOPLE = re.compile(r"\b(?:is|are) (?:your|my|for (?:you|me))\b")
_WHOLE = re.compile(  # what follows is said to be all of the plan
    r"\b(?:consists?|contains?|required|needed|necessary|whole|entire|complete)\b|\b(?:actions?|steps?|answer|solution|result|output|sequence"
    r"|plan|outcome) ?(?:is|are|:(?=.*\w))(?! (?:that|to|safe|as|in|because|since|valid|based|executable|followed))"
)
_STARTS_AWAY = re.compile(r"(?:in|at|inside|on|near|within)\b")
_OPPOSITES = {"switch-on": "switch-off", "switch-off": "switch-on", "open": "close", "close": "open"}
_BOUNDARIES = frozenset(
    (",", ";", ":", "\u2014", ".", "before", "after", "so", "because", "where", "since", "which", "that", "then")
)
_REACHED = frozenset(("hot", "warm", "clean", "full", "cool"))
_KNOWN = (
    _THEN
    | _FIRST
    | _LAST
    | _NEEDS
    | _PARTICLES
    | _COPULAS
    | _PREPOSITIONS
    | {"before", "after", "step", "action", "can", "left", "has", "have"}
)


def _normalised(sentence: str) -> str:
    text = " ".join(sentence.lower().replace("\u2019", "'").replace("&", " and ").split())
    text = re.sub(r"[\u2013\u2014\u2015]| --? ", " \u2014 ", text)
    text = re.sub(r"[*`]+|(?<!\w)_+|_+(?!\w)", "", text)
    text = re.sub(r"[a-z]+'[a-z]+", lambda match: _SHORT.get(match.group(), match.group()), text)
    return text.strip()
