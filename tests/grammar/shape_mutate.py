"""Mutations of a text: one token, or one parenthesised group, deleted, duplicated, swapped, replaced or wrapped."""

from __future__ import annotations

import re
from random import Random

TOKEN = re.compile(r'[()]|"(?:[^"\\]|\\.)*"|;[^\r\n]*|[^\s();"]+|\s+|"', re.DOTALL)
_WORDS = r"""
( ) () - and or not imply forall exists when at start end over all always sometime within preference assign increase
= < >= + * / ?x ?duration ?v0 5 -1 2.5 5: : [ ] [3] kitchen move :nothing object either
number minimize define domain problem plan safety
:action :parameters :effect :precondition :duration :condition :init :goal :types :objects :forbid :require :on :at-end
:when :then :formula :within :forbid-after once next until since action action-end _ $p "text" " #t 1x ? ?? a?b
(at start) (at end (clear)) (over all (clear)) (always (clear)) (once (clear)) (next (clear)) (until (clear) (clear))
(preference (clear)) (or (clear)) (= ?x 5) (at 5 (clear)) (at 5 kitchen) ((clear)) (clear (clear)) (either object)
(:goal ()) (:init) (?x) (5) (unknown (clear)) oneof (oneof (clear) (and)) (or (and (clear)) (clear)) (<= 2 total-cost 8)
(oneof (= total-cost 1)) (and (clear) (= total-cost 1)) (< total-cost 5) (oneof () (and)) unknown
(:open (clear)) (:invariant i :holds (clear)) :exactly-one :at-most-one :holds ((clear)) (holds ?x) (:open)
[1 +- 2] [1±2] +- ± (:ordering) (:ordering (< 1 2)) (< 1 2) (< 1) (a (move 5 5)) < (at 1 (move 5 5) 2 3)
"""
_PIECE = r'\((?=\S)(?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\)|"[^"\n]*"|\S+'
POOL = ("\ud812", "x\ud812", *re.findall(_PIECE, _WORDS))


def tokenize(text: str) -> list[str]:
    """The tokens of a text, with white space and comments."""
    return TOKEN.findall(text)


def mutate(text: str, random: Random) -> str:
    """The text with one mutation."""
    tokens = tokenize(text)
    token_numbers = [i for i, token in enumerate(tokens) if not token.isspace() and token[0] != ";"]
    if not token_numbers:
        return random.choice(POOL)
    begin = random.choice(token_numbers)
    end = _group_end(tokens, begin) if tokens[begin] == "(" and random.random() < 0.8 else begin + 1
    group = tokens[begin:end]
    match random.choice(("delete", "duplicate", "swap", "replace", "replace", "wrap")):
        case "delete":
            changed = [*tokens[:begin], " ", *tokens[end:]]
        case "duplicate":
            changed = [*tokens[:end], " ", *group, *tokens[end:]]
        case "swap":
            second = random.choice(token_numbers)
            second_end = _group_end(tokens, second) if tokens[second] == "(" else second + 1
            if second < end and begin < second_end:
                changed = [*tokens[:begin], " ", *tokens[end:]]
            else:
                (a, b), (c, d) = sorted(((begin, end), (second, second_end)))
                changed = [*tokens[:a], *tokens[c:d], " ", *tokens[b:c], " ", *tokens[a:b], " ", *tokens[d:]]
        case "wrap":
            changed = [
                *tokens[:begin],
                "(",
                random.choice(("", "and ", "not ", "or ", "at start ", "at 5 ", "once ")),
                *group,
                ")",
                *tokens[end:],
            ]
        case _:
            changed = [
                *tokens[:begin],
                " ",
                random.choice((random.choice(POOL), tokens[random.choice(token_numbers)])),
                " ",
                *tokens[end:],
            ]
    return "".join(changed)


def _group_end(tokens: list[str], begin: int) -> int:
    depth = 0
    for i in range(begin, len(tokens)):
        depth += (tokens[i] == "(") - (tokens[i] == ")")
        if depth == 0:
            return i + 1
    return len(tokens)
