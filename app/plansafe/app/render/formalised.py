"""Rules that a model made of sentences, for people and programs: in words, with plans, votes and what was refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from plansafe.app.render.json import diagnostic_object, json_line
from plansafe.app.system.terminal_text import Style, brief, folded, pad, visible
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.formalise.asking import Wishes
from plansafe.llm.formalise.model import Formalised, Group, Sample, Shown, Status

SCHEMA = 1
_COLUMNS = 105
_CHECK = "check it: nothing uses this rule until you add it with --spec"
_MOST = 5
"""Groups without a majority, and kinds of useless answers, that are listed."""


class FormalisedRenderer:
    """Prints what came of each sentence."""

    def __init__(self, style: Style) -> None:
        self._style = style

    def results(self, found: Sequence[Formalised], model: str, wishes: Wishes, written: str | None) -> str:
        """Render all of them; ``written`` is the file that the rules were written to."""
        blocks = ["\n".join(self._one(one)) for one in found]
        how = f"{model}, {wishes.samples} samples, temperature {wishes.temperature:g}"
        last = [self._row("model", visible(how))]
        if written is not None:
            last.append(f"written to {visible(written)}")
        elif len(found) > 1 and any([one.rule is None for one in found]):
            last.append(f"{len([one for one in found if one.rule is not None])} of {len(found)} sentences have a rule")
        return "\n\n".join([*blocks, "\n".join(last)]) + "\n"

    def _one(self, one: Formalised) -> Iterator[str]:
        yield self._row("sentence", brief(one.sentence))
        leading = list(zip(one.groups, one.shown, strict=False))
        for group, shown in leading:
            yield from self._group(group, shown, len(one.samples))
        if leading and one.looked_at:
            yield from self._rows("compared", f"by {one.looked_at}; a trace's verdict counts every violation")
        for group in one.groups[len(leading) : len(leading) + _MOST]:
            yield self._row("not taken", f"{_votes(group, len(one.samples))}: {brief(group.rule)}")
        declined = [sample.declined for sample in one.samples if sample.declined is not None]
        for reason, count in Counter(declined).most_common(_MOST):
            yield self._row("declined", f"{count} of {len(one.samples)}: {brief(reason)}")
        if one.status is not Status.NONE:
            for said, count in _wrong(one.samples):
                yield self._row("no rule", f"{count} of {len(one.samples)}: {brief(said)}")
        if one.outcome is not None:
            yield from self._diagnostic(one.outcome)
        if one.status is Status.FOUND:
            yield self._style.warning(_CHECK)

    def _group(self, group: Group, shown: Shown, samples: int) -> Iterator[str]:
        yield self._row("rule", brief(group.rule))
        yield from self._rows("in words", shown.words)
        yield self._row("votes", f"{_votes(group, samples)}, {visible(group.how)}")
        yield from self._plan("breaks it", shown.breaking, shown.why_not_breaking)
        yield from self._plan("keeps it", shown.keeping, shown.why_not_keeping)
        for said in shown.lint:
            yield self._row("linter", brief(said))

    def _plan(self, name: str, steps: tuple[str, ...] | None, why: str) -> Iterator[str]:
        if steps is None:
            yield self._row(name, brief(why))
        elif not steps:
            yield self._row(name, "the plan without steps")
        else:
            for number, step in enumerate(steps, 1):
                yield self._row(name if number == 1 else "", f"{number:>{len(str(len(steps)))}}  {brief(step)}")

    def _diagnostic(self, said: Diagnostic) -> Iterator[str]:
        yield f"{self._style.error(f'error[{said.code}]')}: {brief(said.message)}"
        yield from [f"  = note: {brief(note)}" for note in said.notes]
        if said.help is not None:
            yield f"  = help: {brief(said.help)}"

    def _rows(self, name: str, text: str) -> Iterator[str]:
        """A long text on several lines."""
        for number, line in enumerate(folded(brief(text), _COLUMNS)):
            yield self._row(name if number == 0 else "", line)

    def _row(self, name: str, text: str) -> str:
        return f"{self._style.bold(pad(name, 14))} {text}" if name else f"{' ' * 14} {text}"


def _votes(group: Group, samples: int) -> str:
    return f"{group.votes} of {samples}"


def _wrong(samples: Sequence[Sample]) -> list[tuple[str, int]]:
    said = [f"{s.wrong.code}: {s.wrong.message}" for s in samples if s.wrong is not None]
    return Counter(said).most_common(_MOST)


class FormalisedJsonRenderer:
    """Makes a JSON line, ``schema/formalise-1.json``."""

    def results(self, found: Sequence[Formalised], model: str, wishes: Wishes, written: str | None) -> str:
        """Render all of them."""
        head = {
            "schema": SCHEMA,
            "model": model,
            "language": wishes.language.value,
            "samples": wishes.samples,
            "temperature": wishes.temperature,
            "written": written,
            "sentences": [_sentence(one) for one in found],
        }
        return json_line(head)


def _sentence(one: Formalised) -> dict[str, Any]:
    return {
        "sentence": one.sentence,
        "status": one.status.value,
        "exit_code": one.exit_code,
        "rule": one.rule,
        "compared": one.looked_at,
        "groups": [
            {"rule": group.rule, "samples": list(group.samples), "proved": group.proved, "how": group.how}
            for group in one.groups
        ],
        "shown": [_shown(shown) for shown in one.shown],
        "answers": [_sample(sample) for sample in one.samples],
        "outcome": None if one.outcome is None else diagnostic_object(one.outcome, {}),
    }


def _shown(shown: Shown) -> dict[str, Any]:
    return {
        "words": shown.words,
        "breaking": None if shown.breaking is None else list(shown.breaking),
        "keeping": None if shown.keeping is None else list(shown.keeping),
        "why_not_breaking": shown.why_not_breaking,
        "why_not_keeping": shown.why_not_keeping,
        "lint": list(shown.lint),
    }


def _sample(sample: Sample) -> dict[str, Any]:
    wrong = sample.wrong
    return {
        "rule": sample.rule,
        "declined": sample.declined,
        "wrong": None if wrong is None else {"code": wrong.code, "message": wrong.message},
    }
