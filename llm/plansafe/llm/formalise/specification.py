"""The rules that were found, as a specification: named and described by us, with where each comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from plansafe.grammar.sexpr import quote_text
from plansafe.llm.formalise.model import Formalised

_WORDS = 6


def specification(found: Sequence[Formalised], domain: str, model: str) -> str:
    """A specification of the rules of ``found``, each of which has one. ``model``: who was asked.

    Names and messages are made of the sentences, which people gave; nothing but the fields of a rule is a model's.
    """
    lines = [
        f"; Made by `safecheck rules formalise` from sentences, with {_comment(model)}. A model wrote these rules:",
        "; read each of them before you use it.",
        f"(define (safety formalised)\n  (:domain {domain})",
    ]
    for one, name in zip(found, _names(found), strict=True):
        assert one.rule is not None
        head, _, rest = one.rule.partition(" r ")
        lines.append(f"  ; {_comment(one.sentence)}")
        lines.append(f"  ; {one.groups[0].votes} of {len(one.samples)} samples; {_comment(one.groups[0].how)}")
        lines.append(f"  {head} {name} {rest[:-1]}\n    :message {_message(one.sentence)})")
    return "\n".join(lines) + ")\n"


def _names(found: Sequence[Formalised]) -> Iterator[str]:
    """A name for each rule, of the first words of its sentence."""
    used: set[str] = set()
    for number, one in enumerate(found, 1):
        words = re.findall(r"[a-z0-9]+", one.sentence.lower().replace("'", ""))[:_WORDS]
        name = "-".join(words)[:60] or "rule"
        name = name if name[0].isalpha() else f"rule-{name}"
        yield name if name not in used else f"{name}-{number}"
        used |= {name, f"{name}-{number}"}


def _comment(text: str) -> str:
    """A text that stays on its line: what is printed alone."""
    return "".join([c if c.isprintable() else " " for c in text])


def _message(sentence: str) -> str:
    return quote_text(_comment(sentence).replace("{", "(").replace("}", ")"))
