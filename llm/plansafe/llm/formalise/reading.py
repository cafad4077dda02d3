"""What a model answered, as one rule that compiles for the task, as a refusal, or as a diagnostic.

An answer is hostile text: it is bounded before it is read, only the fields of a rule are taken over from it (no name,
no message, no section that could extend, disable or open anything), and those fields are written again.

Find requests that no rule of a domain can express, from the words of a sentence, before a model is asked.

Sequences of facts keep or break rules. Rules cannot refer to degrees, chances, wishes or beliefs, to things that
neither domain nor problem names, or, where steps have no durations, to the clock. A sentence that asks for any of these
is refused with the word that causes it. A sentence without such a word may still not be expressible: then the model
may answer ``CANNOT``, or a person notices it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.ltl import list_action_names, parse_ltl
from plansafe.grammar.sexpr import Node, format_node, parse_nodes
from plansafe.grammar.source import Source
from plansafe.llm.prompts.formalising import Language, one_line
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.execution.compiled import CompiledTask

LONGEST = 20_000
"""Characters of an answer that are read; a rule is not as long as that."""
MOST_TOKENS = 500
DEEPEST = 40
_REASON = 200
_KINDS = (":process", ":trajectory", ":termination", ":obligation")
_START = re.compile(r"\((?=\s*:(?:process|trajectory|termination|obligation)\b)", re.IGNORECASE)
_PARENTHESIS = re.compile(r'[()]|"(?:[^"\\]|\\.)*+"|;[^\r\n]*+', re.DOTALL)
_FENCE = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)^[ \t]*```", re.DOTALL | re.MULTILINE)
_CANNOT = re.compile(r"\W*cannot\b[\s:.,-]*", re.IGNORECASE)
_STEPS = (":on", ":at-end", ":during")
_DEMANDS = (":forbid", ":require", ":forbid-after", ":require-after")
_FIELDS = frozenset((":parameters", *_STEPS, ":when", *_DEMANDS, ":formula", ":then", ":within"))
_META = frozenset((":hazard", ":target", ":severity", ":message", ":rationale", ":source", ":fix"))
ANSWER = "<answer>"


class Reading(NamedTuple):
    """One of the three: a rule named ``r``, the model's reason for a missing rule, or the error of the answer."""

    rule: str | None = None
    declined: str | None = None
    wrong: Diagnostic | None = None


def read_answer(text: str, compiled: CompiledTask, language: Language) -> Reading:
    """Read one answer. Time and memory are bounded, whatever it is."""
    if len(text) > LONGEST:
        return _bad(f"the answer has {len(text):,} characters, more than the allowed {LONGEST:,}")
    body = _inside(text).strip()
    declined = _CANNOT.match(body)
    if declined is not None:
        return Reading(declined=one_line(body[declined.end() :])[:_REASON] or "no reason given")
    outcome = _rule(body) if language is Language.RULES else _formula(body, compiled)
    if isinstance(outcome, Reading):
        return outcome
    checker = compiled_with([outcome], compiled)
    if not checker.ok:
        return Reading(wrong=next(d for d in checker.diagnostics if d.severity is Severity.ERROR))
    if not checker.rules[0].applicable:
        return _bad("the rule needs names that the domain does not have")
    return Reading(outcome)


def compiled_with(rules: list[str], compiled: CompiledTask) -> Checker:
    """The task with these rules alone, named ``r1``, ``r2``, .."""
    named_rules = [rule.replace(" r ", f" r{number} ", 1) for number, rule in enumerate(rules, 1)]
    text = "(define (safety formalised)\n" + "\n".join(named_rules) + ")\n"
    options = Options(lenient_types=compiled.options.lenient_types, replay="never")
    return Checker(compiled.domain, compiled.problem, [Source(ANSWER, text)], options)


def _bad(message: str, help: str | None = None) -> Reading:
    return Reading(wrong=Diagnostic(SC.NOT_A_RULE, message, help=help))


def _inside(text: str) -> str:
    """The content of the first fenced block; everything without one."""
    match = _FENCE.search(text)
    return text if match is None else match[1]


def _rule(body: str) -> str | Reading:
    starts = [match.start() for match in _START.finditer(body)]
    if not starts:
        return _bad("the answer has no rule", "a rule starts with one of " + ", ".join(_KINDS))
    end = _end(body, starts[0])
    if end is None:
        return _bad("the rule is not closed: the answer is cut off, or a parenthesis is missing")
    if any([start > end for start in starts]):
        return _bad("the answer has several rules instead of one")
    text = body[starts[0] : end]
    tokens = len(re.findall(r"[^\s()]+", text))
    if tokens > MOST_TOKENS or _depth(text) > DEEPEST:
        return _bad(f"the rule has {tokens} words; at most {MOST_TOKENS}, nested {DEEPEST} deep, are read")
    nodes = parse_nodes(Source(ANSWER, text))
    if not nodes or not isinstance(nodes[0], list):
        return _bad("the rule cannot be read: it has an invalid string or character")
    return _plain(nodes[0])


def _plain(node: list[Node]) -> str | Reading:
    """The rule with a name of ours and without its descriptions. Raises nothing."""
    kind = node[0] if node else ""
    fields = node[2:] if len(node) > 1 and isinstance(node[1], str) and not node[1].startswith(":") else node[1:]
    out: list[Node] = [kind, "r"]
    for name, value in zip(fields[::2], fields[1::2], strict=False):
        if not isinstance(name, str) or name not in _FIELDS | _META:
            return _bad(f"{str(name)[:40]!a} is not a field of a rule")
        if name in _FIELDS:
            out += [name, value]
    if len(fields) % 2:
        return _bad("a field of the rule has no value")
    if '"' in (text := format_node(out)):
        return _bad("expected a formula, found a string")
    return text


def _formula(body: str, compiled: CompiledTask) -> str | Reading:
    """The one line that is a formula. Raises nothing."""
    actions = list_action_names(compiled.domain)
    lines = [line.strip().rstrip(".") for line in body.splitlines() if line.strip()]
    wrong: Diagnostic | None = None
    for text in [" ".join(lines), *lines] if len(lines) > 1 else lines:
        parsed = parse_ltl(Source(ANSWER, text), actions)
        if parsed.formula is not None:
            written = format_node(parsed.formula)
            if len(written.split()) > 4 * MOST_TOKENS:
                return _bad("the formula is too large")
            return f"(:trajectory r :formula {written})"
        wrong = wrong or (parsed.diagnostics[0] if parsed.diagnostics else None)
    return Reading(wrong=wrong) if wrong is not None else _bad("the answer has no formula")


def _marks(text: str, start: int = 0) -> Iterator[tuple[int, int]]:
    """The positions after parentheses, with the depth there."""
    depth = 0
    for match in _PARENTHESIS.finditer(text, start):
        depth += (match[0] == "(") - (match[0] == ")")
        yield match.end(), depth


def _end(text: str, start: int) -> int | None:
    return next((end for end, depth in _marks(text, start) if depth <= 0), None)


def _depth(text: str) -> int:
    return max([depth for _, depth in _marks(text)], default=0)


_NEAR = 0.75
_MAX_NAMES = 12
_WORD = re.compile(r"[a-z][a-z']*")
_CHANCES = r"probab\w+|likel(?:y|ihood)|unlikely|chances?|percent|odds|on average|usually|mostly|rarely|often"
_BELIEFS = r"believ\w+|thinks?|suspects?|expects?|assumes?|knows?|known|sure|certain|aware|doubts?|guess\w*|hopes?"
_SIGHT = r"sees?|seen|watch(?:es|ing)?|looks?|hears?|heard|notices?|visible|in sight|out of sight|hidden"
_CLOCK = r"seconds?|minutes?|hours?|days?|weeks?|o'clock|noon|midnight|tonight|tomorrow|at night|in the morning"
_WISHES = r"as \w+ as possible|if possible|try to|tries to|prefer\w*|ideally|best|better|m(?:in|ax)imi[sz]e|would like"
_MANNER = r"gentl[ey]|careful(?:ly)?|quiet(?:ly)?|slow(?:ly)?|soft(?:ly)?|polite(?:ly)?|loud(?:ly)?|rough(?:ly)?"
_INEXPRESSIBLE: tuple[tuple[str, str, str], ...] = (
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
    for pattern, about, instead in _INEXPRESSIBLE:
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
