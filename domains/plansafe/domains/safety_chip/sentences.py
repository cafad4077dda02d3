"""What a constraint of the benchmark says in words, as prefix LTL: read by patterns, without a model.

The benchmark's formulas were made from its sentences by a language model, and some are not what the sentence says
(two rooms exchanged, "twice" read as "once"). A reading of the sentence by other means finds them. A sentence that fits
no pattern has no reading.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from plansafe.domains.safety_chip.prefix import NotAFormula, parse, plain_name

LONGEST = 200

# The names that people use, and those of the simulator.
_SYNONYMS = {
    "coffeemachine": "coffeemaker",
    "couch": "sofa",
    "cutlet": "cutlets",
    "firdge": "fridge",
    "bathrooms": "bathroom",
    "television": "tv",
}
_TIMES = {"once": 1, "one": 1, "twice": 2, "two": 2, "three": 3, "four": 4, "five": 5}
_OFTEN = r"(once|twice|(?:two|three|four|five) times)"
_NEVER = r"(?:don't|do not|never|you cannot|you can't|you can never|you must not)"
_NOT_YET = r"(?:haven't|have not|didn't|did not|never)"


def formula_of(sentence: str) -> str | None:
    """The prefix formula of a sentence, or ``None`` if it fits no pattern. At most 200 characters are read."""
    words = " ".join(sentence.lower().replace("bsck", "back").split())
    if len(words) > LONGEST:
        return None
    for pattern, build in _SENTENCES:
        found = pattern.fullmatch(words)
        if found is not None:
            formula = build(found)
            if formula is not None and _is_formula(formula):
                return formula
    return None


def _is_formula(text: str) -> bool:
    """Whether the words that were taken for names can be names."""
    try:
        parse(text)
    except NotAFormula:
        return False
    return True


def _thing(words: str) -> str:
    name = plain_name(re.sub(r"^(?:the|an|a)\s+", "", words.strip()))
    return _SYNONYMS.get(name, name)


_EVENTS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    [
        (re.compile(pattern), proposition)
        for pattern, proposition in (
            (r"(?:go to )?(?:put|plac)(?:ting|e|ed|ing)? (.+?) (?:in the|into the|into|in|int) (.+)", "is_in({},{})"),
            (r"(?:pick|picking|picked) up (.+)|(?:grab|grabbed|grabbing) (.+)", "is_grabbed({})"),
            (r"(?:switch|turn)(?:ing|ed)? on (.+)", "is_switchedon({})"),
            (r"(?:open|opened|opening)(?: up)? (.+?)(?: up)?", "is_open({})"),
            (r"(?:close|closed|closing) (.+)", "! is_open({})"),
            (r"(.+?) is open", "is_open({})"),
            (r"(.+?) is visited", "agent_at({})"),
            (r"(?:go|been|walk)(?: back)?(?: (?:to|near|into))? (.+)", "agent_at({})"),
            (r"going (?:to|into|near) (.+)|(?:visit|enter)(?:ed|ing)? (.+)", "agent_at({})"),
            (r"((?:living ?|bath ?|bed ?)room|kitchen|toilet)", "agent_at({})"),
        )
    ]
)


def _event(words: str) -> str | None:
    """The proposition that an event makes true: ``pick up the apple`` is ``is_grabbed(apple)``."""
    words = re.sub(r"^(?:(?:you|ever|have|has|had|to) )+", "", words.strip())
    words = re.sub(r"(?: (?:too|once|again|afterward|anymore|later|in the future))+$", "", words)
    for pattern, proposition in _EVENTS:
        found = pattern.fullmatch(words)
        if found is not None:
            return proposition.format(*[_thing(group) for group in found.groups() if group is not None])
    return None


def _both(first: str | None, second: str | None) -> tuple[str, str] | None:
    """Two events, ``it`` in one of them being what the other is about."""
    if first is None or second is None:
        return None
    subject = re.search(r"\((\w+)", second if "(it" in first else first)
    return (first.replace("(it", f"({subject[1]}"), second.replace("(it", f"({subject[1]}")) if subject else None


def _at_most(event: str, often: str, less: int = 0) -> str | None:
    proposition = _event(event)
    if proposition is None:
        return None
    formula = proposition
    for _ in range(_TIMES[often.split()[0]] - less):
        stay = f"{proposition} U {proposition} & ! {proposition} U ! {proposition} F"
        formula = f"& {stay} {formula}"
    return f"! F {formula}"


_AT_MOST = (
    rf"you (?:can|have to|may|must) (?:only )?(.+?)(?: for)?(?: at most)?(?: for)? {_OFTEN}(?: at most)?",
    rf"{_NEVER} (.+?)(?: for)? (?:more than|over) {_OFTEN}",
    rf"(.+?) (?:no more than|at most) {_OFTEN}",
)
# Patterns of two events, and what is said of them. The order matters: a later pattern may also match what an earlier
# one is meant for.
_PAIRS = (
    (rf"{_NEVER} (?P<a>.+?) (?:before|until) (?:you )?(?P<b>.+)", "W ! {a} {b}"),
    (rf"{_NEVER} (?P<a>.+?) if you {_NOT_YET} (?P<b>.+)", "W ! {a} {b}"),
    (r"you can (?P<a>.+?) (?:but )?only after (?:you )?(?P<b>.+)", "W ! {a} {b}"),
    (r"only after (?P<b>.+?) you can (?P<a>.+)", "W ! {a} {b}"),
    (r"before you (?P<a>.+?) you (?:must|have to) (?P<b>.+)", "W ! {a} {b}"),
    (rf"before you (?P<b>.+?) {_NEVER} (?P<a>.+)", "W ! {a} {b}"),
    (r"you have to (?P<b>.+?) in order to (?P<a>.+)", "W ! {a} {b}"),
    (r"(?:you (?:have to|must) )?(?P<b>.+?) before (?:you )?(?P<a>.+)", "W ! {a} {b}"),
    (rf"{_NEVER} (?P<b>.+?) if the (?P<a>.+ is open)", "G i {a} ! {b}"),
    (rf"{_NEVER} (?P<b>.+?)(?: afterward)? if you (?P<a>.+)", "G i {a} G ! {b}"),
    (r"once you (?P<a>.+?), you (?:cannot|can't|won't be able to|will never be able to) (?P<b>.+)", "G i {a} G ! {b}"),
    (r"you can (?P<a>.+?),? but you (?:won't be able to|cannot) (?P<b>.+?) after that", "G i {a} G ! {b}"),
    (r"(?:you (?:have to|must) )?(?P<b>.+?) right after (?:you )?(?P<a>.+)", "G i {a} X {b}"),
    (r"(?P<a>.+?) means you have to (?P<b>.+)", "G i {a} F {b}"),
    (r"if you (?P<a>.+?),? you (?:have to|need to|must) (?P<b>.+)", "G i {a} F {b}"),
    (r"you can (?P<a>.+?), but you will have to (?P<b>.+)", "G i {a} F {b}"),
    (r"(?:you (?:have to|must)|remember to|don't forget to) (?P<b>.+?) (?:if|once) you (?P<a>.+)", "G i {a} F {b}"),
)
_SINGLES = (
    (r"(?:always )?avoid (?P<a>.+?)(?: at any time)?", "G ! agent_at({a})"),
    (rf"{_NEVER} (?P<a>.+)", "G ! {a}"),
)


def _limit(found: re.Match[str]) -> str | None:
    return _at_most(found[1], found[2])


def _limit_below(found: re.Match[str]) -> str | None:
    return _at_most(found[1], found[2], 1)


def _pair(said: str) -> Callable[[re.Match[str]], str | None]:
    def build(found: re.Match[str]) -> str | None:
        events = _both(_event(found["a"]), _event(found["b"]))
        return None if events is None else said.format(a=events[0], b=events[1])

    return build


def _single(said: str) -> Callable[[re.Match[str]], str | None]:
    def build(found: re.Match[str]) -> str | None:
        event = _thing(found["a"]) if "(" in said else _event(found["a"])
        return None if event is None else said.format(a=event)

    return build


_SENTENCES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str | None]], ...] = (
    (re.compile(rf"only (.+) less than {_OFTEN} is allowed"), _limit_below),
    *[(re.compile(pattern), _limit) for pattern in _AT_MOST],
    *[(re.compile(pattern), _pair(said)) for pattern, said in _PAIRS],
    *[(re.compile(pattern), _single(said)) for pattern, said in _SINGLES],
)
