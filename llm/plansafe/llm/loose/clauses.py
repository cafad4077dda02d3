"""The clauses of a sentence next to a plan: which steps its verbs and its words for states may be."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from plansafe.llm.loose.plan_words import NotUnderstood, PlanWords, Token, takes_object
from plansafe.llm.loose.prepositions import ends
from plansafe.llm.loose.vocabulary import (
    ADJECTIVES,
    ADVERBS,
    ARTICLES,
    ASSURES,
    BEFORE_NOUNS,
    BOUNDARIES,
    COPULAS,
    FIRST,
    LAST,
    PARTICLES,
    PLACES,
    PREPOSITIONS,
    THEN,
)

_BEFORE_IMPERATIVES = (
    THEN
    | FIRST
    | LAST
    | frozenset((",", ";", ":", ".", "\u2014", "and", "please", "to", "\u0001", "that", "(", "before", "after"))
)
_OPPOSITES = {"switch-on": "switch-off", "switch-off": "switch-on", "open": "close", "close": "open"}


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


class Mention(NamedTuple):
    """An action that a sentence names: the steps that it may be, and where in the sentence it is."""

    steps: frozenset[int]
    at: int
    imperative: bool = False
    is_state: bool = False


class Segment(NamedTuple):
    """The words after a verb: objects, objects after a preposition, ``on`` or ``off``, and if it ends as a place."""

    direct: list[frozenset[str]]
    others: list[frozenset[str]]
    reached: list[frozenset[str]]
    left: list[frozenset[str]]
    sides: list[str]
    is_place: bool

    @property
    def side(self) -> str:
        """``on``, ``off`` or nothing."""
        return self.sides[0] if self.sides else ""


class Clauses:
    """Finds the steps that sentences name."""

    def __init__(self, plan: PlanWords) -> None:
        self.plan = plan
        self.vocabulary = plan.vocabulary

    def mentions(self, tokens: list[Token], context: Context) -> list[Mention]:
        """The actions and states that a sentence names.

        Raises :class:`NotUnderstood` if one is not a step of the plan.
        """
        mentions: list[Mention] = []
        accepted: list[int] = []  # verbs that are not in the imperative
        used: set[int] = set()  # particles that belong to a verb
        for at, token in enumerate(tokens):
            if token.kind == "step":
                mentions.append(Mention(frozenset(map(int, token.names)), at))
            elif token.kind in ("state", "verb") and token.text in ADJECTIVES and self._is_noun(tokens, at):
                continue
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
            elif token.kind == "word" and token.text in PARTICLES and at not in used:
                following = tokens[at + 1] if at + 1 < len(tokens) else None
                if token.text not in ("in", "to", "on") or following is None or following.kind == "mark":
                    raise NotUnderstood(token.text)
        return mentions

    def _is_copula(self, tokens: list[Token], at: int) -> bool:
        """``gets`` in ``it gets hot``."""
        following = next((token for token in tokens[at + 1 :] if token.text not in ADVERBS), None)
        passive = following is not None and (following.kind == "state" or following.forms & {"ed"})
        return tokens[at].text in COPULAS and bool(passive)

    def _is_noun(self, tokens: list[Token], at: int) -> bool:
        """``a look``, ``in place``, ``on the table``, ``the hot milk``: no action."""
        token, before = tokens[at], tokens[at - 1].text if at else ""
        if token.text in ADJECTIVES and before in BEFORE_NOUNS and takes_object(tokens, at):
            return tokens[at + 1].kind == "objects"
        return before in BEFORE_NOUNS and (token.text in self.vocabulary.words or token.text in ("heat", "check"))

    def _is_state(self, tokens: list[Token], at: int) -> bool:
        """Whether a word such as ``off`` follows a form of ``to be``, or the object in ``with the stove off``."""
        before = at - 1
        while before >= 0 and tokens[before].text in ADVERBS:
            before -= 1
        if before < 0:
            return False
        if tokens[before].text in COPULAS or tokens[before].text in ("and",):
            return tokens[before].text in COPULAS
        causes = {token.text for token in tokens[max(0, before - 2) : before]} & {"making", "makes", "keeping", "keeps"}
        if causes and (tokens[before].text == "it" or tokens[before].kind == "objects"):
            return True
        leads = [token.text for token in tokens[max(0, before - 3) : before]]
        return tokens[before].kind == "objects" and ("with" in leads or "keeps" in leads)

    def _state(self, tokens: list[Token], at: int, context: Context) -> Mention:
        """The steps that reach a state, if no later one leaves it."""
        word = tokens[at].text
        group = self.vocabulary.states.get(word, "")
        object_tokens = [token for token in tokens[:at] if token.kind == "objects"]
        if not object_tokens:
            raise NotUnderstood(word)
        if "it" in [token.text for token in tokens[max(0, at - 3) : at]]:
            object_tokens.append(
                object_tokens[-1]._replace(names=frozenset().union(*[token.names for token in object_tokens]))
            )
        if not any([group in groups for groups in self.plan.groups]):
            reached = [
                n
                for n, words in enumerate(self.plan.effects)
                if word in words and object_tokens[-1].names & self.plan.arguments[n]
            ]
            if not reached:
                raise NotUnderstood(word)
            return Mention(frozenset(reached), at, is_state=True)
        steps = [
            n
            for n, groups in enumerate(self.plan.groups)
            if group in groups and object_tokens[-1].names & self.plan.arguments[n]
        ]
        passed = len(self.plan.groups) if context.passed is None else context.passed
        opposite = _OPPOSITES.get(group, "")
        objects = object_tokens[-1].names & frozenset().union(*[self.plan.arguments[n] for n in steps])
        left = [
            n
            for n, groups in enumerate(self.plan.groups)
            if n < passed and opposite in groups and objects & self.plan.arguments[n]
        ]
        if not steps or (left and max(left) > max(steps)):
            raise NotUnderstood(word)
        return Mention(frozenset(steps), at, is_state=True)

    def _verb(
        self, tokens: list[Token], at: int, used: set[int], context: Context, accepted: list[int]
    ) -> Mention | None:
        """The steps that a verb with its objects may be."""
        token = tokens[at]
        copula = self._has_copula(tokens, at)
        before = [entry.text for entry in tokens[:at]]
        while before and before[-1] in ADVERBS:
            before.pop()
        imperative, reduced = False, False
        if token.forms <= {"past", "ed"} or ("ed" in token.forms and copula):
            reduced = (
                at > 0 and tokens[at - 1].kind == "objects" and "with" in before[-3:]
            )  # "with the stove turned off"
            if not copula and not reduced:
                raise NotUnderstood(token.text)
        elif token.forms & {"base"}:
            last = before[-1] if before else ""
            led = last in ("to", "must", "will", "can", "we", "\u0001")
            joined = last in ("and", "then", ",") and bool(accepted)
            imperative = not led and not joined
        segment = self._segment(tokens, at, used)
        groups = token.names
        if "switch" in groups or segment.side:
            groups = (
                frozenset((f"switch-{segment.side}",)) if segment.side and "switch" in groups else groups - {"switch"}
            )
        if "off" in segment.sides and "switch" not in token.names:
            raise NotUnderstood(token.text)
        if token.text in ("leave", "leaves", "leaving", "left") and not segment.is_place:
            raise NotUnderstood(token.text)
        subjects = [] if "base" in token.forms and not copula else self._subjects(tokens, at)
        subjects = [tokens[at - 1].names] if reduced else subjects
        steps = {number for number in range(len(self.plan.steps)) if self._may_be(number, groups, segment, subjects)}
        if not steps:
            purpose = before[-1:] == ["to"] and not {*before[-2:-1]} & (COPULAS | {"must"})
            mentioned = (*segment.direct, *segment.others)
            if (
                purpose
                and not groups & frozenset().union(*self.plan.groups)
                and all([entry & self.plan.used for entry in mentioned])
            ):
                accepted.append(at)
                return None
            raise NotUnderstood(token.text)
        if not imperative:
            accepted.append(at)
        if imperative:
            if before and before[-1] not in _BEFORE_IMPERATIVES:
                raise NotUnderstood(token.text)
            steps &= context.targets
            if not steps:
                raise NotUnderstood(token.text)
        return Mention(frozenset(steps), at, imperative)

    def _may_be(self, number: int, groups: frozenset[str], segment: Segment, subjects: list[frozenset[str]]) -> bool:
        """Whether a verb with its subjects and objects may be a step."""
        arguments = self.plan.arguments[number]
        handled = self.plan.handled[number]
        shared = groups & self.plan.groups[number]
        if not shared or not all([names & handled for names in (*segment.direct, *subjects)]):
            return False
        if shared == {"go"} and not (
            all([names & arguments for names in segment.others[:1]])
            and all([self.plan.steps[number][-1] in names for names in segment.reached])
            and not any([names <= {self.plan.steps[number][-1]} for names in segment.left])
        ):
            return False
        origins, destinations = self._ends(number)
        return (
            all([names & handled for names in segment.others])
            and all([names & (handled - destinations) for names in segment.left])
            and all([names & (handled - origins) for names in segment.reached])
        )

    def _ends(self, number: int) -> tuple[frozenset[str], frozenset[str]]:
        """The arguments that a step only leaves, and those that it only reaches."""
        name, *arguments = self.plan.steps[number]
        action = self.plan.names.task.actions.get(name)
        left, reached = (frozenset(), frozenset()) if action is None else ends(action)
        origins = frozenset([object_name for at, object_name in enumerate(arguments) if at in left])
        destinations = frozenset([object_name for at, object_name in enumerate(arguments) if at in reached])
        return origins - destinations, destinations - origins

    def _has_copula(self, tokens: list[Token], at: int) -> bool:
        for token in reversed(tokens[max(0, at - 3) : at]):
            if token.text in COPULAS or token.text == "\u0001":
                return True
            if token.text not in ADVERBS:
                return False
        return False

    def _subjects(self, tokens: list[Token], at: int) -> list[frozenset[str]]:
        """The objects between the clause's beginning and its verb."""
        subjects: list[frozenset[str]] = []
        for token in reversed(tokens[:at]):
            if token.kind in ("verb", "step", "state") or token.text in BOUNDARIES | {"and"}:
                break
            if token.kind == "objects":
                subjects.append(token.names)
        return subjects

    def _begins_clause(self, tokens: list[Token], at: int) -> bool:
        """Whether an object with a verb of its own follows, as in ``.. and the fridge is closed``."""
        following = [token for token in tokens[at : at + 4] if token.text not in ARTICLES]
        return (
            len(following) > 1 and following[0].kind == "objects" and (following[1].text in COPULAS | {"will", "must"})
        )

    def _segment(self, tokens: list[Token], at: int, used: set[int]) -> Segment:
        direct: list[frozenset[str]] = []
        others: list[frozenset[str]] = []
        reached: list[frozenset[str]] = []
        left: list[frozenset[str]] = []
        sides: list[str] = []
        preposition = ""
        place = True
        for number in range(at + 1, len(tokens)):
            token = tokens[number]
            nothing_after = number + 1 == len(tokens) or tokens[number + 1].kind == "mark"
            if token.text in ("on", "off") and (
                sides or not takes_object(tokens, number) or "switch" in tokens[at].names
            ):
                if "switch" not in tokens[at].names or sides:
                    place = False
                    break
                sides.append(token.text)
                used.add(number)
                continue
            if token.kind == "word" and token.text in PARTICLES and number == at + 1:
                used.add(number)
                if token.text == "off":
                    sides.append(token.text)
                if token.text not in ("to", "in", "on") or nothing_after:
                    continue
            if token.text == "and" and self._begins_clause(tokens, number + 1):
                break
            if token.kind in ("verb", "step", "state") or token.text in BOUNDARIES | ASSURES:
                place = place and token.kind not in ("state",)
                break
            if token.text in PREPOSITIONS:
                used.add(number)
                preposition = token.text
            elif token.kind == "objects":
                (others if preposition else direct).append(token.names)
                if preposition in ("to", "into", "onto", "toward", "towards"):
                    reached.append(token.names)
                elif preposition == "from":
                    left.append(token.names)
            elif token.kind == "word" and token.text in PARTICLES:
                used.add(number)
            elif token.text in self.vocabulary.things and preposition in PLACES:
                others.append(frozenset())  # a place that the task does not have
        return Segment(direct, others, reached, left, sides, place)
