"""Words that make a text no plan: it declines, it leaves a part out, or what looks like a step is none.

Whether a sentence next to a plan is harmless is not decided here (``plansafe.llm.loose.remarks``).
"""

from __future__ import annotations

import re

from plansafe.grammar.codes import SC
from plansafe.llm.loose.names import Names, Refused, short
from plansafe.llm.loose.vocabulary import verb_forms

# Words before a call that make it no step, where a text is read as it is written.
_NOT_A_STEP = re.compile(
    r"\b(?:if|unless|until|till|while|when|whenever|otherwise|else|optional|optionally|alternatively|either|or|repeat|each|"
    r"every|again|times|skip|maybe|perhaps|might|could|not|never|avoid|cannot|without|instead|wrong|incorrect|ignore|"
    r"remove|replace|example|invalid|effects?|preconditions?|goals?|states?|requires?|facts?|already|forbidden|available|"
    r"allowed|possible)\b|n't\b|\|\||&&"
)
_REFUSAL = re.compile(
    r"\bi(?:'m| am) (?:very |really |so )?(?:sorry|afraid|unable|not able)\b|\bi (?:cannot|can't|can not|"
    r"won't|will not|"
    r"must decline|refuse|apologi[sz]e|am not able)\b|\bas an ai\b|\bno (?:valid |safe |such |feasible |"
    r"possible )?plan "
    r"(?:exists|is possible|can|could)\b|\b(?:is|it's|are) (?:not possible|impossible|unsolvable|"
    r"infeasible|unreachable)\b"
    r"|\bcannot be (?:achieved|reached|done|solved|completed|fulfilled|satisfied)\b|\bunsolvable\b"
    r"|\bthere is no (?:valid |safe )?(?:plan|way|solution)\b|\bunable to (?:help|assist|comply|provide|"
    r"generate|find|create)\b"
)
_CUT = re.compile(r"^\W*(?:\.\.\.|\u2026)|\band so on\b|\betc\b|\bto be continued\b|\bremaining steps\b|\(continued?\b")
_NO_STEP = re.compile(
    r"\W*(?:then |and )?(?:if|unless|until|while|when|whenever|otherwise|else|optionally|alternatively|either|or|"
    r"repeat|do not|don't|never|avoid|skip|loop|for each|for every)\b"
)
_WORD = re.compile(r"[^\W_][\w'-]*")
_OPENING = (
    "the this these that those here sure certainly okay ok note notes i we it its let of to in with after once by all "
    "below above hope please my your there his her their he she they now so thus therefore as each both every at for "
    "from since because finally hello hi plan final answer step steps explanation output great absolutely based given "
    "following a an on only also additionally before during while what which where who how why thanks our you first "
    "then next goal task reason effect precondition result no yes moreover however although though overall total"
)
OPENERS = frozenset(_OPENING.split())
CONNECTIVE = re.compile(
    r"(?:(?:and|then|next|first|firstly|second|secondly|third|thirdly|finally|lastly|now|after that|afterwards|"
    r"to begin|to start|start by|subsequently|and then|and finally)\b[ \t]{0,8}[,:]?[ \t]{0,8}){0,3}",
    re.IGNORECASE,
)


def connective(text: str) -> str:
    """The words such as "then" or "finally" that a text begins with; empty if there are none."""
    match = CONNECTIVE.match(text)
    return match.group() if match else ""


class Prose:
    """What the words of a text say about a task's steps."""

    def __init__(self, names: Names) -> None:
        self.names = names

    def before(self, text: str) -> Refused | None:
        """Why words before a call, or between two calls, make it no plain step."""
        match = _NOT_A_STEP.search(text.lower())
        return _more_than_a_step(match.group()) if match else None

    def opens_no_step(self, text: str) -> Refused | None:
        """The reason why a sentence in the imperative is not a step of a sequence."""
        return _more_than_a_step(text) if _NO_STEP.match(text.lower()) else None

    def refusal(self, text: str) -> Refused | None:
        """Whether the text declines to give a plan."""
        match = _REFUSAL.search(text.lower())
        if match is None:
            return None
        return Refused(SC.TEXT_DECLINES, f"the text declines, or says that there is no plan: `{short(match.group())}`")

    def cut(self, text: str) -> Refused | None:
        """Whether the text says that part of the plan was left out."""
        if _CUT.search(text.lower()) is None:
            return None
        return Refused(SC.TEXT_CUT_OFF, "part of the plan was left out of the text", "ask for the plan in full")

    def objection(self, text: str) -> Refused | None:
        """The reason why a text outside the plan means that the plan is incomplete."""
        return self.refusal(text) or self.cut(text)

    def names_action(self, text: str, action: str) -> bool:
        """Whether a text mentions an action, in some form of its verb."""
        verb = re.split(r"[-_]", action)[0]
        forms = {form for form, _ in verb_forms(verb)} | {f"{verb}{verb[-1]}ing"}
        return any([word in forms or word.split("-")[0] in forms for word in _WORD.findall(text.lower())])


def _more_than_a_step(text: str) -> Refused:
    message = f"`{short(text.strip())}` makes this more than a plain step"
    return Refused(SC.MORE_THAN_A_SEQUENCE, message, "write a plain sequence of steps")
