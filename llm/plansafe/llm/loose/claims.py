"""Clauses that describe a state of the plan's execution: ``the stove is off``, ``(hot stove) holds``.

Such a clause is harmless where it is true: facts are compared with the states that the plan goes through.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product

from plansafe.llm.loose.clauses import Context, Place
from plansafe.llm.loose.names import MAX_NAME_WORDS, key
from plansafe.llm.loose.plan_words import PlanWords
from plansafe.llm.loose.states import States
from plansafe.llm.loose.vocabulary import ANTONYMS, NO_ACCIDENT, SAME_PROPERTY

_AGENT = r"(?:robot|character|agent)"
_HAND = rf"(?:(?:the {_AGENT}'s|its|the) (?:one |only |single )?(?:hand|gripper)s?)"
_IS = r"(?:is|are|remains?|stays?|gets|becomes|ends(?: up)?|stands?|starts(?: out)?|begins|sits)"
_ADVERBS = re.compile(
    r"\b(?:now|again|at this point,?|already|still|safely|both|all|also|then|properly|fully|just|currently|directly"
    r"|each)\b ?"
)
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
_AFTER_STEP = re.compile(
    r",? ?\b(?:after|from) step (\d{1,4})(?: on(?:wards?)?)?\b,? ?|,? ?\((?:by |in )?step (\d{1,4})\)"
)
_FACT = re.compile(r"\((?:not \()?[a-z][\w-]*(?: [\w-]+)*\)\)?|\((?:and|or)(?: (?:\(not \([^()]*\)\)|\([^()]*\)))+\)")
_TRUE = r"(?: (?:both |all )?(?:holds?|(?:is|are) (?:both |all )?(?:true|satisfied|met|achieved)))?"
_FACTS = re.compile(rf"(?:{_FACT.pattern})(?:(?:, (?:and )?| and )(?:{_FACT.pattern}))*{_TRUE}")
_CONDITIONS = re.compile(r"^(?:so |both |all |the )*(?:goal|(?:goal )?(?:conditions|conjuncts|facts|parts)),? (?=\()")
_LABEL = re.compile(
    r"(?P<goal>(?:the )?(?:goal|final state|end state|result)(?: check)?)|(?P<effect>effects?|postconditions?)"
    r"|(?P<precondition>preconditions?|requires)|(?P<initial>initial state|start(?:ing state)?)"
)
_SPLIT = re.compile(
    r"(?:, | |^)(?:and(?: also)?|but|because|since|so that|so|which means(?: that)?|hence|therefore) "
    r"|[;,] | \u2014 |(?<=\w): "
)
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


_UNUSED = re.compile(
    rf"(?:the |this )?(?:plan|sequence|{_AGENT}) (?:does not|doesn't|never) "
    r"(?:uses?|touch(?:es)?|involves?|needs?) (?P<first>.+)"
    rf"|(?:the |this )?(?:plan|sequence|{_AGENT}) avoids (?:using )?(?P<second>.+)"
    r"|(?:the plan uses |we use )?(?P<used>.+?)(?: is used| was chosen)? (?:instead of|rather than|over) (?P<third>.+)"
    r"|(?P<alone>.+?) is used"
)
_NUMBER = re.compile(
    r"(.+?) (?:can |could )?(?:stands?|withstands?|tolerates?|handles?|takes?|bears?)(?: up to| at most| as much as)? "
    r"(\d{1,6})(?: ?\u00b0 ?c?| degrees(?: celsius)?)?"
)


class Claims:
    """Judges the clauses that describe a state of one plan."""

    def __init__(self, plan: PlanWords) -> None:
        self.plan = plan
        self.task = plan.names.task

    @property
    def states(self) -> States:
        """The states of the plan."""
        return self.plan.states

    def are_true(
        self, text: str, context: Context, moments: Sequence[int] | None = None, about: list[str] | None = None
    ) -> bool:
        """Whether a text consists of clauses that describe a state, all of them true then.

        ``moments`` are the states of which one must be as it says; without them, the place of the text decides.
        ``about`` is what ``it`` stands for at the beginning.
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
            if match[0].strip(" ,").startswith("from"):  # and in all later states
                later = _AFTER_STEP.sub(" ", text, count=1).strip()
                return all([self.are_true(later, context, [each], about) for each in range(number, count + 1)])
            moments, text = [number], _AFTER_STEP.sub(" ", text, count=1).strip()
        text = " ".join(re.sub(r"^-> |[\[(] ?[xX\u2713\u2705\u2714] ?[\])] ", "", text).split())
        if aside := re.fullmatch(r"([^()]+) \(((?:and |but )[a-z][^()]*|still [a-z ]+)\)", text):
            text = f"{aside[1]} and {aside[2].removeprefix('and ').removeprefix('but ')}"
        marked = moments is not None or "still" in text.split() or context.place is Place.BETWEEN
        if moments is None:
            moments = self._here(context)
        text = re.sub(r",? which (?:is|are) true$", "", text)
        text = re.sub(r" with ((?:its|a) (?:hand|gripper) free)$", r" and has \1", text)
        text = _CONDITIONS.sub("", text).replace("), hold", ") hold")
        if _FACTS.fullmatch(text):
            facts = _FACT.findall(text)
            if not marked and not (context.place is Place.AFTER and not self._targets(context)):
                moments = range(len(self.states.true))
                return bool(moments) and all([self._fact(each, moment) for each in facts for moment in moments])
            return any([all([self._fact(each, moment) for each in facts]) for moment in moments])
        return any([self._clauses(text, moment, context, marked, about) for moment in moments])

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
        passed = [] if context.passed is None or context.place is not Place.BETWEEN else [context.passed]
        if targets := self._targets(context):
            return [*passed, *[number + 1 for number in targets]]
        if context.place is Place.BEFORE:
            return [0]
        return [len(self.plan.steps) if context.passed is None or context.place is Place.AFTER else context.passed]

    def _clauses(
        self, text: str, moment: int, context: Context, marked: bool, subject: list[str] | None = None
    ) -> bool:
        """Whether clauses joined by ``and`` and the like all hold; a clause without a subject takes the one before."""
        copula, described = "", False
        if subject is None and self._targets(context) and _PLACE.fullmatch(text):  # a heading: ``In the hall``
            subject = ["@"]
        for part in _SPLIT.split(text):
            if _FACT.fullmatch(part.strip()):
                if not self._fact(part.strip(), moment):
                    return False
                described = True
                continue
            clause = part.strip(" .()")
            if not clause:
                continue
            if self._is_no_accident(clause) or self._is_choice(clause, moment) or self._is_number(clause, subject):
                subject = self.subject_of(clause) or subject
                described = True
                continue
            if self._may_be(clause, subject):
                described = True
                continue
            split = re.match(rf"(?:(.+?) ??)??\b({_IS}|has|have|holds?|contains?)(?: (.*))?$", clause)
            if split:
                words, copula, rest = split[1], split[2], split[3] or ""
            else:
                words, copula, rest = self._verbless(clause, moment)
            if words:
                words = _ADVERBS.sub("", words + " ").strip()
                subject = subject if words in ("it", "this") and subject else self._subject(words, moment)
            if not subject or not self._holds(subject, copula, rest, moment, marked, context):
                return False
            described = True
        return described

    def subject_of(self, clause: str) -> list[str]:
        """The object that a clause begins with."""
        if unused := re.fullmatch(r".*(?:not|never|n't|avoids) (?:using|uses?|touch|involves?|needs?) (.+)", clause):
            return self._object(unused[1])
        match = re.match(r"(?:the |both |a )?([a-z][a-z-]*(?: [a-z-]+)?)", clause)
        words = match[1].split() if match else []
        return (self._object(" ".join(words)) or self._object(words[0])) if words else []

    def _is_choice(self, clause: str, moment: int) -> bool:
        """``the plan does not use the cup``, ``the glass is used instead of the cup``: the plan has no step with it."""
        if match := _UNUSED.fullmatch(clause):
            used, unused = match["used"] or match["alone"], match["first"] or match["second"] or match["third"]
            if not unused:
                return self._is_alone(self._subject(used, moment) or [])
            one, other = self._subject(used, moment) if used else ["@"], self._subject(unused, moment)
            if not one or not other or not set(other) <= set(self.task.objects) - self.plan.used:
                return False
            return not used or set(one) <= self.plan.used
        return False

    def _is_alone(self, names: list[str]) -> bool:
        """Whether the steps use an object, and no other of its type."""
        types = dict(zip(self.task.objects, self.task.object_types, strict=True))
        return len(names) == 1 and [each for each in self.plan.used if types.get(each) == types.get(names[0])] == names

    def _may_be(self, clause: str, subject: list[str] | None) -> bool:
        """``the cup may be metal``: a property of the task that an object may have which no step uses."""
        match = re.fullmatch(r"(.+?) (?:may|might|could) be (?:made of )?([a-z-]+)", clause)
        if match is None or key(match[2]) not in self.plan.predicates:
            return False
        named = subject if match[1] == "it" else self._subject(match[1])
        return bool(named) and set(named or ()) <= set(self.task.objects) - self.plan.used

    def _is_number(self, clause: str, subject: list[str] | None) -> bool:
        """``the dish stands up to 260 degrees``: a number of the initial state that no step changes."""
        match = _NUMBER.fullmatch(clause)
        if match is None:
            return False
        named = subject if match[1] in ("it", "that", "which") else self._subject(match[1])
        found = {self.task.object_index[each] for each in named or () if each in self.task.object_index}
        snaps = [snap for each in self.task.actions.values() for snap in (each.start, each.end) if snap is not None]
        changed = {assigned.function for snap in snaps for effect in snap.effects for assigned in effect.assignments}
        return len(found) == 1 and any(
            [
                len(function.domains) == 1
                and number not in changed
                and values.get(self.task.encode(tuple(found))) == int(match[2])
                for number, (function, values) in enumerate(
                    zip(self.task.functions, self.task.initial_fluents, strict=True)
                )
            ]
        )

    def _is_no_accident(self, clause: str) -> bool:
        """``it will not crack``, ``no risk of breaking``: no accident, whose word is no action of the task."""
        match = NO_ACCIDENT.fullmatch(_ADVERBS.sub("", clause + " ").strip())
        if match is None or any([self.plan.names.action(word) is not None for word in clause.split()]):
            return False
        named = [each for each in (match["subject"], match["of"], match["place"]) if each]
        return all([each in ("it", "they", "that", "anything") or self._subject(each) for each in named])

    def _verbless(self, clause: str, moment: int) -> tuple[str, str, str]:
        """``oven off``, ``pie in the dish``: a subject and its property, or a property alone."""
        words = clause.split()
        for cut in range(1, min(len(words), MAX_NAME_WORDS)):
            if self._subject(" ".join(words[:cut]), moment) and not self._object(" ".join(words[: cut + 1])):
                return " ".join(words[:cut]), "is", " ".join(words[cut:])
        return "", "is", clause

    def _subject(self, words: str, moment: int = -1) -> list[str] | None:
        """The objects that a subject names; ``@`` is the robot and ``@hand`` its hand."""
        if re.fullmatch(rf"(?:the )?{_AGENT}", words):
            return ["@"]
        if re.fullmatch(_HAND, words):
            return ["@hand"]
        found: list[str] = []
        for part in re.split(r",? and |, ", words):
            names = self._object(part, moment)
            if not names:
                return None
            found += names
        return found

    def _object(self, words: str, moment: int = -1) -> list[str]:
        """The objects that a noun names, of several those of the plan: ``glass of hot milk`` if that is so then."""
        words = _ADVERBS.sub("", words + " ").strip()
        words = _ARTICLES.sub("", words).strip()
        if len(words.split()) > 2 * MAX_NAME_WORDS:
            return []
        names = self.plan.objects("-".join(words.split()))
        if names or moment < 0:
            return sorted(names & self.plan.used or names)
        first, joint, second = re.sub(r" (?:with|containing|that contains|filled with) ", " of ", words).partition(
            " of "
        )
        if joint:
            outer, inner = self._object(first, moment), self._object(second, moment)
            full = len(outer) == len(inner) == 1 and self._related(outer[0], inner[0], {"contains", "holds"}, moment)
            return outer if full else []
        adjective, _, noun = words.partition(" ")
        found = self._object(noun, moment) if noun else []
        return found if found and self._adjective(found, adjective, moment) is True else []

    def _holds(self, subject: list[str], copula: str, rest: str, moment: int, marked: bool, context: Context) -> bool:
        """Whether the subject has a property at a moment.

        Without a word for the time, and not after the plan, only what the step at hand brings about, or what holds
        all the time.
        """
        if re.fullmatch(r"ends(?: up)?", copula):
            moment, marked = len(self.plan.steps), True
        elif re.fullmatch(r"starts(?: out)?|begins", copula):
            moment, marked = 0, True
        lasts = range(moment, len(self.states.true)) if re.fullmatch("(?:stay|remain)s?", copula) else [moment]
        if "still" in rest.split() and moment > 0:
            lasts = [moment - 1, *lasts]
        if "already" in rest.split():
            lasts = range(len(self.states.true))
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
        if rest.startswith("with ") and re.fullmatch(r"ends?(?: up)?", copula):
            copula, rest = "has", rest.removeprefix("with ")
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
            preposition, places = match[1].removesuffix(" of"), self._object(match[2], moment)
            preposition = "on" if preposition == "on top" else preposition
            names = set(_LOCATIONS[preposition].split())
            joined = {f"{preposition}-{re.sub('^the ', '', match[2])}"}
            return (bool(places) and all([self._is_at(each, places, names, joined, moment) for each in subject])) or (
                not places and all([self._unary(each, joined, moment) is True for each in subject])
            )
        return self._adjective(subject, rest, moment) is True

    def _is_at(self, each: str, places: list[str], names: set[str], joined: set[str], moment: int) -> bool:
        if len(places) > 1:
            return False
        if each == "@":
            return self._unary(
                places[0], names | {"robot-at", "agent-at", "robot-in"}, moment
            ) is True or self._related("@", places[0], names, moment)
        return self._related(each, places[0], names, moment) or self._unary(each, joined, moment) is True

    def _pairs(self, subject: list[str], rest: str, names: set[str], moment: int) -> bool:
        objects = self._object(rest, moment)
        if len(objects) != 1:
            return False
        around = [name for name in self.plan.used if self._related(name, objects[0], {"contains"}, moment)]
        ends = [objects[0], *(around if names & {"has"} else ())]
        return all([any([self._related(each, end, names, moment) for end in ends]) for each in subject])

    def _held(self, text: str, moment: int) -> bool:
        objects = self._object(re.sub(rf" in (?:{_HAND}|hand)$", "", text), moment)
        return len(objects) == 1 and self._related("@", objects[0], _HELD, moment)

    def _hand(self, moment: int) -> bool:
        """Whether a predicate for a free hand holds."""
        for number, predicate in enumerate(self.task.predicates):
            name = re.sub(r"[-_]", "", predicate.name.lower())
            if re.fullmatch(r"hands?(?:free|empty)|gripper(?:free|empty)|(?:free|empty)hands?", name):
                return any([self.states.holds(number, code, moment) is True for code in self._codes(number)])
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
        if (first != "@" and first not in self.task.object_index) or second not in self.task.object_index:
            return False
        for number, predicate in enumerate(self.task.predicates):
            if not set(re.split(r"[-_]", predicate.name.lower())) & names:
                continue
            alone = first == "@" and len(predicate.domains) == 1 and names is _HELD
            if alone and self._unary(second, {predicate.name.lower()}, moment):
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

    def _codes(self, predicate: int) -> Iterator[int]:
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
