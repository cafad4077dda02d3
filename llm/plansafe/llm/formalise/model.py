"""The result for a sentence: samples, their groups, and the rule of the largest group. Data only.

The rules that were found, as a specification: named and described by us, with where each comes from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.sexpr import quote_text


class Status(Enum):
    """How it ended.

    ``FOUND``: a rule has the most votes. ``REFUSED``: the sentence is not expressible. ``TIED``: no rule has more votes
    than every other. ``NONE``: no sample is a rule.
    """

    FOUND = "found"
    REFUSED = "refused"
    TIED = "tied"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Sample:
    """One answer. ``rule``: as it was read; ``declined``: why the model gave none; ``wrong``: why it cannot be used."""

    text: str
    rule: str | None = None
    declined: str | None = None
    wrong: Diagnostic | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Rules that mean the same: their samples (from 0), the first one's text, and how that is known.

    ``proved``: equal on all traces of the problem; else no difference was found (``how``).
    """

    rule: str
    samples: tuple[int, ...]
    proved: bool
    how: str

    @property
    def votes(self) -> int:
        """How many samples say so."""
        return len(self.samples)


@dataclass(frozen=True, slots=True)
class RuleExample:
    """A rule as it is shown: in words, with a plan that breaks it and one that keeps it.

    A plan is ``None`` if none was found; ``why`` says how the search ended. ``lint``: the linter's findings.
    """

    words: str
    breaking: tuple[str, ...] | None
    keeping: tuple[str, ...] | None
    why_not_breaking: str = ""
    why_not_keeping: str = ""
    lint: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Formalised:
    """The result for one sentence. ``groups``: the most votes first; ``examples``: plans for the leading groups.

    ``outcome`` gives the reason for a missing rule. ``refusals``: the model's reasons, of samples that declined.
    """

    sentence: str
    status: Status
    samples: tuple[Sample, ...]
    groups: tuple[Group, ...]
    examples: tuple[RuleExample, ...] = ()
    outcome: Diagnostic | None = None
    looked_at: str = ""

    @property
    def rule(self) -> str | None:
        """The rule that most samples mean."""
        return self.groups[0].rule if self.status is Status.FOUND else None

    @property
    def exit_code(self) -> int:
        """0 a rule, 1 not expressible, 3 no rule or no majority."""
        return {Status.FOUND: 0, Status.REFUSED: 1}.get(self.status, 3)


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
