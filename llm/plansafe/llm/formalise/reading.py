"""What a model answered, as one rule that compiles for the task, as a refusal, or as a diagnostic.

An answer is hostile text: it is bounded before it is read, only the fields of a rule are taken over from it (no name,
no message, no section that could extend, disable or open anything), and those fields are written again.
"""

from __future__ import annotations

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
