"""The rules that were found, as a specification: named and described by us, with where each comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from plansafe.grammar.sexpr import quote_text
from plansafe.llm.formalise.model import Formalised

_WORDS = 6


def specification(formalised: Sequence[Formalised], domain: str, model: str) -> str:
    """A specification of the rules of ``formalised``; each has a rule. ``model``: the model asked.

    Names and messages are made of the sentences, which people gave; nothing but the fields of a rule is a model's.
    """
    lines = [
        f"; Made by `safecheck rules formalise` from sentences, with {_comment(model)}. A model wrote these rules:",
        "; read each of them before you use it.",
        f"(define (safety formalised)\n  (:domain {domain})",
    ]
    for item, name in zip(formalised, _names(formalised), strict=True):
        assert item.rule is not None
        head, _, body = item.rule.partition(" r ")
        lines.append(f"  ; {_comment(item.sentence)}")
        lines.append(f"  ; {item.groups[0].votes} of {len(item.samples)} samples; {_comment(item.groups[0].how)}")
        lines.append(f"  {head} {name} {body[:-1]}\n    :message {_message(item.sentence)})")
    return "\n".join(lines) + ")\n"


def _names(formalised: Sequence[Formalised]) -> Iterator[str]:
    """A name for each rule, of the first words of its sentence."""
    used: set[str] = set()
    for number, item in enumerate(formalised, 1):
        words = re.findall(r"[a-z0-9]+", item.sentence.lower().replace("'", ""))[:_WORDS]
        name = "-".join(words)[:60] or "rule"
        name = name if name[0].isalpha() else f"rule-{name}"
        yield name if name not in used else f"{name}-{number}"
        used |= {name, f"{name}-{number}"}


def _comment(text: str) -> str:
    """A text on one line, of printable characters only."""
    return "".join([c if c.isprintable() else " " for c in text])


def _message(sentence: str) -> str:
    return quote_text(_comment(sentence).replace("{", "(").replace("}", ")"))
