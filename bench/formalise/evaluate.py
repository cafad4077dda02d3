"""Measure how often recorded answers mean the reference rule: one sample, and the vote of several samples.

usage: python -m bench.formalise.evaluate chip|traps FILE.jsonl [--samples N] [--list] [--data FOLDER]

The engine compares the rules. Intervals are 95 % bootstraps over sentences. Safety Chip's formulas have the semantics
of that benchmark: a trace is the sequence of changes, and the agent is at one place at a time. ``the reference`` is the
benchmark's formula, whose meaning differs from the sentence in some cases (bench/results/safety-chip-agreement.md);
``as meant`` is this project's reading of the sentence.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.formalise.record import make_parser, make_requests
from bench.formalise.sentences import ChipSentence, Trap, compile_home, read_chip_sentences, read_traps

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
    """The answers to one sentence.

    ``rules`` and ``declined`` count the answers that are rules and that decline, ``equal`` the answers that mean each
    reference. ``voted`` has the references that the rule with the most votes means; ``None`` without such a rule.
    """

    sentence: str
    samples: int
    rules: int
    declined: int
    equal: dict[str, int]
    voted: frozenset[str] | None
    refused: bool = False


Answers = Sequence[tuple[str, list[str]]]
"""Sentences with their answers."""
GroupRules = Callable[[Sequence[str]], list[list[int]]]
"""Groups rules that have the same meaning; returns their numbers."""


def compare_with_references(
    sentence: str, readings: Sequence[Reading], references: dict[str, list[str]], group_rules: GroupRules
) -> Row:
    """Compare the answers to one sentence with its references."""
    reference_rules = [rule for rules in references.values() for rule in rules]
    rules = [reading.rule for reading in readings if reading.rule is not None]
    texts = list(dict.fromkeys([*reference_rules, *rules]))
    group_of = {texts[place]: number for number, places in enumerate(group_rules(texts)) for place in places}
    groups = {name: {group_of[rule] for rule in texts_of_name} for name, texts_of_name in references.items()}
    votes = Counter([group_of[rule] for rule in rules])
    declined = len([reading for reading in readings if reading.declined is not None])
    most_votes = max(votes.values(), default=0)
    leading = [group for group, count in votes.items() if count == most_votes]
    required = 1 if len(readings) == 1 else 2
    voted = None
    if len(leading) == 1 and most_votes > declined and most_votes >= required:
        voted = frozenset([name for name, its_groups in groups.items() if leading[0] in its_groups])
    equal = {
        name: sum([count for group, count in votes.items() if group in its_groups])
        for name, its_groups in groups.items()
    }
    refused = declined >= required and declined > most_votes
    return Row(sentence, len(readings), len(rules), declined, equal, voted, refused)


# -- Safety Chip ------------------------------------------------------------------------------------------------------


def make_chip_row(chip: ChipSentence, task: Checker, answers: Sequence[str]) -> Row:
    """Evaluate the answers to a sentence of Safety Chip."""
    compiled = task.compiled
    references = {"the reference": [_make_rule(parse(chip.formula))]}
    try:
        references["as meant"] = [_make_rule(parse(formula_of(chip.sentence)))]
    except NotUnderstood:
        references["as meant"] = references["the reference"]
    readings = [read_answer(text, compiled, Language.LTL) for text in answers]
    return compare_with_references(
        chip.sentence, readings, references, lambda rules: _group_by_changes(rules, compiled)
    )


def _make_rule(formula: Formula) -> str:
    return f"(:trajectory r :formula {_translate(formula)})"


def _translate(formula: Formula) -> str:
    """Translate prefix LTL into the language of specifications. ``X`` becomes ``next``, as letters are changes."""
    if not isinstance(formula, Node):
        return str(formula) if isinstance(formula, Atom) else formula
    parts = [_translate(part) for part in formula.arguments]
    if formula.operator == "W":
        return f"(release {parts[1]} (or {parts[0]} {parts[1]}))"
    return f"({' '.join([_OPERATORS[formula.operator], *parts])})"


def _group_by_changes(rules: Sequence[str], compiled: CompiledTask) -> list[list[int]]:
    """Group rules that are equal on all sequences of changes."""
    checker = compiled_with(list(rules), compiled)
    reader = Reader(checker.engine, frozenset(["agent_at"]), changes=True)
    groups: list[list[int]] = []
    for number in range(len(rules)):
        parts = checker.rules[number].parts
        equal_group = next(
            (group for group in groups if reader.compare(checker.rules[group[0]].parts, parts).equal), None
        )
        if equal_group is None:
            groups.append([number])
        else:
            equal_group.append(number)
    return groups


def make_chip_rows(answers: Answers, data: Path) -> list[Row]:
    """Evaluate the answers to Safety Chip's sentences."""
    tasks = {home: compile_home(home) for home in ("0", "1")}
    chips = {chip.sentence: chip for chip in read_chip_sentences(data / "safety-chip-ltl")}
    return [make_chip_row(chips[sentence], tasks[chips[sentence].home], texts) for sentence, texts in answers]


# -- traps ------------------------------------------------------------------------------------------------------------


def make_trap_row(trap: Trap, compiled: CompiledTask, answers: Sequence[str], limits: Limits) -> Row:
    """Evaluate the answers to a sentence with a trap."""
    readings = [read_answer(text, compiled, Language.RULES) for text in answers]

    def group_rules(rules: Sequence[str]) -> list[list[int]]:
        if not rules:
            return []
        return [list(group.rules) for group in grouped(compiled_with(list(rules), compiled), limits).groups]

    return compare_with_references(trap.sentence, readings, {"the reference": list(trap.rules)}, group_rules)


def evaluate_traps(answers: Answers) -> tuple[list[Row], list[str]]:
    """Return the rows of the sentences with traps, and a report with the numbers of refused sentences."""
    compiled = Checker(*small_home("household"), (), Options(replay="never")).compiled
    traps = {trap.sentence: trap for trap in read_traps()}
    limits = Limits(planner_s=2.0, lint_s=0)
    rows = [make_trap_row(traps[sentence], compiled, texts, limits) for sentence, texts in answers]
    expressible = [row for row in rows if traps[row.sentence].refuse is None]
    to_refuse = [row for row in rows if traps[row.sentence].refuse is not None]
    lines = [f"{len(expressible)} expressible sentences:", "", *make_table(expressible, ("the reference",)), ""]
    for name, must_refuse, group in (("inexpressible", True, to_refuse), ("expressible", False, expressible)):
        sentences = [trap.sentence for trap in traps.values() if (trap.refuse is not None) is must_refuse]
        by_words = len([sentence for sentence in sentences if inexpressible(sentence, compiled) is not None])
        by_vote = len([row for row in group if row.refused])
        with_rule = len([row for row in group if row.voted is not None])
        lines.append(
            f"{name} sentences: {by_words} of {len(sentences)} refused by the word list; "
            f"{by_vote} of {len(group)} by the vote of the model, which gives a rule for {with_rule}"
        )
    return rows, lines


# -- tables -----------------------------------------------------------------------------------------------------------


def format_share(name: str, rows: Sequence[Row], part: Callable[[Row], float], total: Callable[[Row], float]) -> str:
    """Return a table row: a share, its interval over sentences, and its denominator."""
    share = interval([Observation(row.sentence, part(row), total(row)) for row in rows])
    denominator = sum([total(row) for row in rows])
    if share.value is None:
        return f"| {name} | - | 0 |"
    bounds = "" if share.low is None or share.high is None else f" [{100 * share.low:.1f}, {100 * share.high:.1f}]"
    return f"| {name} | {100 * share.value:.1f} %{bounds} | {denominator:g} |"


def make_table(rows: Sequence[Row], names: Sequence[str]) -> list[str]:
    """Return a table: how often answers are rules, and mean the references; for single samples and for the vote."""

    def count_samples(row: Row) -> float:
        return row.samples

    lines = ["| | share [95 %] | of |", "|---|---|---|"]
    lines.append(format_share("an answer is a rule", rows, lambda row: row.rules, count_samples))
    lines.append(format_share("an answer declines", rows, lambda row: row.declined, count_samples))
    for name in names:

        def is_voted(row: Row, name: str = name) -> bool:
            return name in (row.voted or ())

        lines.append(format_share(f"one sample is {name}", rows, lambda row, n=name: row.equal[n], count_samples))
        lines.append(format_share(f"the vote is {name}", rows, is_voted, lambda _: 1))
        lines.append(format_share(f"a decided vote is {name}", rows, is_voted, lambda row: row.voted is not None))
    return lines


def _format_row(row: Row) -> str:
    voted = "-" if row.voted is None else "yes" if row.voted else "no"
    return f"| {row.sentence} | {row.rules} | {row.equal.get('the reference', 0)} | {row.declined} | {voted} |"


def main() -> int:
    """Run from the command line."""
    parser = make_parser("Compare recorded answers to sentences with reference rules.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--list", action="store_true", help="print a row for each sentence")
    options = parser.parse_args()
    records = [json.loads(line) for line in options.file.read_text(encoding="utf-8").splitlines()]
    texts = {record["request"]: record["text"] for record in records}
    requests_by_sentence = make_requests(options.set, options.data, options.samples)[: options.limit]
    recorded = [
        (sentence, [texts[key] for request in requests if (key := address(request)) in texts])
        for sentence, requests in requests_by_sentence
    ]
    answers = [(sentence, samples) for sentence, samples in recorded if len(samples) == options.samples]
    left_out = len(recorded) - len(answers)
    print(f"{len(answers)} sentences with {options.samples} answers each; left out, with fewer answers: {left_out}\n")
    if options.set == "chip":
        rows = make_chip_rows(answers, options.data)
        lines = make_table(rows, ("the reference", "as meant"))
    else:
        rows, lines = evaluate_traps(answers)
    if options.list:
        lines += ["", "| sentence | rules | equal | declined | the vote |", "|---|---|---|---|---|"]
        lines += [_format_row(row) for row in rows]
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
