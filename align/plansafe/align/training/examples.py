"""What a run trains on: the lines of its data files as tokens, in the order of the files. torch is not needed.

Nothing is cut: what is too long is left out, counted and named.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple, Protocol

from plansafe.align.config import Config
from plansafe.align.records import Both, Pair, SftLine, bad_records, read_pairs, read_sft
from plansafe.align.tokens import Steps, Tokenizer, Tokens, pair_of
from plansafe.align.weights import weights_of

_MARK = b'"completion"'
_FIRST_BYTES = 1 << 20


class PlanTokenizer(Tokenizer, Protocol):
    """A tokenizer that also knows how a prompt begins."""

    def prompt(self, text: str) -> list[int]:
        """The tokens of a prompt, with the mark of the beginning where the model was trained with one."""


class Example(NamedTuple):
    """What is learnt from at once: a pair's chosen and rejected plan, or one text."""

    name: str
    rows: tuple[Tokens, ...]

    @property
    def size(self) -> int:
        """Tokens of the chosen plan, or of the text, the end included."""
        return sum([at >= 0 for at in self.rows[0].action])


class Examples(NamedTuple):
    """All examples; names of those that are too long; how many lines were of another split; the sum of the files."""

    examples: tuple[Example, ...]
    too_long: tuple[str, ...]
    other_split: int
    sha256: str


def read_examples(config: Config, tokenizer: PlanTokenizer) -> Examples:
    """Read the data of a run. Raises :class:`~plansafe.align.records.BadRecords`."""
    found: list[Example] = []
    too_long: list[str] = []
    other = 0
    for path in config.data:
        for name, record in _records(config, path):
            if record.split != config.split:
                other += 1
                continue
            rows = _rows(config, record, tokenizer)
            if rows is None:
                too_long.append(name)
            else:
                found.append(Example(name, rows))
    if not found:
        raise bad_records(config.data[0], None, f"no line of the split {config.split} fits {config.max_length} tokens")
    return Examples(tuple(found), tuple(too_long), other, _sum(config.data))


def _records(config: Config, path: str) -> Iterator[tuple[str, Pair | SftLine]]:
    """The records of a file by their names: pairs, or texts where the first line is one."""
    if config.method == "sft" and _holds_texts(path):
        for number, line in enumerate(read_sft(path), 1):
            yield f"{path}:{number} ({line.task})", line
    else:
        for pair in read_pairs(path):
            yield pair.id, pair


def _holds_texts(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return _MARK in file.readline(_FIRST_BYTES)
    except OSError:
        return False  # the reader says what is wrong


def _rows(config: Config, record: Pair | SftLine, tokenizer: PlanTokenizer) -> tuple[Tokens, ...] | None:
    prompt = tokenizer.prompt(record.prompt)
    if isinstance(record, SftLine):
        return _text(prompt, record.completion, tokenizer, config.max_length)
    if config.method == "sft":
        return _text(prompt, record.chosen, tokenizer, config.max_length)
    plans = record.actions
    weights = _weights(config, record)
    sides = Steps(plans.chosen, weights.chosen), Steps(plans.rejected, weights.rejected)
    if config.permute_labels and Random(f"labels/{config.seed}/{record.id}").random() < 0.5:
        sides = sides[1], sides[0]
    return pair_of(prompt, *sides, tokenizer, config.max_length)


def _text(prompt: Sequence[int], text: str, tokenizer: PlanTokenizer, longest: int) -> tuple[Tokens] | None:
    """A text line by line, as plans are; its last line need not have an end."""
    tokens, action = list(prompt), [-1] * len(prompt)
    lines = text.split("\n")
    pieces = [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    for number, piece in enumerate(pieces):
        found = tokenizer.encode(piece)
        tokens += found
        action += [number] * len(found)
    if len(tokens) + 1 > longest:
        return None
    return (Tokens((*tokens, tokenizer.end), (*action, len(pieces)), 0, (1.0,) * (len(pieces) + 1)),)


def _weights(config: Config, pair: Pair) -> Both[tuple[float, ...]]:
    """What the steps of a pair weigh; all 1 for methods that do not ask the verifier."""
    if config.method != "ours":
        return weights_of(pair, "even")
    return pair.weights if config.weights == "record" else weights_of(pair, config.weights, seed=config.seed)


def _sum(paths: Sequence[str]) -> str:
    """The SHA-256 of the files' bytes, whatever they are called."""
    whole = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()
