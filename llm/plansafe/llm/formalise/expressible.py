"""Find requests that no rule of a domain can express, from the words of a sentence, before a model is asked.

Sequences of facts keep or break rules. Rules cannot refer to degrees, chances, wishes or beliefs, to things that
neither domain nor problem names, or, where steps have no durations, to the clock. A sentence that asks for any of these
is refused with the word that causes it. A sentence without such a word may still not be expressible: then the model
may answer ``CANNOT``, or a person notices it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.prompts.formalising import one_line
from plansafe.verifier.execution.compiled import CompiledTask

_NEAR = 0.75
_MAX_NAMES = 12
_WORD = re.compile(r"[a-z][a-z']*")
_CHANCES = r"probab\w+|likel(?:y|ihood)|unlikely|chances?|percent|odds|on average|usually|mostly|rarely|often"
_BELIEFS = r"believ\w+|thinks?|suspects?|expects?|assumes?|knows?|known|sure|certain|aware|doubts?|guess\w*|hopes?"
_SIGHT = r"sees?|seen|watch(?:es|ing)?|looks?|hears?|heard|notices?|visible|in sight|out of sight|hidden"
_CLOCK = r"seconds?|minutes?|hours?|days?|weeks?|o'clock|noon|midnight|tonight|tomorrow|at night|in the morning"
_WISHES = r"as \w+ as possible|if possible|try to|tries to|prefer\w*|ideally|best|better|m(?:in|ax)imi[sz]e|would like"
_MANNER = r"gentl[ey]|careful(?:ly)?|quiet(?:ly)?|slow(?:ly)?|soft(?:ly)?|polite(?:ly)?|loud(?:ly)?|rough(?:ly)?"
_KINDS: tuple[tuple[str, str, str], ...] = (
    (_CLOCK, "clock time", "state an order, or a number of steps"),
    (_CHANCES, "probability", "state a condition that must never or always be true"),
    (_BELIEFS, "belief or knowledge", "state a fact, not a belief"),
    (_SIGHT, "perception", "state where objects and people are"),
    (_WISHES, "a wish or a degree", "state the condition that decides whether the rule is violated"),
    (_MANNER, "the manner of an action", "state the actions and the conditions before and after them"),
)
_PHRASE = re.compile(r"\b(?:the|a|an|any|every|each|no|all|another|some|your|its|both) ([a-z][a-z' -]*)")
_MEASURE = re.compile(r"\b\d+(?:[.,]\d+)* ?([a-z]+)")
_ENDS = """
is are was were be been being has have had must may can could should shall will would do does did not never always and
or but nor if unless until till before after while when whenever whoever only except since once than that which who
whom whose in on at to of from with without into onto inside outside out off by for near next beside between under over
as again later first then also still ever any it them they he she you there here
"""
_GENERAL_WORDS = """
robot agent plan plans end start beginning time times moment moments step steps action actions state states thing things
one ones other others same room rooms home house object objects item items person people somebody anybody nobody someone
anyone everyone everything anything nothing way order rule case hand hands gripper place places meantime whole rest most
least once twice
"""
_BOUNDARY = frozenset(_ENDS.split())
"""What ends the phrase that an article begins."""
_GENERAL = frozenset(_GENERAL_WORDS.split())
"""What every domain has, or a sentence needs to be one."""


def inexpressible(sentence: str, compiled: CompiledTask) -> Diagnostic | None:
    """Why a sentence is refused, with the word that it hangs on; ``None`` if nothing was found."""
    words = one_line(sentence).lower()
    names = _known_names(compiled)
    for pattern, about, instead in _KINDS:
        match = next((m for m in re.finditer(rf"\b(?:{pattern})\b", words) if not _is_known(m[0], names)), None)
        if match is not None:
            message = f"`{match[0]}` is about {about}, which rules of this domain cannot express"
            return Diagnostic(SC.NOT_EXPRESSIBLE, message, help=instead)
    if not words:
        return Diagnostic(
            SC.NOT_EXPRESSIBLE, "the sentence is empty", help="state a condition that must never or always be true"
        )
    for noun in _nouns(words):
        if not _is_known(noun, names) and noun not in _GENERAL:
            return _unknown(noun, compiled)
    return None


def _unknown(noun: str, compiled: CompiledTask) -> Diagnostic:
    task = compiled.task
    names = [*compiled.symbols.types.names, *task.objects, *[p.name for p in task.predicates if " " not in p.name]]
    close = difflib.get_close_matches(noun[:40], list(dict.fromkeys(names)), n=3, cutoff=_NEAR)
    types = ", ".join(compiled.symbols.types.names[1 : 1 + _MAX_NAMES])
    help = f"did you mean {' or '.join([f'`{name}`' for name in close])}?" if close else f"its types are {types}, .."
    message = f"`{noun[:40]}` is not a name in the domain or the problem"
    return Diagnostic(SC.NOT_EXPRESSIBLE, message, help=f"{help} To ask the model anyway: --unchecked")


def _nouns(words: str) -> Iterator[str]:
    """The last word of each phrase that an article or the like begins, and what a number counts or measures."""
    for measured in _MEASURE.finditer(words):
        if measured[1] not in _BOUNDARY:
            yield measured[1]
    for match in _PHRASE.finditer(words):
        phrase: list[str] = []
        for word in _WORD.findall(match[1].replace("-", " ")):
            if word in _BOUNDARY or (phrase and word.endswith(("ing", "ed", "ly"))):
                break
            phrase.append(word)
        if phrase:
            yield phrase[-1].removesuffix("'s").rstrip("'")


def _known_names(compiled: CompiledTask) -> frozenset[str]:
    """The words of all names of a task, shortened as :func:`_stem` does."""
    task = compiled.task
    names = [*compiled.symbols.types.names, *task.objects, *task.actions, *[p.name for p in task.predicates]]
    names += [function.name for function in task.functions]
    joined_names = [name.replace("-", "").replace("_", "") for name in names]
    return frozenset([_stem(word) for name in [*names, *joined_names] for word in re.split(r"[-_ ]", name) if word])


def _is_known(text: str, names: frozenset[str]) -> bool:
    return all([_stem(word) in names for word in _WORD.findall(text)])


def _stem(word: str) -> str:
    """A word without the endings of English plurals and verbs, so that `switched` is `switch`. Crude on purpose."""
    for ending in ("ies", "es", "s", "ing", "ed", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending).rstrip("e")
    return word.rstrip("e")
