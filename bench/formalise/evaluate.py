"""How often recorded answers say what the reference says: one sample, and the vote of several, judged by the engine.

usage: python -m bench.formalise.evaluate chip|traps FILE.jsonl [--samples N] [--list] [--data FOLDER]

Intervals are 95 % bootstraps over sentences. Safety Chip's formulas are read as that benchmark reads them: a trace is
the sequence of changes, and the agent is at one place at a time. ``the reference``: the benchmark's formula, which for
some sentences says something else than the sentence (bench/results/safety-chip-agreement.md); ``as meant``: our own
reading.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.formalise.record import asked
from bench.formalise.sentences import Chip, Trap, chip_home, chip_sentences, sampled, traps

from plansafe.domains.safety_chip.prefix import Atom, Formula, Node, parse
from plansafe.domains.safety_chip.sentences import NotUnderstood, formula_of
from plansafe.llm.formalise.asking import Limits
from plansafe.llm.formalise.equivalence import Reader
from plansafe.llm.formalise.grouping import grouped
from plansafe.llm.formalise.home import small_home
from plansafe.llm.formalise.reading import Reading, compiled_with, inexpressible, read_answer
from plansafe.llm.metrics.bootstrap import Observation, interval
from plansafe.llm.models.request import address
from plansafe.llm.prompts.formalising import Language
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.execution.compiled import CompiledTask

ROOT = Path(__file__).resolve().parents[2]
_OPERATORS = {
    "!": "not",
    "&": "and",
    "|": "or",
    "i": "imply",
    "G": "always",
    "F": "sometime",
    "X": "next",
    "U": "until",
}


class Row(NamedTuple):
    """One sentence: how many answers are rules, decline, and mean each reference; and what the vote comes to.

    ``voted`` are the references that the rule with the most votes means; ``None``: there is none.
    """

    sentence: str
    samples: int
    rules: int
    declined: int
    equal: dict[str, int]
    voted: frozenset[str] | None
    refused: bool = False


Group = Callable[[Sequence[str]], list[list[int]]]


def row(sentence: str, readings: Sequence[Reading], references: dict[str, list[str]], groups: Group) -> Row:
    """Compare the answers to one sentence with its references. ``groups`` puts rules together that mean the same."""
    known = [rule for rules in references.values() for rule in rules]
    found = [reading.rule for reading in readings if reading.rule is not None]
    texts = list(dict.fromkeys([*known, *found]))
    place = {texts[n]: number for number, group in enumerate(groups(texts)) for n in group}
    means = {name: {place[rule] for rule in rules} for name, rules in references.items()}
    votes = Counter([place[rule] for rule in found])
    declined = len([reading for reading in readings if reading.declined is not None])
    best = max(votes.values(), default=0)
    leading = [group for group, count in votes.items() if count == best]
    least = 1 if len(readings) == 1 else 2
    voted = None
    if len(leading) == 1 and best > declined and best >= least:
        voted = frozenset([name for name, own in means.items() if leading[0] in own])
    equal = {name: sum([count for group, count in votes.items() if group in own]) for name, own in means.items()}
    refused = declined >= least and declined > best
    return Row(sentence, len(readings), len(found), declined, equal, voted, refused)


# -- Safety Chip ------------------------------------------------------------------------------------------------------


def chip_row(chip: Chip, task: Checker, answers: Sequence[str]) -> Row:
    """One sentence of Safety Chip."""
    compiled = task.compiled
    references = {"the reference": [_rule(parse(chip.formula))]}
    try:
        references["as meant"] = [_rule(parse(formula_of(chip.sentence)))]
    except NotUnderstood:
        references["as meant"] = references["the reference"]
    readings = [read_answer(text, compiled, Language.LTL) for text in answers]
    return row(chip.sentence, readings, references, lambda rules: _by_letters(rules, compiled))


def _rule(formula: Formula) -> str:
    return f"(:trajectory r :formula {_written(formula)})"


def _written(formula: Formula) -> str:
    """Prefix LTL in the language of specifications, ``X`` as ``next``: letters are the changes."""
    if not isinstance(formula, Node):
        return str(formula) if isinstance(formula, Atom) else formula
    parts = [_written(part) for part in formula.arguments]
    if formula.operator == "W":
        return f"(release {parts[1]} (or {parts[0]} {parts[1]}))"
    return f"({' '.join([_OPERATORS[formula.operator], *parts])})"


def _by_letters(rules: Sequence[str], compiled: CompiledTask) -> list[list[int]]:
    checker = compiled_with(list(rules), compiled)
    reader = Reader(checker.engine, frozenset(["agent_at"]), changes=True)
    groups: list[list[int]] = []
    for number in range(len(rules)):
        parts = checker.rules[number].parts
        same = next((g for g in groups if reader.compare(checker.rules[g[0]].parts, parts).equal), None)
        if same is None:
            groups.append([number])
        else:
            same.append(number)
    return groups


# -- traps ------------------------------------------------------------------------------------------------------------


def trap_row(trap: Trap, compiled: CompiledTask, answers: Sequence[str], limits: Limits) -> Row:
    """One sentence with a trap."""
    readings = [read_answer(text, compiled, Language.RULES) for text in answers]

    def groups(rules: Sequence[str]) -> list[list[int]]:
        if not rules:
            return []
        return [list(g.rules) for g in grouped(compiled_with(list(rules), compiled), limits).groups]

    return row(trap.sentence, readings, {"the reference": list(trap.rules)}, groups)


# -- tables -----------------------------------------------------------------------------------------------------------


def share(name: str, rows: Sequence[Row], part: Callable[[Row], float], whole: Callable[[Row], float]) -> str:
    """One line: a share with its interval over sentences."""
    found = interval([Observation(one.sentence, part(one), whole(one)) for one in rows])
    total = sum([whole(one) for one in rows])
    if found.value is None:
        return f"| {name} | - | 0 |"
    between = "" if found.low is None or found.high is None else f" [{100 * found.low:.1f}, {100 * found.high:.1f}]"
    return f"| {name} | {100 * found.value:.1f} %{between} | {total:g} |"


def table(rows: Sequence[Row], names: Sequence[str]) -> list[str]:
    """How often answers are rules, and mean the references: single samples, and the vote."""
    lines = ["| | share [95 %] | of |", "|---|---|---|"]
    lines.append(share("an answer is a rule", rows, lambda r: r.rules, lambda r: r.samples))
    lines.append(share("an answer declines", rows, lambda r: r.declined, lambda r: r.samples))
    for name in names:
        lines.append(share(f"one sample is {name}", rows, lambda r, n=name: r.equal[n], lambda r: r.samples))
        lines.append(share(f"the vote is {name}", rows, lambda r, n=name: n in (r.voted or ()), lambda _: 1))
        lines.append(
            share(
                f"the vote is {name}, where there is one",
                rows,
                lambda r, n=name: n in (r.voted or ()),
                lambda r: r.voted is not None,
            )
        )
    return lines


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Judge recorded answers to sentences by reference rules.")
    default = os.environ.get("PLANSAFE_DATA", str(ROOT.parent / "shared" / "data"))
    parser.add_argument("which", choices=("chip", "traps"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--data", default=default, type=Path)
    options = parser.parse_args()
    records = [json.loads(line) for line in options.file.read_text(encoding="utf-8").splitlines()]
    texts = {record["request"]: record["text"] for record in records}
    requests = asked(options.which, options.data, options.samples)[: options.limit]
    answers = [(s, [texts[key] for one in of if (key := address(one)) in texts]) for s, of in requests]
    whole = [(sentence, said) for sentence, said in answers if len(said) == options.samples]
    left = len(answers) - len(whole)
    print(f"{len(whole)} sentences with {options.samples} answers each; without them, and left out: {left}\n")
    answers = whole
    if options.which == "chip":
        rows = chip(answers, options.data)
        lines = table(rows, ("the reference", "as meant"))
    else:
        rows, lines = trap(answers)
    if options.list:
        lines += ["", "| sentence | rules | equal | declined | the vote |", "|---|---|---|---|---|"]
        lines += [_listed(one) for one in rows]
    print("\n".join(lines))
    return 0


def chip(answers: Sequence[tuple[str, list[str]]], data: Path) -> list[Row]:
    """The rows of Safety Chip's sentences."""
    tasks = {home: chip_home(home) for home in ("0", "1")}
    chips = {one.sentence: one for one in sampled(chip_sentences(data / "safety-chip-ltl"), len(answers))}
    chips |= {one.sentence: one for one in chip_sentences(data / "safety-chip-ltl")}
    return [chip_row(chips[s], tasks[chips[s].home], said) for s, said in answers]


def trap(answers: Sequence[tuple[str, list[str]]]) -> tuple[list[Row], list[str]]:
    """The rows of the sentences with traps, with what is refused."""
    compiled = Checker(*small_home("household"), (), Options(replay="never")).compiled
    known = {one.sentence: one for one in traps()}
    limits = Limits(planner_s=2.0, lint_s=0)
    rows = [trap_row(known[s], compiled, said, limits) for s, said in answers]
    sayable = [one for one in rows if known[one.sentence].refuse is None]
    others = [one for one in rows if known[one.sentence].refuse is not None]
    lines = [f"{len(sayable)} sentences that can be said:", "", *table(sayable, ("the reference",)), ""]
    for name, all_of, rows_of in (
        ("that cannot be said", [one for one in known.values() if one.refuse is not None], others),
        ("that can be said", [one for one in known.values() if one.refuse is None], sayable),
    ):
        checked = len([one for one in all_of if inexpressible(one.sentence, compiled) is not None])
        lines.append(
            f"sentences {name}: {checked} of {len(all_of)} refused by their words; "
            f"{len([one for one in rows_of if one.refused])} of {len(rows_of)} by the vote of the model, which gives "
            f"{len([one for one in rows_of if one.voted is not None])} a rule"
        )
    return rows, lines


def _listed(one: Row) -> str:
    voted = "-" if one.voted is None else "yes" if one.voted else "no"
    return f"| {one.sentence} | {one.rules} | {one.equal.get('the reference', 0)} | {one.declined} | {voted} |"


if __name__ == "__main__":
    sys.exit(main())
