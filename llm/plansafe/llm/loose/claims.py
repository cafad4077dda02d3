"""Clauses that describe a state of the plan's execution: ``the stove is off``, ``(hot stove) holds``.

Such a clause is harmless where it is true: facts are compared with the states that the plan goes through.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product

from plansafe.llm.loose.clauses import Context, Place
from plansafe.llm.loose.names import key
from plansafe.llm.loose.plan_words import PlanWords
from plansafe.llm.loose.states import States
from plansafe.llm.loose.vocabulary import ANTONYMS, NO_ACCIDENT, SAME_PROPERTY

_AGENT = r"(?:robot|character|agent)"
_HAND = rf"(?:(?:the {_AGENT}'s|its|the) (?:one |only |single )?(?:hand|gripper)s?)"
_IS = r"(?:is|are|remains?|stays?|gets|becomes|ends(?: up)?|stands?|starts(?: out)?|begins|sits)"
_ADVERBS = re.compile(r"\b(?:now|still|safely|both|all|also|then|properly|fully|just|currently|directly|each)\b ?")
_ARTICLES = re.compile(r"\b(?:the|a|an|its|his|her|their) ")
_AT_THE_END = re.compile(
    r",? ?\b(?:(?:at|in|by) the (?:very )?end(?: of (?:the |this )?(?:plan|sequence|execution))?"
    r"|in the (?:final|end|last|resulting) state|(?:when|once|after) (?:the |this )?(?:plan|sequence)"
    rf" (?:ends|finishes|is (?:done|over|complete|finished|completed))|when (?:the )?{_AGENT} is done|finally"
    r"|in the end|afterwards)\b,? ?"
)
_AT_THE_START = re.compile(
    r",? ?\b(?:initially|(?:at|in|from) the (?:very )?(?:start|beginning|outset)(?: of the plan)?"
    r"|in the initial state|to (?:start|begin) with)\b,? ?"
)
_AFTER_STEP = re.compile(r",? ?\b(?:after|from) step (\d{1,4})(?: on(?:wards?)?)?\b,? ?|,? ?\((?:by |in )?step (\d{1,4})\)")
_FACT = re.compile(r"\((?:not \()?[a-z][\w-]*(?: [\w-]+)*\)\)?|\((?:and|or)(?: (?:\(not \([^()]*\)\)|\([^()]*\)))+\)")
_TRUE = r"(?: (?:both |all )?(?:holds?|(?:is|are) (?:both |all )?(?:true|satisfied|met|achieved)))?"
_FACTS = re.compile(rf"(?:{_FACT.pattern})(?:(?:, (?:and )?| and )(?:{_FACT.pattern}))*{_TRUE}")
_LABEL = re.compile(
    r"(?P<goal>(?:the )?(?:goal|final state|end state|result)(?: check)?)|(?P<effect>effects?|postconditions?)"
    r"|(?P<precondition>preconditions?|requires)|(?P<initial>initial state|start(?:ing state)?)"
)
_SPLIT = re.compile(r"(?:, | |^)(?:and|but|so that|so|which means(?: that)?|hence|therefore) |[;,] | \u2014 |(?<=\w): ")
_LOCATIONS = {
    "in": "in inside contains present at holds holding located location loc",
    "inside": "in inside contains holds",
    "into": "in inside contains holds",
    "on": "on at ontop standing located",
    "at": "at present standing in located",
    "near": "near next beside",
    "next to": "next near beside",
}
_PLACE = re.compile(r"(in|inside|into|on|at|near|next to|inside of|on top of) (.+)")
_HELD = {"holding", "holds", "has", "carrying", "carries", "held", "grasped", "grasping"}


class Claims:
    """Judges the clauses that describe a state of one plan."""

    def __init__(self, plan: PlanWords) -> None:
        self.plan = plan
        self.task = plan.names.task
        self._states: States | None = None

    @property
    def states(self) -> States:
        """The states of the plan, computed once."""
        if self._states is None:
            self._states = States(self.task, self.plan.steps)
        return self._states

    def are_true(self, text: str, context: Context, moments: Sequence[int] | None = None) -> bool:
        """Whether a text consists of clauses that describe a state, all of them true then.

        ``moments`` are the states of which one must be as it says; without them, the place of the text decides.
        """
        text = text.strip(" .!\u2014:;")
        count = len(self.plan.steps)
        if label := re.match(rf"({_LABEL.pattern}): ", text):
            named = self._labelled(label, context)
            return bool(named) and self.are_true(text[label.end() :], context, named)
        for pattern, state in ((_AT_THE_END, count), (_AT_THE_START, 0)):
            if pattern.search(text):
                moments, text = [state], pattern.sub(" ", text, count=1).strip()
        if match := _AFTER_STEP.search(text):
            number = int(match[1] or match[2])
            if not 0 < number <= count:
                return False
            moments, text = [number], _AFTER_STEP.sub(" ", text, count=1).strip()
        text = " ".join(text.split())
        marked = moments is not None or "still" in text.split()
        if moments is None:
            moments = self._here(context)
        if _FACTS.fullmatch(text):
            return any([all([self._fact(each, moment) for each in _FACT.findall(text)]) for moment in moments])
        return any([self._clauses(text, moment, context, marked) for moment in moments])

    def _labelled(self, label: re.Match[str], context: Context) -> list[int]:
        targets = self._targets(context)
        if label["goal"]:
            return [len(self.plan.steps)]
        if label["initial"]:
            return [0]
        return [number + (label["effect"] is not None) for number in targets]

    def _targets(self, context: Context) -> list[int]:
        """The steps that a text at this place describes: that on its line, the one above, or the only one below."""
        targets = sorted(context.targets)
        passed = len(self.plan.steps) if context.passed is None else context.passed
        above = context.place in (Place.BETWEEN, Place.AFTER) and targets[-1:] < [passed]
        alone = len(targets) == 1 < len(self.plan.steps)
        return targets if context.place is Place.STEP or above or alone else []

    def _here(self, context: Context) -> list[int]:
        """The states that a text at this place may describe without saying so."""
        if targets := self._targets(context):
            return [number + 1 for number in targets]
        if context.place is Place.BEFORE:
            return [0]
        return [len(self.plan.steps) if context.passed is None or context.place is Place.AFTER else context.passed]

    def _clauses(self, text: str, moment: int, context: Context, marked: bool) -> bool:
        """Whether clauses joined by ``and`` and the like all hold; a clause without a subject takes the one before."""
        subject: list[str] | None = None
        copula = ""
        for part in _SPLIT.split(text):
            clause = part.strip(" .()")
            if not clause:
                continue
            if self._is_no_hazard(clause):
                continue
            split = re.match(rf"(?:(.+?) )??({_IS}|has|have|holds?|contains?)(?: (.*))?$", clause)
            if split and split[1] is not None:
                words = _ADVERBS.sub("", split[1] + " ").strip()
                subject = subject if words in ("it", "this") and subject else self._subject(words)
            elif split is None and subject is None:
                return False
            if split:
                copula, rest = split[2], split[3] or ""
            else:
                rest = clause
            if not subject or not self._holds(subject, copula, rest, moment, marked, context):
                return False
        return subject is not None

    def _is_no_hazard(self, clause: str) -> bool:
        """``it will not crack``, ``no risk of breaking``: no accident, whose word is no action of the task."""
        match = NO_ACCIDENT.fullmatch(_ADVERBS.sub("", clause + " ").strip())
        if match is None or any([self.plan.names.action(word) is not None for word in clause.split()]):
            return False
        subject = match["subject"] or match["of"] or "it"
        return subject in ("it", "they", "that", "anything") or bool(self._subject(subject))

    def _subject(self, words: str) -> list[str] | None:
        """The objects that a subject names; ``@`` is the robot and ``@hand`` its hand."""
        if re.fullmatch(rf"(?:the )?{_AGENT}", words):
            return ["@"]
        if re.fullmatch(_HAND, words):
            return ["@hand"]
        found: list[str] = []
        for part in re.split(r",? and |, ", words):
            names = self._object(part)
            if not names:
                return None
            found += names
        return found

    def _object(self, words: str) -> list[str]:
        """The objects that a noun names: of several those of the plan."""
        words = _ADVERBS.sub("", words + " ").strip()
        words = _ARTICLES.sub("", words).strip()
        names = self.plan.objects("-".join(words.split()))
        return sorted(names & self.plan.used or names)

    def _holds(
        self, subject: list[str], copula: str, rest: str, moment: int, marked: bool, context: Context
    ) -> bool:
        """Whether the subject has a property at a moment; without a word for the time, and not after the plan, only
        what the step at hand brings about, or what holds all the time."""
        if re.fullmatch(r"ends(?: up)?", copula):
            moment, marked = len(self.plan.steps), True
        elif re.fullmatch(r"starts(?: out)?|begins", copula):
            moment, marked = 0, True
        lasts = range(moment, len(self.states.true)) if re.fullmatch("(?:stay|remain)s?", copula) else [moment]
        if not self.states.true or not all([self._property(subject, copula, rest, each) for each in lasts]):
            return False
        targets = self._targets(context)
        if marked or (context.place is Place.AFTER and not targets):
            return True
        changed = moment > 0 and targets and not self._property(subject, copula, rest, moment - 1)
        every = range(len(self.states.true))
        return bool(changed) or all([self._property(subject, copula, rest, number) for number in every])

    def _property(self, subject: list[str], copula: str, rest: str, moment: int) -> bool:
        rest = " ".join(_ADVERBS.sub("", rest + " ").split())
        if not re.fullmatch(r"has|have|holds?|contains?", copula):
            negative = rest.startswith("not ")
            rest = rest.removeprefix("not ")
            if negative:
                value = self._adjective(subject, rest, moment)
                return value is False
        if subject == ["@hand"]:
            return rest in ("free", "empty") and self._hand(moment)
        if re.fullmatch(r"holds?", copula) or rest.startswith("holding "):
            held = rest.removeprefix("holding ")
            if subject != ["@"]:
                return False
            return self._hand(moment) if held == "nothing" else self._held(held, moment)
        if copula in ("has", "have"):
            rest = re.sub(rf" in (?:{_HAND}|hand)$", "", rest)
            if subject == ["@"]:
                if re.fullmatch(r"(?:its|his|a|one) (?:hand|gripper) free|(?:a )?free (?:hand|gripper)", rest):
                    return self._hand(moment)
                return self._held(rest, moment)
            return self._pairs(subject, rest, {"has", "have"}, moment)
        if re.fullmatch(r"contains?", copula):
            return self._pairs(subject, rest, {"contains"}, moment)
        if re.fullmatch(rf"in {_HAND}|in hand|held", rest) and subject != ["@"]:
            return all([self._related("@", each, _HELD, moment) for each in subject])
        if match := _PLACE.fullmatch(rest):
            preposition, places = match[1].removesuffix(" of"), self._object(match[2])
            preposition = "on" if preposition == "on top" else preposition
            names = set(_LOCATIONS[preposition].split())
            joined = {f"{preposition}-{re.sub('^the ', '', match[2])}"}
            return bool(places) and all([self._is_at(each, places, names, joined, moment) for each in subject]) or (
                not places and all([self._unary(each, joined, moment) is True for each in subject])
            )
        return self._adjective(subject, rest, moment) is True

    def _is_at(self, each: str, places: list[str], names: set[str], joined: set[str], moment: int) -> bool:
        if len(places) > 1:
            return False
        if each == "@":
            return self._unary(places[0], names | {"robot-at", "agent-at", "robot-in"}, moment) is True or self._related(
                "@", places[0], names, moment
            )
        return self._related(each, places[0], names, moment) or self._unary(each, joined, moment) is True

    def _pairs(self, subject: list[str], rest: str, names: set[str], moment: int) -> bool:
        objects = self._object(rest)
        return len(objects) == 1 and all([self._related(each, objects[0], names, moment) for each in subject])

    def _held(self, text: str, moment: int) -> bool:
        objects = self._object(re.sub(rf" in (?:{_HAND}|hand)$", "", text))
        return len(objects) == 1 and self._related("@", objects[0], _HELD, moment)

    def _hand(self, moment: int) -> bool:
        """Whether a predicate for a free hand holds."""
        for number, predicate in enumerate(self.task.predicates):
            name = re.sub(r"[-_]", "", predicate.name.lower())
            if re.fullmatch(r"hands?(?:free|empty)|gripper(?:free|empty)|(?:free|empty)hands?", name):
                return any([self.states.holds(number, code, moment) is True for code in self._codes(number, ())])
        return False

    def _adjective(self, subject: list[str], word: str, moment: int) -> bool | None:
        """Whether all subjects have a property that a predicate of one argument names; none has it; or unknown."""
        values = set()
        for each in subject:
            positive = SAME_PROPERTY.get(word, frozenset((word,)))
            value = self._unary(each, positive, moment)
            if value is None and word in ANTONYMS:
                value = self._unary(each, ANTONYMS[word], moment)
                value = None if value is None else not value
            values.add(value)
        return values.pop() if len(values) == 1 else None

    def _unary(self, name: str, names: set[str] | frozenset[str], moment: int) -> bool | None:
        """Whether a fact about one object holds, if a predicate has one of the names."""
        number_of = self.task.object_index.get(name)
        values = [
            self.states.holds(number, self.task.encode((number_of,)), moment)
            for number, predicate in enumerate(self.task.predicates)
            if number_of is not None
            and len(predicate.domains) == 1
            and number_of in self.task.domain_sets[predicate.domains[0]]
            and (predicate.name.lower().removeprefix("is-").replace("_", "-") in names)
        ]
        return values[0] if len(values) == 1 else None

    def _related(self, first: str, second: str, names: set[str], moment: int) -> bool:
        """Whether a fact about two objects holds; ``@`` is a robot, which a predicate may leave out."""
        for number, predicate in enumerate(self.task.predicates):
            if not set(re.split(r"[-_]", predicate.name.lower())) & names:
                continue
            if first == "@" and len(predicate.domains) == 1 and names is _HELD:
                if self._unary(second, {predicate.name.lower()}, moment):
                    return True
            if len(predicate.domains) == 2:
                ends = {self.task.object_index[second]}
                if first == "@":
                    pairs = [self.task.encode(each) for each in product(self._agents(predicate.domains[0]), ends)]
                else:
                    one = self.task.object_index[first]
                    pairs = [self.task.encode(each) for end in ends for each in ((one, end), (end, one))]
                if any([self.states.holds(number, code, moment) is True for code in pairs]):
                    return True
        return False

    def _agents(self, domain: int) -> list[int]:
        """The robots of the task: the objects of that name."""
        return [
            each
            for each in self.task.domains[domain]
            if re.fullmatch(rf"{_AGENT}[-_]?\d*", self.task.objects[each].lower())
        ]

    def _codes(self, predicate: int, before: tuple[int, ...]) -> Iterator[int]:
        domains = self.task.predicates[predicate].domains
        if len(domains) == 0:
            yield self.task.encode(())
        elif len(domains) == 1:
            yield from [self.task.encode((each,)) for each in self._agents(domains[0])]

    def _fact(self, text: str, moment: int) -> bool:
        """Whether an expression in PDDL holds."""
        tokens = re.findall(r"[()]|[^\s()]+", text)
        value = self._value(tokens, moment)
        return value is True and not tokens

    def _value(self, tokens: list[str], moment: int) -> bool | None:
        tokens.pop(0)
        head = tokens.pop(0)
        if head in ("and", "or", "not"):
            values = []
            while tokens and tokens[0] == "(":
                values.append(self._value(tokens, moment))
            if not tokens or tokens.pop(0) != ")" or not values:
                return None
            if head == "not":
                return None if values[0] is None or len(values) > 1 else not values[0]
            deciding = head == "or"
            return deciding if deciding in values else None if None in values else not deciding
        words = []
        while tokens and tokens[0] not in ("(", ")"):
            words.append(tokens.pop(0))
        if not tokens or tokens.pop(0) != ")":
            return None
        objects = [self.task.object_index.get(word, -1) for word in words]
        for number, predicate in enumerate(self.task.predicates):
            if key(predicate.name) == key(head) and len(predicate.domains) == len(objects) and -1 not in objects:
                return self.states.holds(number, self.task.encode(tuple(objects)), moment)
        return None
