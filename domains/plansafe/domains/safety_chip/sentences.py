"""What a constraint of the benchmark says in words, as prefix LTL: read by a small grammar, without a model.

The benchmark's formulas were made from its sentences by a language model, and some are not what the sentence says
(two rooms exchanged, "twice" read as "once"). A reading of the sentence by other means finds them.

A sentence is a clause ("never go to the kitchen", with a count or not), or two clauses and what joins them ("before",
"if", "means"). A clause has a force (must, may, never, or none) and an event, which the events' own patterns read. A
sentence that has no such reading is refused with its reason (:class:`NotUnderstood`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from plansafe.domains.safety_chip.prefix import NotAFormula, parse, plain_name

LONGEST = 200

# The names that people use, and those of the simulator.
_SYNONYMS = {
    "coffeemachine": "coffeemaker",
    "couch": "sofa",
    "cutlet": "cutlets",
    "firdge": "fridge",
    "refrigerator": "fridge",
    "bathrooms": "bathroom",
    "television": "tv",
    "restroom": "bathroom",
}
_NUMBERS = {"once": 1, "one": 1, "twice": 2, "two": 2, "three": 3, "thrice": 3, "four": 4, "five": 5, "six": 6}
_OFTEN = r"(?P<often>once|twice|thrice|(?:one|two|three|four|five|six|[1-6]) times?)"

_MUST = re.compile(
    r"(?:you )?(?:(?:will |'ll |always )?(?:have|has|need|ought|got) to|must|should|shall|had better"
    r"|are (?:required|obliged|supposed|expected|asked) to"
    r"|(?:always )?(?:remember|do not forget|make sure|be sure|ensure)(?: to| that you| you| that)?"
    r"|it is (?:necessary|required|mandatory|obligatory)(?: to| that you)?) (?:always )?"
)
_NEVER = re.compile(
    r"(?:always )?(?:you )?(?:do not(?! forget)|never|(?:can|must|should|may|shall|will) (?:not|never|no longer)"
    r"(?: be (?:able|allowed|permitted) to| ever)?"
    r"|are (?:not|never|no longer) (?:allowed|permitted|able|supposed|to)(?: to)?"
    r"|are (?:forbidden|prohibited|banned) (?:to|from)|avoid|refrain from|it is (?:not (?:allowed|permitted|okay|ok)"
    r"|forbidden|prohibited) to|it is no longer (?:allowed|permitted) to) (?:ever )?"
)
_AWAY = re.compile(
    r"(?:always )?(?:you )?(?:(?:must|should|have to|need to) )?(?:be|stay|keep|remain)(?: far)?"
    r" (?:away from|out of|off|clear of) "
)
_MAY = re.compile(
    r"(?:you )?(?:can|may|could|are (?:only )?(?:allowed|permitted|able|free) to"
    r"|it is (?:only )?(?:allowed|ok|okay|fine|permitted) to) "
)
_NOT_YET = re.compile(
    r"(?:you )?(?:have|has|had|did) (?:not|never)(?: yet)?(?: already| ever)? |(?:you )?never |not (?:having )?"
)
_HAVING = re.compile(r"(?:(?:you|ever|already|have|has|had|having|to|the agent|robot|first|also|then|yet|just|only) )+")
_ASIDES = re.compile(
    r"(?: (?:too|first|again|afterwards?|after that|after this|any ?more|any longer|later(?: on)?|eventually|yet|also"
    r"|in the future|in the end|at (?:any time|all times|all|some point|the end|any point)|sometime|then|thereafter"
    r"|already|ever|as well|ever again|once more|beforehand|subsequently|from then on|next|at least once))+\Z"
)
_AT_ONCE = re.compile(
    r" ?\b(?:immediately|right away|straight away|instantly|at once|right|directly|promptly)\b"
    r"(?: (?:after(?:wards| that| this)|next))?(?= |\Z)"
)
_AUXILIARY = "must|can|may|should|shall|will|has|is|needs|does|never|cannot"
_NOWISE = "under no circumstances?|at no (?:time|point)|in no case|by no means"
_VISITS = (
    r"(?:there (?:can|may|must|should) be )?(at (?:most|least)|no (?:more|fewer|less) than|exactly|up to|only)"
    r" (one|two|three|four|five|six|[1-6]) (?:visits?|trips?|entr(?:y|ies)) (?:in)?to (.+?)"
)


def _second_person(found: re.Match[str]) -> str:
    """What a verb of the third person is after "you"."""
    return f"you {({'ha': 'have', 'need': 'need', 'doe': 'do'})[found[1]]}"


_CONTRACTIONS: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"[\u2018\u2019`]", "'"),
    (r"\bcan't\b|\bcannot\b|\bcant\b", "can not"),
    (r"\bwon't\b", "will not"),
    (r"\b(do|does|did|have|has|is|are|must|should|had)(?:n't|nt)\b", r"\1 not"),
    (r"\byou've\b", "you have"),
    (r"\byou're\b", "you are"),
    (r"\bbsck\b", "back"),
    (r"\bint\b", "into"),
    (r"(?:[.!?;]|\s,)+(?=\s|\Z)", ""),
    (r",\s+", " , "),
    (r"\bit's\b", "it is"),
    (rf"\b(?:the )?(?:robot|agent)(?= (?:{_AUXILIARY})\b)", "you"),
    (r"\byou is\b", "you are"),
    (r"\byou (ha|need|doe)s\b", _second_person),
    (rf"\A(?:{_NOWISE}) (?:should|may|can|must|do|will|shall) you\b", "never"),
    (r"\bno (?=\w+ing\b)", "never "),
    (r"\ba second time\b", "twice"),
    (r"\ba third time\b", "three times"),
    (r"\A(\w+ing .+ (?:once|twice|times)) is (?:not (?:allowed|permitted)|forbidden|prohibited)\Z", r"never \1"),
    (rf"\A{_VISITS} (?:is|are) (?:required|necessary|needed)\Z", r"you must visit \3 \1 \2 times"),
    (rf"\A{_VISITS}(?: (?:is|are) (?:allowed|permitted|okay|ok))?\Z", r"you can visit \3 \1 \2 times"),
    (r"\A(you (?:can|may|are allowed to) |)only (?!after|once|if|when)(.+?) (after|once|if|when)\b", r"\1\2 only \3"),
    (r"\Ato (.+?) (?:, )?(?=you (?:must|have|need|should))(.+)", r"\2 in order to \1"),
)
_PASSIVE = re.compile(
    r"(?P<what>(?!you |it ).+?) (?P<force>(?:must|can|may|should|has to|needs to)(?: not| never)?) be (?P<so>.+)"
)
_BANNED = re.compile(
    r"(?P<what>.+) (?:(?:is|are) (?:not (?:allowed|permitted)|forbidden|prohibited|off[ -]limits)|should be avoided)"
)
_LEFT = re.compile(r"leave (.+) (open|on)")

_PUT = r"(?:go (?:to )?)?(?:put|plac|stor|insert|mov)(?:ting|ing|ed|e|s)?"
_SHUT = r"clos(?:e|ed|ing|es)|shut(?:ting)?"
_GO = (
    r"go(?:ing|ne|es)?|went|be|been|being|are|were|walk(?:ing|ed)?|head(?:ing|ed)?|com(?:e|ing)|came|mov(?:e|ing|ed)"
    r"|set(?:ting)? foot|return(?:ing|ed)?|step(?:ping|ped)?|get(?:ting)?|got|pass(?:ing|ed)?|stay(?:ing|ed)?"
    r"|arriv(?:e|ed|ing)"
)
_TO = r"inside|into|in to|in|near(?: to)?|close to|next to|towards?|over to|past|by|through|at|to"
_NAME = r"(.+?)"
_EVENTS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    [
        (re.compile(pattern), proposition)
        for pattern, proposition in (
            (rf"{_PUT} {_NAME} (?:in to|into|inside(?: of)?|in) (.+)", "is_in({},{})"),
            (rf"{_PUT} {_NAME} (?:on top of|onto|on|upon) (.+)", "is_on({},{})"),
            (
                rf"{_NAME} (?:is|are|has been|was|being)(?: (?:put|placed|stored))? (?:into|inside|in) (.+)",
                "is_in({},{})",
            ),
            (
                rf"{_NAME} (?:is|are|has been|was|being)(?: (?:put|placed))? (?:onto|on top of|on) (.+)",
                "is_on({},{})",
            ),
            (rf"{_NAME} (?:is|are|has been|was|being)(?: (?:switched|turned))? on", "is_switchedon({})"),
            (rf"{_NAME} (?:is|are|has been|was|being)(?: (?:switched|turned))? off", "! is_switchedon({})"),
            (rf"{_NAME} (?:is|are|has been|was|being) (?:left )?open(?:ed)?", "is_open({})"),
            (rf"{_NAME} (?:is|are|has been|was|being) (?:closed|shut)", "! is_open({})"),
            (rf"{_NAME} (?:is|has been|was|being) (?:visited|entered|reached)", "agent_at({})"),
            (rf"{_NAME} (?:is|are|has been|was|being) (?:grabbed|picked up|taken|held)", "is_grabbed({})"),
            (rf"{_NAME} (?:is|are|has been|was|being) touched", "is_touched({})"),
            (
                r"(?:pick(?:ing|ed|s)? up|grab(?:b?ing|bed|s)?|tak(?:e|ing|en)|took|hold(?:ing|s)?|held) (.+)",
                "is_grabbed({})",
            ),
            (r"pick(?:ing|ed|s)? (.+) up", "is_grabbed({})"),
            (
                r"(?:switch|turn|power)(?:ing|ed|es|s)? on (.+)|(?:switch|turn)(?:ing|ed)? (.+) on",
                "is_switchedon({})",
            ),
            (
                r"(?:switch|turn|power)(?:ing|ed|es|s)? off (.+)|(?:switch|turn)(?:ing|ed)? (.+) off",
                "! is_switchedon({})",
            ),
            (rf"open(?:ed|ing|s)?(?: up)? {_NAME}(?: up)?", "is_open({})"),
            (rf"(?:{_SHUT}) {_NAME}(?: up)?", "! is_open({})"),
            (r"touch(?:ed|ing|es)? (.+)", "is_touched({})"),
            (rf"(?:{_GO})(?: back)? (?:{_TO}) (.+)", "agent_at({})"),
            (
                r"(?:visit|enter|reach|approach|pass|re-?enter|revisit)(?:ed|ing|es|s)? (.+)",
                "agent_at({})",
            ),
            (r"(?:go|been|walk)(?: back)? (.+)", "agent_at({})"),
            (r"((?:the )?(?:(?:living|bath|bed) ?room|kitchen|toilet))", "agent_at({})"),
        )
    ]
)
_NO_NAME = re.compile(
    r"\b(?:you|must|can|not|no|than|either|both|neither|then|never|if|before|after|until|and|or|to|in|on|of|at|is|are|have|be|times?|means|again|every)\b"
    r"|(?:\S+ ){4}"
)
_STATE = re.compile(r"(?:the )?\w[\w ]* (?:is|are) (?:still )?(?:left )?(?:open|closed|shut|on|off|in|inside)\b")


_AT_THE_END = ("at the end", "in the end")
_SOME_TIME = ("at least once", "eventually", "at some point", "sometime", "some time")


class NotUnderstood(Exception):
    """Why a sentence has no reading."""


class _Clause(NamedTuple):
    """What a clause says of an event; ``at_once``: right afterwards; ``state``: of a thing."""

    force: str
    event: str
    at_once: bool
    state: bool


def formula_of(sentence: str) -> str:
    """The prefix formula of a sentence, of which at most 200 characters are read.

    Raises :class:`NotUnderstood` with the reason.
    """
    if len(sentence) > LONGEST:
        raise NotUnderstood(f"it has more than {LONGEST} characters")
    words = sentence.lower().strip()
    for pattern, instead in _CONTRACTIONS:
        words = re.sub(pattern, instead, words)
    words = " ".join(re.sub(r"\bplease\b", "", words).split())
    for formula in _readings(words):
        if _is_formula(formula):
            return formula
    raise NotUnderstood(_reason(words))


def _readings(words: str) -> Iterator[str]:
    """All readings, the likeliest first."""
    yield from _counted(words)
    for pattern, join in _JOINS:
        for first, second in _splits(pattern, words):
            one, other = _clause(first), _clause(second)
            said = join(*_with_it(one, other)) if one is not None and other is not None else None
            if said is not None:
                yield said
    left = (never := _NEVER.match(words)) and _LEFT.fullmatch(words, never.end())
    if left:
        state = _event(f"{left[1]} is {left[2]}")
        yield f"G i {state} F ! {state}"
    yield from _both(words)
    only = _clause(words)
    if only is not None and only.state and only.force == "must" and words.endswith(_AT_THE_END):
        yield f"F G {only.event}"
    if only is not None and only.force == "never" and not words.endswith(" again"):
        yield f"G ! {only.event}"
    elif only is not None and (only.force == "must" or words.endswith(_SOME_TIME)):
        yield f"F {only.event}"


def _both(words: str) -> Iterator[str]:
    """Of ``you must go to A and B``: both, in whatever order."""
    first, joined, second = words.rpartition(" and ")
    asked = _clause(first) if joined else None
    other = None if asked is None else _clause(second)
    if asked is not None and other is not None and asked.force == "must" and other.force in ("do", "must"):
        yield f"& F {asked.event} F {other.event}"


def _splits(pattern: re.Pattern[str], words: str) -> Iterator[tuple[str, str]]:
    """The two sides of what joins them, wherever it stands. If it comes first, they are parted by a comma, or not."""
    for found in pattern.finditer(words):
        rest = words[found.end() :].strip(" ,")
        if found.start():
            yield words[: found.start()].strip(" ,"), rest
        else:
            for comma in re.finditer(r" (?:, )?(?:then )?", rest):
                yield rest[comma.end() :], rest[: comma.start()]


def _clause(words: str) -> _Clause | None:
    """The clause that some words are."""
    at_once = _AT_ONCE.search(words) is not None
    words = re.sub(r"\A(?:and |but |then |so |, )+", "", _AT_ONCE.sub("", words).strip(" ,"))
    words = _ASIDES.sub("", re.sub(r"\b(?:also|first|still|then|always|eventually|only) ", "", words).strip())
    if (passive := _PASSIVE.fullmatch(words)) is not None and passive["so"] != "avoided":
        words = (
            f"{passive['force'].replace('has', 'have').replace('needs', 'need')} {passive['what']} is {passive['so']}"
        )
    elif (banned := _BANNED.fullmatch(words)) is not None:
        event = _event(banned["what"]) or _event(f"go to {banned['what']}")
        return None if event is None else _Clause("never", event, at_once, state=False)
    away = _AWAY.match(words)
    if away is not None:
        return _Clause("never", f"agent_at({_thing(words[away.end() :])})", at_once, state=False)
    force = "do"
    # "Not yet" comes first: "you did not visit" is no order, "do not visit" is one.
    for name, pattern in (("never", _NEVER), ("not", _NOT_YET), ("must", _MUST), ("may", _MAY)):
        found = pattern.match(words)
        if found is not None:
            force, words = name, words[found.end() :]
            break
    words = _HAVING.sub("", words, count=1) if _HAVING.match(words) else words
    event = _event(re.sub(r" once\Z", "", words))
    if event is None and found is not None and "avoid" in found[0] and not _NO_NAME.search(words):
        event = f"agent_at({_thing(words)})"
    elif event is None and found is not None and re.search("(?:allow|permitt)ed ", found[0]):
        event = _event(f"go {words}")  # "you are not allowed in the kitchen"
    return None if event is None else _Clause(force, event, at_once, _STATE.match(words) is not None)


def _event(words: str) -> str | None:
    """The proposition that an event makes true: ``pick up the apple`` is ``is_grabbed(apple)``."""
    for pattern, proposition in _EVENTS:
        found = pattern.fullmatch(words)
        if found is not None:
            groups = [group for group in found.groups() if group is not None]
            made = proposition.format(*[_thing(group) for group in groups])
            if _is_formula(made) and not any([_NO_NAME.search(group) for group in groups]):
                return made
    words = re.sub(r"\beither (?=.+ or )", "", words)
    for both in (" or ", " and "):
        first, joined, second = words.rpartition(both)
        if joined:
            one = _event(first)
            other = _event(second) or (re.sub(r"(\(|,)[^(),]*\)\Z", rf"\1{_thing(second)})", one) if one else None)
            return f"| {one} {other}" if one and other and both == " or " else None
    return None


def _thing(words: str) -> str:
    name = plain_name(re.sub(r"\A(?:(?:the|an|a|any|that|your) )+", "", words.strip()))
    return _SYNONYMS.get(name, name)


def _is_formula(text: str) -> bool:
    """Whether the words that were taken for names can be names."""
    try:
        parse(text)
    except NotAFormula:
        return False
    return True


def _with_it(one: _Clause, other: _Clause) -> tuple[_Clause, _Clause]:
    """Two clauses, ``it`` or ``there`` in one of them being what the other is about."""
    pronoun = re.compile(r"(?<=[(,])(?:it|them|there|itagain)(?=[,)])")
    subjects = [re.search(r"\(([^(),]+)", clause.event) for clause in (other, one)]
    first, second = [
        clause._replace(event=pronoun.sub(subject[1], clause.event)) if subject else clause
        for clause, subject in zip((one, other), subjects, strict=True)
    ]
    return first, second


# -- counts -----------------------------------------------------------------------------------------------------------

_COUNTS = (
    (r"at (?:the )?least|no less than|no fewer than|a? ?minimum of", "least", 0),
    (
        r"at (?:the )?(?:most|maximum)|no more than|not more than|up to|a maximum of|at most for|only",
        "most",
        0,
    ),
    (r"less than|fewer than", "most", -1),
    (r"more than|over", "over", 0),
    (r"exactly", "exactly", 0),
)


def _counted(words: str) -> Iterator[str]:
    """``you can visit the kitchen at most twice``: the event with its number, whatever their order."""
    found = re.search(rf" {_OFTEN}\b(?: is allowed| are allowed| at most)?\Z", words)
    if found is None or re.search(r" (?:means|if|before|once you) |\A(?:if|before|after|once|when) ", words):
        return
    before = re.sub(r" for\Z", "", words[: found.start()])
    how, less = "", 0
    if found[0].endswith("at most"):
        how = "most"
    for pattern, name, by in _COUNTS:
        said = re.search(rf" (?:for )?(?:{pattern})\Z", before)
        if said is not None and not how:
            before, how, less = before[: said.start()], name, by
    before = re.sub(r" (?:for|for at most)\Z", "", before)
    only = re.search(r"\bonly ", before) is not None
    clause = _clause(re.sub(r"\bonly ", "", before))
    if clause is None:
        return
    first = found["often"].split()[0]
    times = (int(first) if first.isdecimal() else _NUMBERS[first]) + less
    least, most = _at_least(clause.event, times), f"! {_at_least(clause.event, times + 1)}"
    match clause.force, how:
        case "never", "over":
            yield most
        case "never", "" | "least":
            yield f"! {least}"
        case "may" | "must" | "do", "most":
            yield most
        case "may", "":
            yield most
        case "must" | "do", "" if only:
            yield most
        case "must", "":
            yield least
        case "must" | "do", "least":
            yield least
        case "must" | "may" | "do", "exactly":
            yield f"& {least} {most}"
        case "must" | "do", "over":
            yield _at_least(clause.event, times + 1)
        case _:
            return


def _at_least(event: str, times: int) -> str:
    """The event becomes true this often."""
    formula = event
    for _ in range(times - 1):
        formula = f"& {event} U {event} & ! {event} U ! {event} F {formula}"
    return f"F {formula}"


# -- two clauses ------------------------------------------------------------------------------------------------------


def _not_before(main: _Clause, other: _Clause) -> str | None:
    """Of ``never A before B`` and ``B before A``."""
    if main.force == "never":
        return f"W ! {main.event} {other.event}"
    return f"W ! {other.event} {main.event}" if main.force != "not" and other.force in ("do", "may") else None


def _unless(main: _Clause, other: _Clause) -> str | None:
    """Of ``never A until B``."""
    return f"W ! {main.event} {other.event}" if main.force == "never" and other.force in ("do", "may") else None


def _only_after(main: _Clause, other: _Clause) -> str | None:
    asked = main.force in ("may", "do", "must") and other.force in ("do", "may")
    return f"W ! {main.event} {other.event}" if asked else None


def _needs(main: _Clause, other: _Clause) -> str | None:
    """Of ``B in order to A``, ``B is required for A``."""
    return f"W ! {other.event} {main.event}" if main.force in ("must", "do") else None


def _needs_first(main: _Clause, other: _Clause) -> str | None:
    return _needs(other, main)


def _right_after(main: _Clause, other: _Clause) -> str | None:
    return _if(main._replace(at_once=True), other)


def _if(main: _Clause, other: _Clause) -> str | None:
    """Of ``if A, must B``, ``if A, never B`` and ``if not yet A, never B``."""
    if other.force in ("not", "never"):
        return _unless(main, other._replace(force="do"))
    if main.force == "never":
        if main.event == other.event and not other.state:
            return f"! {_at_least(main.event, 2)}"
        if other.state:
            return f"G i {other.event} ! {main.event}"
        return f"G i {other.event} {'X' if main.at_once else 'G'} ! {main.event}"
    if main.force in ("must", "do"):
        return f"G i {other.event} {'X' if main.at_once else 'F'} {main.event}"
    return None


def _while(main: _Clause, other: _Clause) -> str | None:
    """Of ``never A while B``."""
    return f"G i {other.event} ! {main.event}" if main.force == "never" and other.force == "do" else None


def _means(main: _Clause, other: _Clause) -> str | None:
    """Of ``A means must B``, where the condition comes first."""
    return _if(other, main) if main.force in ("do", "may", "must") and other.force in ("must", "never") else None


# The order matters: what is before is also part of what comes later ("right after" and "after").
_JOINS = tuple(
    [
        (re.compile(rf"(?:\A|(?<= ))(?:{words})(?= )"), join)
        for words, join in (
            (r"(?:but )?only (?:after|once|if|when)", _only_after),
            (r"(?:right|immediately|directly|straight|instantly|just) (?:after|once|when|if)|as soon as", _right_after),
            (r"before|prior to", _not_before),
            (r"while|as long as", _while),
            (r"until|till|unless|without(?: first)?", _unless),
            (r"in order to|so as to|is (?:required|needed|necessary) (?:to|for|before|in order to)", _needs),
            (r"requires?(?: that)?(?: you)?(?: to)?|needs", _needs_first),
            (r"means?(?: that)?|implies(?: that)?|entails(?: that)?", _means),
            (r"if|when|whenever|once|(?:some ?time |any ?time )?after|(?:every|each|any) ?time|upon|in case", _if),
            (r"but|and(?: then)?|then", _means),
            (r"(?<!\A)you(?= (?:must|have to|need to|can|will|are))", _means),
        )
    ]
)


def _reason(words: str) -> str:
    """Which part of a sentence has no reading."""
    if not words:
        return "the sentence is empty"
    joined = [(first, second) for pattern, _ in _JOINS for first, second in _splits(pattern, words) if first and second]
    for first, second in joined or [(words, words)]:
        unread = [part for part in (first, second) if _clause(part) is None]
        if len(unread) == 1 or not joined:
            return (
                f"{unread[0]!a} does not correspond to a proposition of this home world"
                if unread
                else "it is neither required nor forbidden"
            )
    return "the connection of its parts is not understood, or they contain no proposition of this home world"
