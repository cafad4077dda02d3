"""Read the data files of a run as tokens, in the order of the files. Needs no torch.

Nothing is cut: a line that is too long is left out, counted and named.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple, Protocol

from plansafe.align.config import TEXT_METHODS, Config
from plansafe.align.prompts import plan_prompt
from plansafe.align.records import Both, Pair, SftLine, bad_records, plan_of, read_pairs, read_sft
from plansafe.align.tasks import BadOrigin, data_folder, task_of
from plansafe.align.tokens import Steps, Tokenizer, Tokens, pair_of, tokens_of
from plansafe.align.weights import weights_of
from plansafe.llm.bench.run_file import BadRun, read_run
from plansafe.llm.metrics.fields import BadField
from plansafe.llm.metrics.judged import Safety
from plansafe.llm.metrics.lines import judged_of

_TEXT_MARK, _RUN_MARK = b'"completion"', b'"suite"'
_FIRST_BYTES = 1 << 20


class PlanTokenizer(Tokenizer, Protocol):
    """A tokenizer that also encodes prompts."""

    def prompt(self, text: str) -> list[int]:
        """The tokens of a prompt, with its beginning-of-sequence token or chat template."""


class Example(NamedTuple):
    """A pair's chosen and rejected plan, or one text. ``prompt`` and ``origin`` as in its line."""

    name: str
    rows: tuple[Tokens, ...]
    prompt: str
    origin: str

    @property
    def size(self) -> int:
        """Tokens of the chosen plan or of the text, including the end."""
        return sum([step >= 0 for step in self.rows[0].action])


class Examples(NamedTuple):
    """All examples, names of the lines that are too long, number of lines of another split, SHA-256 of the files."""

    examples: tuple[Example, ...]
    too_long: tuple[str, ...]
    other_split: int
    sha256: str


def read_examples(config: Config, tokenizer: PlanTokenizer) -> Examples:
    """Read the data of a run. Raises :class:`~plansafe.align.records.BadRecords`."""
    examples: list[Example] = []
    too_long: list[str] = []
    other_split = 0
    for name, record in _records(config, config.data):
        if record.split != config.split:
            other_split += 1
            continue
        rows = _rows(config, record, tokenizer)
        if rows is None:
            too_long.append(name)
        else:
            examples.append(Example(name, rows, record.prompt, record.origin))
    if config.method == "grpo":  # the model writes the plans, so each task counts once
        examples = list({example.origin: example for example in reversed(examples)}.values())[::-1]
    if not examples:
        raise bad_records(config.data[0], None, f"no line of the split {config.split} fits {config.max_length} tokens")
    return Examples(tuple(examples), tuple(too_long), other_split, _digest(config.data))


def read_evaluation_examples(config: Config, tokenizer: PlanTokenizer) -> tuple[Example, ...]:
    """Read ``eval_data``: all lines that are not too long. Raises :class:`~plansafe.align.records.BadRecords`."""
    examples = []
    for name, record in _records(config, config.eval_data):
        rows = _rows(config, record, tokenizer)
        if rows is not None:
            examples.append(Example(name, rows, record.prompt, record.origin))
    if config.eval_data and not examples:
        raise bad_records(config.eval_data[0], None, f"no line fits {config.max_length} tokens")
    return tuple(examples)


def _records(config: Config, paths: Sequence[str]) -> Iterator[tuple[str, Pair | SftLine]]:
    """The records of files with their names: pairs, texts, or for ``rft`` the safe plans of runs of ``align eval``."""
    for path in paths:
        if config.method == "rft" and _starts_with(path, _RUN_MARK):
            for line in safe_plans(path):
                yield f"{path} ({line.task})", line
        elif (config.method in TEXT_METHODS or config.method == "grpo") and _starts_with(path, _TEXT_MARK):
            for number, line in enumerate(read_sft(path), 1):
                if line.kind == "plan" or config.method == "sft":
                    yield f"{path}:{number} ({line.task})", line
        else:
            for pair in read_pairs(path):
                yield pair.id, pair


def safe_plans(path: str) -> Iterator[SftLine]:
    """The answers of a run of ``align eval`` that are safe, executable and reach the goal, each plan of a task once.

    Raises :class:`~plansafe.align.records.BadRecords`.
    """
    seen: set[tuple[str, str]] = set()
    prompts: dict[str, str] = {}
    try:
        for record in read_run(path).records:
            judged = judged_of(record["judged"])
            origin, plan = record["origin"], plan_of(record["plan"])
            safe = judged.read and judged.success.goal is True and judged.safety is Safety.SAFE
            if not safe or not record["plan"] or (origin, plan) in seen:
                continue
            seen.add((origin, plan))
            if origin not in prompts:
                prompts[origin] = plan_prompt(task_of(origin, data_folder()))
            yield SftLine(
                record["id"], origin, record["family"], record["world"], record["split"], prompts[origin], plan, "plan"
            )
    except (BadRun, BadField, BadOrigin, KeyError, TypeError) as error:
        raise bad_records(path, None, f"it is not a run of `safecheck align eval`: {error}") from None


def _starts_with(path: str, mark: bytes) -> bool:
    """Whether the first line of a file contains a mark. An unreadable file is reported by its reader."""
    try:
        with open(path, "rb") as file:
            return mark in file.readline(_FIRST_BYTES)
    except OSError:
        return False


def _rows(config: Config, record: Pair | SftLine, tokenizer: PlanTokenizer) -> tuple[Tokens, ...] | None:
    prompt = tokenizer.prompt(record.prompt)
    if config.method == "grpo":
        fits = len(prompt) + config.max_completion_length <= config.max_length
        return (Tokens(tuple(prompt), (-1,) * len(prompt), 0, ()),) if fits else None
    if isinstance(record, SftLine):
        return _text(prompt, record.completion, tokenizer, config.max_length)
    if config.method in TEXT_METHODS:
        return _text(prompt, record.chosen, tokenizer, config.max_length)
    plans = record.actions
    weights = _weights(config, record)
    sides = Steps(plans.chosen, weights.chosen), Steps(plans.rejected, weights.rejected)
    if config.permute_labels and Random(f"labels/{config.seed}/{record.id}").random() < 0.5:
        sides = sides[1], sides[0]
    return pair_of(prompt, *sides, tokenizer, config.max_length)


def _text(prompt: Sequence[int], text: str, tokenizer: PlanTokenizer, most_tokens: int) -> tuple[Tokens] | None:
    """A text line by line, like a plan."""
    lines = tuple(text.removesuffix("\n").split("\n"))
    tokens = tokens_of(prompt, Steps(lines, (1.0,) * (len(lines) + 1)), 0, tokenizer)
    return (tokens,) if len(tokens.tokens) <= most_tokens else None


def _weights(config: Config, pair: Pair) -> Both[tuple[float, ...]]:
    """The step weights of a pair: all 1 except for ``ours``."""
    if config.method != "ours":
        return weights_of(pair, "even")
    return pair.weights if config.weights == "record" else weights_of(pair, config.weights, seed=config.seed)


def _digest(paths: Sequence[str]) -> str:
    """The SHA-256 of the files' bytes, independent of their names."""
    total = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()
