"""Translate the English constraints of the benchmark to prefix LTL with a small grammar, without a model.

The benchmark's formulas were written by a language model, and some do not match their sentence (two rooms exchanged,
"twice" read as "once"). An independent translation finds them.

A sentence is a clause ("never go to the kitchen", with or without a count), or two clauses with a conjunction
("before", "if", "means"). A clause has a force (must, may, never, or none) and an event, which patterns match. Other
sentences raise :class:`NotUnderstood` with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from plansafe.domains.safety_chip.prefix import NotAFormula, parse, plain_name

MAX_LENGTH = 200

# Names that people use, with the simulator's names.
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
_TIMES = r"(?P<often>once|twice|thrice|(?:one|two|three|four|five|six|[1-6]) times?)"

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
_LEADING_WORDS = re.compile(
    r"(?:(?:you|ever|already|have|has|had|having|to|the agent|robot|first|also|then|yet|just|only) )+"
)
_ADVERBIALS = re.compile(
    r"(?: (?:too|first|again|afterwards?|after that|after this|any ?more|any longer|later(?: on)?|eventually|yet|also"
    r"|in the future|in the end|at (?:any time|all times|all|some point|the end|any point)|sometime|then|thereafter"
    r"|already|ever|as well|ever again|once more|beforehand|subsequently|from then on|next|at least once))+\Z"
)
_AT_ONCE = re.compile(
    r" ?\b(?:immediately|right away|straight away|instantly|at once|right|directly|promptly)\b"
    r"(?: (?:after(?:wards| that| this)|next))?(?= |\Z)"
)
_AUXILIARY = "must|can|may|should|shall|will|has|is|needs|does|never|cannot"
_NEVER_PHRASES = "under no circumstances?|at no (?:time|point)|in no case|by no means"
_VISITS = (
    r"(?:there (?:can|may|must|should) be )?(at (?:most|least)|no (?:more|fewer|less) than|exactly|up to|only)"
    r" (one|two|three|four|five|six|[1-6]) (?:visits?|trips?|entr(?:y|ies)) (?:in)?to (.+?)"
)


def _to_second_person(match: re.Match[str]) -> str:
    """Change a verb from the third person to the second: ``you has`` to ``you have``."""
    return f"you {({'ha': 'have', 'need': 'need', 'doe': 'do'})[match[1]]}"


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
    (r"\byou (ha|need|doe)s\b", _to_second_person),
    (rf"\A(?:{_NEVER_PHRASES}) (?:should|may|can|must|do|will|shall) you\b", "never"),
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
            (rf"{_NAME} (?:is|are|has been|was|being)(?: (?:put|placed))? (?:onto|on top of|on) (.+)", "is_on({},{})"),
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
            (r"(?:switch|turn|power)(?:ing|ed|es|s)? on (.+)|(?:switch|turn)(?:ing|ed)? (.+) on", "is_switchedon({})"),
            (
                r"(?:switch|turn|power)(?:ing|ed|es|s)? off (.+)|(?:switch|turn)(?:ing|ed)? (.+) off",
                "! is_switchedon({})",
            ),
            (rf"open(?:ed|ing|s)?(?: up)? {_NAME}(?: up)?", "is_open({})"),
            (rf"(?:{_SHUT}) {_NAME}(?: up)?", "! is_open({})"),
            (r"touch(?:ed|ing|es)? (.+)", "is_touched({})"),
            (rf"(?:{_GO})(?: back)? (?:{_TO}) (.+)", "agent_at({})"),
            (r"(?:visit|enter|reach|approach|pass|re-?enter|revisit)(?:ed|ing|es|s)? (.+)", "agent_at({})"),
            (r"(?:go|been|walk)(?: back)? (.+)", "agent_at({})"),
            (r"((?:the )?(?:(?:living|bath|bed) ?room|kitchen|toilet))", "agent_at({})"),
        )
    ]
)
_NOT_A_NAME = re.compile(
    r"\b(?:you|must|can|not|no|than|either|both|neither|then|never|if|before|after|until|and|or|to|in|on|of|at|is|are|have|be|times?|means|again|every)\b"
    r"|(?:\S+ ){4}"
)
_STATE = re.compile(r"(?:the )?\w[\w ]* (?:is|are) (?:still )?(?:left )?(?:open|closed|shut|on|off|in|inside)\b")


_AT_THE_END = ("at the end", "in the end")
_SOME_TIME = ("at least once", "eventually", "at some point", "sometime", "some time")


class NotUnderstood(Exception):
    """A sentence that the grammar cannot read; the message is the reason."""


class _Clause(NamedTuple):
    """The force and event of a clause; ``at_once``: immediately afterwards; ``state``: about the state of an object."""

    force: str
    event: str
    at_once: bool
    state: bool


def formula_of(sentence: str) -> str:
    """Translate a sentence of at most 200 characters to a prefix formula. Raises :class:`NotUnderstood`."""
    if len(sentence) > MAX_LENGTH:
        raise NotUnderstood(f"it has more than {MAX_LENGTH} characters")
    words = sentence.lower().strip()
    for pattern, replacement in _CONTRACTIONS:
        words = re.sub(pattern, replacement, words)
    words = " ".join(re.sub(r"\bplease\b", "", words).split())
    for formula in _readings(words):
        if _is_formula(formula):
            return formula
    raise NotUnderstood(_reason(words))


def _readings(words: str) -> Iterator[str]:
    """Yield the possible formulas of a sentence, the likeliest first."""
    yield from _counted_readings(words)
    for pattern, combine in _CONJUNCTIONS:
        for first, second in _splits(pattern, words):
            first_clause, second_clause = _clause(first), _clause(second)
            formula = (
                combine(*_resolve_pronouns(first_clause, second_clause))
                if first_clause is not None and second_clause is not None
                else None
            )
            if formula is not None:
                yield formula
    left = (never := _NEVER.match(words)) and _LEFT.fullmatch(words, never.end())
    if left:
        state = _event(f"{left[1]} is {left[2]}")
        yield f"G i {state} F ! {state}"
    yield from _conjoined_readings(words)
    clause = _clause(words)
    if clause is not None and clause.state and clause.force == "must" and words.endswith(_AT_THE_END):
        yield f"F G {clause.event}"
    if clause is not None and clause.force == "never" and not words.endswith(" again"):
        yield f"G ! {clause.event}"
    elif clause is not None and (clause.force == "must" or words.endswith(_SOME_TIME)):
        yield f"F {clause.event}"


def _conjoined_readings(words: str) -> Iterator[str]:
    """Read ``you must go to A and B``: both, in any order."""
    first, conjunction, second = words.rpartition(" and ")
    first_clause = _clause(first) if conjunction else None
    second_clause = None if first_clause is None else _clause(second)
    if (
        first_clause is not None
        and second_clause is not None
        and first_clause.force == "must"
        and second_clause.force in ("do", "must")
    ):
        yield f"& F {first_clause.event} F {second_clause.event}"


def _splits(pattern: re.Pattern[str], words: str) -> Iterator[tuple[str, str]]:
    """Yield the two clauses around or after a conjunction; after it, with or without a comma between them."""
    for match in pattern.finditer(words):
        tail = words[match.end() :].strip(" ,")
        if match.start():
            yield words[: match.start()].strip(" ,"), tail
        else:
            for comma in re.finditer(r" (?:, )?(?:then )?", tail):
                yield tail[comma.end() :], tail[: comma.start()]


def _clause(words: str) -> _Clause | None:
    """Read a clause; ``None`` if the words are not one."""
    at_once = _AT_ONCE.search(words) is not None
    words = re.sub(r"\A(?:and |but |then |so |, )+", "", _AT_ONCE.sub("", words).strip(" ,"))
    words = _ADVERBIALS.sub("", re.sub(r"\b(?:also|first|still|then|always|eventually|only) ", "", words).strip())
    if (passive := _PASSIVE.fullmatch(words)) is not None and passive["so"] != "avoided":
        words = (
            f"{passive['force'].replace('has', 'have').replace('needs', 'need')} {passive['what']} is {passive['so']}"
        )
    elif (banned := _BANNED.fullmatch(words)) is not None:
        event = _event(banned["what"]) or _event(f"go to {banned['what']}")
        return None if event is None else _Clause("never", event, at_once, state=False)
    away = _AWAY.match(words)
    if away is not None:
        return _Clause("never", f"agent_at({_object_name(words[away.end() :])})", at_once, state=False)
    force = "do"
    # "Not yet" comes first: "you did not visit" is not an order, "do not visit" is.
    for name, pattern in (("never", _NEVER), ("not", _NOT_YET), ("must", _MUST), ("may", _MAY)):
        match = pattern.match(words)
        if match is not None:
            force, words = name, words[match.end() :]
            break
    words = _LEADING_WORDS.sub("", words, count=1) if _LEADING_WORDS.match(words) else words
    event = _event(re.sub(r" once\Z", "", words))
    if event is None and match is not None and "avoid" in match[0] and not _NOT_A_NAME.search(words):
        event = f"agent_at({_object_name(words)})"
    elif event is None and match is not None and re.search("(?:allow|permitt)ed ", match[0]):
        event = _event(f"go {words}")  # "you are not allowed in the kitchen"
    return None if event is None else _Clause(force, event, at_once, _STATE.match(words) is not None)


def _event(words: str) -> str | None:
    """The proposition that an event makes true: ``is_grabbed(apple)`` for ``pick up the apple``; ``None``: not read."""
    for pattern, proposition in _EVENTS:
        match = pattern.fullmatch(words)
        if match is not None:
            groups = [group for group in match.groups() if group is not None]
            proposition_text = proposition.format(*[_object_name(group) for group in groups])
            if _is_formula(proposition_text) and not any([_NOT_A_NAME.search(group) for group in groups]):
                return proposition_text
    words = re.sub(r"\beither (?=.+ or )", "", words)
    for conjunction in (" or ", " and "):
        first, conjunction_found, second = words.rpartition(conjunction)
        if conjunction_found:
            first_event = _event(first)
            second_event = _event(second) or (
                re.sub(r"(\(|,)[^(),]*\)\Z", rf"\1{_object_name(second)})", first_event) if first_event else None
            )
            return f"| {first_event} {second_event}" if first_event and second_event and conjunction == " or " else None
    return None


def _object_name(words: str) -> str:
    name = plain_name(re.sub(r"\A(?:(?:the|an|a|any|that|your) )+", "", words.strip()))
    return _SYNONYMS.get(name, name)


def _is_formula(text: str) -> bool:
    """Whether a text is a prefix formula, with valid names."""
    try:
        parse(text)
    except NotAFormula:
        return False
    return True


def _resolve_pronouns(first_clause: _Clause, second_clause: _Clause) -> tuple[_Clause, _Clause]:
    """Replace ``it`` and ``there`` in two clauses by the object of the other clause."""
    pronoun = re.compile(r"(?<=[(,])(?:it|them|there|itagain)(?=[,)])")
    subjects = [re.search(r"\(([^(),]+)", clause.event) for clause in (second_clause, first_clause)]
    first, second = [
        clause._replace(event=pronoun.sub(subject[1], clause.event)) if subject else clause
        for clause, subject in zip((first_clause, second_clause), subjects, strict=True)
    ]
    return first, second


# -- counts -----------------------------------------------------------------------------------------------------------

_COUNTS = (
    (r"at (?:the )?least|no less than|no fewer than|a? ?minimum of", "least", 0),
    (r"at (?:the )?(?:most|maximum)|no more than|not more than|up to|a maximum of|at most for|only", "most", 0),
    (r"less than|fewer than", "most", -1),
    (r"more than|over", "over", 0),
    (r"exactly", "exactly", 0),
)


def _counted_readings(words: str) -> Iterator[str]:
    """Read a clause with a count, such as ``you can visit the kitchen at most twice``."""
    match = re.search(rf" {_TIMES}\b(?: is allowed| are allowed| at most)?\Z", words)
    if match is None or re.search(r" (?:means|if|before|once you) |\A(?:if|before|after|once|when) ", words):
        return
    before = re.sub(r" for\Z", "", words[: match.start()])
    comparison, offset = "", 0
    if match[0].endswith("at most"):
        comparison = "most"
    for pattern, name, difference in _COUNTS:
        quantifier = re.search(rf" (?:for )?(?:{pattern})\Z", before)
        if quantifier is not None and not comparison:
            before, comparison, offset = before[: quantifier.start()], name, difference
    before = re.sub(r" (?:for|for at most)\Z", "", before)
    only = re.search(r"\bonly ", before) is not None
    clause = _clause(re.sub(r"\bonly ", "", before))
    if clause is None:
        return
    first = match["often"].split()[0]
    times = (int(first) if first.isdecimal() else _NUMBERS[first]) + offset
    least, most = _at_least(clause.event, times), f"! {_at_least(clause.event, times + 1)}"
    match clause.force, comparison:
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
    """The formula for: the event becomes true at least ``times`` times."""
    formula = event
    for _ in range(times - 1):
        formula = f"& {event} U {event} & ! {event} U ! {event} F {formula}"
    return f"F {formula}"


# -- two clauses ------------------------------------------------------------------------------------------------------


def _not_before(main: _Clause, condition: _Clause) -> str | None:
    """The formula of ``never A before B`` and ``B before A``."""
    if main.force == "never":
        return f"W ! {main.event} {condition.event}"
    return f"W ! {condition.event} {main.event}" if main.force != "not" and condition.force in ("do", "may") else None


def _unless(main: _Clause, condition: _Clause) -> str | None:
    """The formula of ``never A until B``."""
    return f"W ! {main.event} {condition.event}" if main.force == "never" and condition.force in ("do", "may") else None


def _only_after(main: _Clause, condition: _Clause) -> str | None:
    is_permission = main.force in ("may", "do", "must") and condition.force in ("do", "may")
    return f"W ! {main.event} {condition.event}" if is_permission else None


def _needs(main: _Clause, condition: _Clause) -> str | None:
    """The formula of ``B in order to A`` and ``B is required for A``."""
    return f"W ! {condition.event} {main.event}" if main.force in ("must", "do") else None


def _needs_first(main: _Clause, condition: _Clause) -> str | None:
    return _needs(condition, main)


def _right_after(main: _Clause, condition: _Clause) -> str | None:
    return _if(main._replace(at_once=True), condition)


def _if(main: _Clause, condition: _Clause) -> str | None:
    """The formula of ``if A, must B``, ``if A, never B`` and ``if not yet A, never B``."""
    if condition.force in ("not", "never"):
        return _unless(main, condition._replace(force="do"))
    if main.force == "never":
        if main.event == condition.event and not condition.state:
            return f"! {_at_least(main.event, 2)}"
        if condition.state:
            return f"G i {condition.event} ! {main.event}"
        return f"G i {condition.event} {'X' if main.at_once else 'G'} ! {main.event}"
    if main.force in ("must", "do"):
        return f"G i {condition.event} {'X' if main.at_once else 'F'} {main.event}"
    return None


def _while(main: _Clause, condition: _Clause) -> str | None:
    """The formula of ``never A while B``."""
    return f"G i {condition.event} ! {main.event}" if main.force == "never" and condition.force == "do" else None


def _means(main: _Clause, condition: _Clause) -> str | None:
    """The formula of ``A means must B``, with the condition first."""
    return (
        _if(condition, main) if main.force in ("do", "may", "must") and condition.force in ("must", "never") else None
    )


# The order matters: "right after" comes before "after", which is a part of it.
_CONJUNCTIONS = tuple(
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
    """The reason why a sentence cannot be read: the part that is not a clause."""
    if not words:
        return "the sentence is empty"
    splits = [
        (first, second) for pattern, _ in _CONJUNCTIONS for first, second in _splits(pattern, words) if first and second
    ]
    for first, second in splits or [(words, words)]:
        unread_parts = [part for part in (first, second) if _clause(part) is None]
        if len(unread_parts) == 1 or not splits:
            return (
                f"{unread_parts[0]!a} does not correspond to a proposition of this home world"
                if unread_parts
                else "it is neither required nor forbidden"
            )
    return "the connection of its parts is not understood, or they contain no proposition of this home world"
