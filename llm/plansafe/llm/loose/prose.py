"""Words around steps that a plain sequence cannot express: conditions, loops, alternatives, negations, corrections.

A text that says ``do not turn on the stove``, or ``if the door is shut, open it``, must not be read as if it had not.
These patterns err on the side of refusing: a plan with such words beside it can be written again without them.
"""

from __future__ import annotations

import re
from itertools import pairwise

from plansafe.grammar.codes import SC
from plansafe.llm.loose.names import Names, Refused, key, short

# Before a step any of these changes what it says; behind one, where explanations stand, fewer do.
_BEFORE = re.compile(
    r"\b(?:if|unless|until|till|while|whenever|when|otherwise|else|in case|depending|optional|optionally|"
    r"needed|necessary|"
    r"alternatively|alternative|either|or|repeat|repeatedly|loop|again|each|every|twice|thrice|times|\d+x|x\d+|"
    r"simultaneously|parallel|same time|meanwhile|skip|maybe|perhaps|possibly|might|could|try|not|never|avoid|cannot|"
    r"without|instead|rather|omit|forget|wrong|incorrect|ignore|remove|delete|undo|replace|draft|example|invalid|"
    r"option|choice|variant|"
    r"effects?|preconditions?|postconditions?|goals?|states?|requires?|facts?|already|executed|history|forbidden|"
    r"prohibited|illegal|skipped|removed|unnecessary|failed|available|allowed)\b"
    r"|n't\b|\u00d7|\|\||&&"
)
_BEHIND = re.compile(
    r"\b(?:if|unless|until|till|otherwise|in case|depending|optional|optionally|as needed|if needed|where necessary|"
    r"alternatively|alternative|either|or|repeat|repeatedly|loop|for each|for every|twice|thrice|times|\d+x|x\d+|"
    r"simultaneously|in parallel|at the same time|meanwhile|skip|maybe|perhaps|do not|never|instead|omit|ignore|"
    r"remove|delete|undo|not needed|not necessary|not required|not possible|seconds|minutes|hours|cancelled|canceled)\b"
    r"|\bdon't\b|\u00d7|\|\||&&|^\W*(?:not|no)\b"
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
_CONDITION = re.compile(
    r"\b(?:if|unless|until|whenever|otherwise|in case|optionally|repeat|for each|for every|as needed|"
    r"depending on|either)\b"
)
_NEGATION = re.compile(
    r"\b(?:do not|don't|never|avoid|must not|mustn't|should not|shouldn't|refrain|without|instead of|"
    r"rather than|skip|omit)\b"
)
_EDIT = re.compile(
    r"\b(?:skip|remove|delete|replace|swap|omit|ignore|disregard|insert|reverse|repeat|undo|reorder|"
    r"exchange|drop|forget|"
    r"loop|change)\b"
)
_RETRACTION = re.compile(
    r"^\W*(?:(?:but|oh|hmm|no|so)\W+)?(?:actually|wait|oops|correction|scratch that|on second thought|never ?mind|"
    r"hold on|my mistake|hmm|let me (?:re|fix|correct|try again|think))\b"
)
_FAULT = re.compile(
    r"\b(?:wrong|incorrect|invalid|unsafe|infeasible|won't work|will not work|fails|doesn't work|"
    r"does not work|mistakes?|"
    r"errors?|discard|withdraw|outdated|obsolete)\b"
)
_PLAN = re.compile(r"\b(?:plan|steps?|actions?|sequence|above|below|following|list|previous|last|first)\b")
_STEP = re.compile(
    r"\bsteps? #?\d|\b(?:above|previous|last|first|second|third|next|these|those) (?:steps?|actions?|plan)\b"
)
_ALTERNATIVE = re.compile(
    r"\balternatively\b|\balternative (?:plan|sequence|solution|approach)|\boption [a-z\d]\b|\bplan b\b"
)
_CUT = re.compile(r"^\W*(?:\.\.\.|\u2026)|\band so on\b|\betc\b|\bto be continued\b|\bremaining steps\b|\(continued?\b")
_ADDITION = re.compile(
    r"\b(?:ensure|you (?:may|can)|make sure|remember|be sure|need|needs|have|has|must|should|please|"
    r"don't forget)(?: to)?\b"
)
_COURTESY = re.compile(r"^\W*(?:please )?(?:let me know|feel free|i hope|hope this|if you (?:have|need|would like))\b")
_NO_STEP = re.compile(
    r"\W*(?:then |and )?(?:if|unless|until|while|when|whenever|otherwise|else|optionally|alternatively|either|or|"
    r"repeat|do not|don't|never|avoid|skip|loop|for each|for every)\b"
)
_SENTENCE = re.compile(r"(?<=[.!?;:\u2014])\s|\n")
_WORD = re.compile(r"[^\W_][\w'-]*")
_SUBJECTS = frozenset(("the", "this", "it", "we", "i", "you", "he", "she", "they", "that", "there", "its"))
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
        self._verbs = names.verbs
        self._forms = {form for verb in names.verbs for form in _forms(verb)}
        self._things = {key(name) for name in names.task.objects}

    def before(self, text: str) -> Refused | None:
        """Why words before a step (or between two) forbid to read it as a plain step."""
        return _no_sequence(text, _BEFORE)

    def behind(self, text: str) -> Refused | None:
        """Why a comment or an explanation behind a step does."""
        return _no_sequence(text, _BEHIND)

    def opens_no_step(self, text: str) -> Refused | None:
        """Why a sentence that says what to do is no step of a sequence."""
        match = _NO_STEP.match(text.lower())
        return Refused(SC.MORE_THAN_A_SEQUENCE, f"`{short(text)}` is more than a plain step", _PLAIN) if match else None

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
        return Refused(SC.TEXT_BREAKS_OFF, "part of the plan was left out of the text", "ask for the plan in full")

    def objection(self, text: str, imperative: bool = True) -> Refused | None:
        """Why a text outside the plan cannot be left out; ``None`` if it says nothing that a plan would need."""
        lower = text.lower()
        if refused := self.refusal(lower):
            return refused
        if refused := self.cut(lower):
            return refused
        for sentence in _SENTENCE.split(lower):
            if refused := self._sentence(sentence, imperative):
                return refused
        return None

    def _sentence(self, sentence: str, imperative: bool) -> Refused | None:
        words = _WORD.findall(sentence)
        if not words:
            return None
        acts = any([word in self._forms for word in words])
        things = self.things(words)
        if _RETRACTION.search(sentence) or (_EDIT.search(sentence) and (_STEP.search(sentence) or "plan" in words)):
            return Refused(
                SC.PLANS_DIFFER, f"the text changes the plan it gives: `{short(sentence)}`", "give the final plan alone"
            )
        if _FAULT.search(sentence) and _PLAN.search(sentence):
            return Refused(
                SC.PLANS_DIFFER, f"the text finds fault with a plan: `{short(sentence)}`", "give the final plan alone"
            )
        if _ALTERNATIVE.search(sentence):
            return Refused(
                SC.MORE_THAN_A_SEQUENCE, f"the text offers alternatives: `{short(sentence)}`", "give one plan"
            )
        if _COURTESY.search(sentence) and not things:
            return None
        if _CONDITION.search(sentence) and (acts or things or _STEP.search(sentence)):
            return Refused(SC.MORE_THAN_A_SEQUENCE, f"a plan has no conditions and loops: `{short(sentence)}`", _PLAIN)
        if _NEGATION.search(sentence) and acts:
            return Refused(
                SC.MORE_THAN_A_SEQUENCE, f"the text says what is not to be done: `{short(sentence)}`", _PLAIN
            )
        if imperative and things:
            text = sentence.lstrip(" \t\"'(*-")
            opening = connective(text)
            rest = text[len(opening) :]
            first = _WORD.match(rest)
            word = first.group() if first else ""
            sequel = bool(opening) and word not in _SUBJECTS
            strange = word not in OPENERS and not word.endswith(("ing", "ly", "ed")) and not self.things([word])
            if word in self._verbs or sequel or strange:
                return Refused(
                    SC.NOT_UNDERSTOOD, f"this may be a step: `{short(sentence)}`", "write it as a step, or leave it out"
                )
            if acts and _ADDITION.search(sentence):
                return Refused(
                    SC.NOT_UNDERSTOOD,
                    f"this may ask for a further step: `{short(sentence)}`",
                    "make it part of the plan",
                )
        return None

    def things(self, words: list[str]) -> bool:
        """Whether words name an object."""
        return any([key(word) in self._things for word in words]) or any(
            [key(f"{a} {b}") in self._things for a, b in pairwise(words)]
        )

    def names_action(self, text: str, action: str) -> bool:
        """Whether a text mentions an action, in some form of its verb."""
        verb = re.split(r"[-_]", action)[0]
        forms = _forms(verb)
        return any([word in forms or word.split("-")[0] in forms for word in _WORD.findall(text.lower())])


_PLAIN = "write a plain sequence of steps"


def _no_sequence(text: str, pattern: re.Pattern[str]) -> Refused | None:
    match = pattern.search(text.lower())
    if match is None:
        return None
    return Refused(
        SC.MORE_THAN_A_SEQUENCE, f"`{short(match.group().strip())}` makes this more than a plain step", _PLAIN
    )


def _forms(verb: str) -> set[str]:
    stem = verb[:-1] if verb.endswith("e") else verb
    return {verb, f"{verb}s", f"{verb}es", f"{verb}ing", f"{stem}ing", f"{verb}{verb[-1]}ing"}
