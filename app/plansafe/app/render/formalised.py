"""Rules that a model made of sentences, for people and programs: in words, with plans, votes and refusals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from plansafe.app.render.json import diagnostic_object, json_line
from plansafe.app.system.terminal_text import Style, brief, folded, pad, visible
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.formalise.asking import FormaliseOptions
from plansafe.llm.formalise.model import Formalised, Group, RuleExample, Sample, Status

SCHEMA = 1
_COLUMNS = 105
_CHECK = "check it: nothing uses this rule until you add it with --spec"
_MOST = 5
"""Groups without a majority, and kinds of useless answers, that are listed."""


class FormalisedRenderer:
    """Prints the rule of each sentence, or why there is none."""

    def __init__(self, style: Style) -> None:
        self._style = style

    def results(
        self, sentences: Sequence[Formalised], model: str, wishes: FormaliseOptions, written: str | None
    ) -> str:
        """Render all of them; ``written`` is the file that the rules were written to."""
        blocks = ["\n".join(self._sentence_rows(sentence)) for sentence in sentences]
        how = f"{model}, {wishes.samples} samples, temperature {wishes.temperature:g}"
        last = [self._row("model", visible(how))]
        if written is not None:
            last.append(f"written to {visible(written)}")
        elif len(sentences) > 1 and any([sentence.rule is None for sentence in sentences]):
            with_rule = len([sentence for sentence in sentences if sentence.rule is not None])
            last.append(f"{with_rule} of {len(sentences)} sentences have a rule")
        return "\n\n".join([*blocks, "\n".join(last)]) + "\n"

    def _sentence_rows(self, formalised: Formalised) -> Iterator[str]:
        yield self._row("sentence", brief(formalised.sentence))
        leading = list(zip(formalised.groups, formalised.examples, strict=False))
        for group, explanation in leading:
            yield from self._group(group, explanation, len(formalised.samples))
        if leading and formalised.looked_at:
            yield from self._rows("compared", f"by {formalised.looked_at}; a trace's verdict counts every violation")
        for group in formalised.groups[len(leading) : len(leading) + _MOST]:
            yield self._row("not taken", f"{_votes(group, len(formalised.samples))}: {brief(group.rule)}")
        declined = [sample.declined for sample in formalised.samples if sample.declined is not None]
        for reason, count in Counter(declined).most_common(_MOST):
            yield self._row("declined", f"{count} of {len(formalised.samples)}: {brief(reason)}")
        if formalised.status is not Status.NONE:
            for message, count in _wrong(formalised.samples):
                yield self._row("no rule", f"{count} of {len(formalised.samples)}: {brief(message)}")
        if formalised.outcome is not None:
            yield from self._diagnostic(formalised.outcome)
        if formalised.status is Status.FOUND:
            yield self._style.warning(_CHECK)

    def _group(self, group: Group, explanation: RuleExample, samples: int) -> Iterator[str]:
        yield self._row("rule", brief(group.rule))
        yield from self._rows("in words", explanation.words)
        yield self._row("votes", f"{_votes(group, samples)}, {visible(group.how)}")
        yield from self._plan("breaks it", explanation.breaking, explanation.why_not_breaking)
        yield from self._plan("keeps it", explanation.keeping, explanation.why_not_keeping)
        for fault in explanation.lint:
            yield self._row("linter", brief(fault))

    def _plan(self, name: str, steps: tuple[str, ...] | None, why: str) -> Iterator[str]:
        if steps is None:
            yield self._row(name, brief(why))
        elif not steps:
            yield self._row(name, "the plan without steps")
        else:
            for number, step in enumerate(steps, 1):
                yield self._row(name if number == 1 else "", f"{number:>{len(str(len(steps)))}}  {brief(step)}")

    def _diagnostic(self, diagnostic: Diagnostic) -> Iterator[str]:
        yield f"{self._style.error(f'error[{diagnostic.code}]')}: {brief(diagnostic.message)}"
        yield from [f"  = note: {brief(note)}" for note in diagnostic.notes]
        if diagnostic.help is not None:
            yield f"  = help: {brief(diagnostic.help)}"

    def _rows(self, name: str, text: str) -> Iterator[str]:
        """A long text on several lines."""
        for number, line in enumerate(folded(brief(text), _COLUMNS)):
            yield self._row(name if number == 0 else "", line)

    def _row(self, name: str, text: str) -> str:
        return f"{self._style.bold(pad(name, 14))} {text}" if name else f"{' ' * 14} {text}"


def _votes(group: Group, samples: int) -> str:
    return f"{group.votes} of {samples}"


def _wrong(samples: Sequence[Sample]) -> list[tuple[str, int]]:
    messages = [f"{s.wrong.code}: {s.wrong.message}" for s in samples if s.wrong is not None]
    return Counter(messages).most_common(_MOST)


class FormalisedJsonRenderer:
    """Makes a JSON line, ``schema/formalise-1.json``."""

    def results(
        self, sentences: Sequence[Formalised], model: str, wishes: FormaliseOptions, written: str | None
    ) -> str:
        """Render all of them."""
        head = {
            "schema": SCHEMA,
            "model": model,
            "language": wishes.language.value,
            "samples": wishes.samples,
            "temperature": wishes.temperature,
            "written": written,
            "sentences": [_sentence(sentence) for sentence in sentences],
        }
        return json_line(head)


def _sentence(formalised: Formalised) -> dict[str, Any]:
    return {
        "sentence": formalised.sentence,
        "status": formalised.status.value,
        "exit_code": formalised.exit_code,
        "rule": formalised.rule,
        "compared": formalised.looked_at,
        "groups": [
            {"rule": group.rule, "samples": list(group.samples), "proved": group.proved, "how": group.how}
            for group in formalised.groups
        ],
        "shown": [_explanation(explanation) for explanation in formalised.examples],
        "answers": [_sample(sample) for sample in formalised.samples],
        "outcome": None if formalised.outcome is None else diagnostic_object(formalised.outcome, {}),
    }


def _explanation(explanation: RuleExample) -> dict[str, Any]:
    return {
        "words": explanation.words,
        "breaking": None if explanation.breaking is None else list(explanation.breaking),
        "keeping": None if explanation.keeping is None else list(explanation.keeping),
        "why_not_breaking": explanation.why_not_breaking,
        "why_not_keeping": explanation.why_not_keeping,
        "lint": list(explanation.lint),
    }


def _sample(sample: Sample) -> dict[str, Any]:
    wrong = sample.wrong
    return {
        "rule": sample.rule,
        "declined": sample.declined,
        "wrong": None if wrong is None else {"code": wrong.code, "message": wrong.message},
    }
