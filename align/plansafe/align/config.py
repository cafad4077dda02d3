"""The configuration of a training run: a flat TOML or YAML file with the keys of Safe-BeAl's table 4, and ours.

An unknown key or a value of the wrong type is refused with its place (SC660). The paper's table names its
hyperparameters without values, so the defaults are SimPO's where it has them (docs/alignment.md).
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from plansafe.align.tables import (
    IllTyped,
    TableReader,
    choice,
    integer,
    key_of,
    number,
    read_file,
    setting,
    text,
    truth,
)
from plansafe.grammar.source import Source

Method = Literal["sft", "rft", "safe-align", "simpo", "dpo", "prefix-dpo", "step-dpo", "ours", "grpo"]
TEXT_METHODS: tuple[Method, ...] = ("sft", "rft")
"""Methods that train on texts: given ones, or the model's own safe plans."""
TRL_METHODS: tuple[Method, ...] = ("dpo", "simpo", "grpo")
"""Methods that run on trl's trainers."""
REFERENCED: tuple[Method, ...] = ("dpo", "prefix-dpo", "step-dpo")
"""Methods that compare with the model at the start of the run."""
Weights = Literal["record", "regret", "random", "divergence", "even"]
Normaliser = Literal["tokens", "weights"]
Dtype = Literal["float32", "bfloat16"]
Schedule = Literal["constant", "linear", "cosine"]
METHODS, WEIGHTS, NORMALISERS = get_args(Method), get_args(Weights), get_args(Normaliser)
DTYPES, SCHEDULES = get_args(Dtype), get_args(Schedule)
ATTENTION = ("eager", "sdpa", "flash_attention_2", "flash_attention_3", "flex_attention")
_MOST_FILES = 1000


def _path(folder: str, value: Any) -> str:
    return os.path.join(folder, text(folder, value))


def _paths(folder: str, value: Any) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value]
    if not values or len(values) > _MOST_FILES:
        raise IllTyped(f"needs from 1 to {_MOST_FILES} files")
    return tuple([_path(folder, item) for item in values])


def _names(folder: str, value: Any) -> tuple[str, ...]:
    values = [text(folder, item) for item in (value if isinstance(value, list) else [value])]
    return () if values == ["none"] else tuple(values)


def _model(folder: str, value: Any) -> str:
    kind, _, path = text(folder, value).partition("/")
    if kind not in ("hf", "gguf") or not path:
        raise IllTyped("does not name weights that can be trained", "write hf/FOLDER or gguf/FILE")
    return f"{kind}/{os.path.join(folder, path)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """A run. The key of ``factor`` is ``lambda``, which Python keeps for itself; all others are keys as they are."""

    model: str = setting(_model)
    """The model that is trained: ``hf/FOLDER`` (weights, or an adapter that names its base) or ``gguf/FILE``."""
    data: tuple[str, ...] = setting(_paths)
    """Files of pairs. ``sft`` also takes texts, ``rft`` runs of ``align eval``, ``grpo`` any file with tasks."""
    output: str = setting(_path)
    """The folder of the run: its checkpoints, metrics, and at the end the adapter."""
    method: Method = setting(choice(METHODS))
    adapter: str | None = setting(_path, None)
    """The adapter of ``model`` that the run continues, for example the adapter of the SFT phase."""
    lr: float = setting(number(0.0, 1.0, above=True), 5e-5)
    bs: int = setting(integer(1, 100_000), 4)
    """Pairs, texts or (``grpo``) prompts in one forward pass of one process."""
    gradient_accumulation_steps: int = setting(integer(1, 100_000), 1)
    max_steps: int = setting(integer(1), 150)
    beta: float | None = setting(number(0.0, above=True), None)
    """Default: 2.0 for averages of log-probabilities, 0.1 for their sums (DPO), 0 for ``grpo`` (its KL term)."""
    gamma_beta_ratio: float = setting(number(0.0), 0.5)
    sft_weight: float = setting(number(0.0), 0.0)
    """Weight of the cross-entropy of the chosen plans, added to the preference."""
    lora_r: int | None = setting(integer(0, 4096), None)
    """Rank of LoRA; 0 trains all weights. Default: the adapter's, or 16."""
    lora_alpha: float | None = setting(number(0.0, above=True), None)
    """Scale of LoRA times its rank. Default: the adapter's, or twice the rank."""
    factor: float = setting(number(0.0, 1.0), 0.5, name="lambda")
    """Weight of the shared prefix in ``safe-align`` and ``prefix-dpo``: the paper's lambda."""
    normaliser: Normaliser = setting(choice(NORMALISERS), "tokens")
    weights: Weights = setting(choice(WEIGHTS), "record")
    """For ``ours``: the weights of the records, or computed by a scheme (docs/alignment.md)."""
    seed: int = setting(integer(0), 0)
    split: Literal["train", "test"] = setting(choice(("train", "test")), "train")
    permute_labels: bool = setting(truth, False)
    """Swap safe and unsafe plan of a random half of the pairs (a control run)."""
    max_length: int = setting(integer(2, 1_000_000), 384)
    """Tokens of prompt and plan together; longer ones are left out and named."""
    chat_template: bool | None = setting(truth, None)
    """Whether the prompt is put into the tokenizer's chat template. Default: if the tokenizer has one."""
    dtype: Dtype = setting(choice(DTYPES), "bfloat16")
    schedule: Schedule = setting(choice(SCHEDULES), "cosine")
    warmup_ratio: float = setting(number(0.0, 1.0), 0.1)
    weight_decay: float = setting(number(0.0), 0.0)
    """0 is Adam, as in the paper."""
    max_grad_norm: float = setting(number(0.0, above=True), 1.0)
    gradient_checkpointing: bool = setting(truth, False)
    attn_implementation: str | None = setting(choice(ATTENTION), None)
    """The attention of transformers; default: its choice."""
    load_in_4bit: bool = setting(truth, False)
    """QLoRA: the base in 4 bits (NF4); needs bitsandbytes."""
    num_generations: int = setting(integer(2, 1024), 8)
    """``grpo``: completions of each prompt."""
    max_completion_length: int = setting(integer(1, 1_000_000), 192)
    """``grpo``: most tokens of a completion."""
    temperature: float = setting(number(0.0, above=True), 1.0)
    """``grpo``: of the completions."""
    vllm: bool = setting(truth, False)
    """``grpo``: generate with vLLM on the GPU of the training; needs vllm."""
    eval_data: tuple[str, ...] = setting(_paths, ())
    """Files like ``data`` on which the run is evaluated; all lines, whatever their split."""
    eval_steps: int = setting(integer(1), 50)
    """Steps between two evaluations."""
    report_to: tuple[str, ...] = setting(_names, ())
    """Loggers of transformers: ``tensorboard``, ``wandb``, ``trackio`` and others that are installed."""
    save_steps: int = setting(integer(1), 25)
    keep_checkpoints: int = setting(integer(1, 1000), 2)
    threads: int = setting(integer(1, 1024), 1)

    def values(self) -> dict[str, Any]:
        """All values by their keys, as JSON."""
        values = {key_of(member): getattr(self, member.name) for member in fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @property
    def sharpness(self) -> float:
        """``beta``, or the default of the method."""
        if self.beta is not None:
            return self.beta
        if self.method == "grpo":
            return 0.0
        return 0.1 if self.method in REFERENCED else 2.0


def read_config(path: str, overrides: Mapping[str, str] | None = None) -> Config:
    """Read a file; paths in it are relative to its folder. Raises :class:`~plansafe.align.tables.BadConfig`.

    ``overrides`` are values as TOML would have them, or plain texts, by key; their paths are relative to the current
    folder.
    """
    source, table = read_file(path)
    reader = TableReader(source, "a training run", os.path.dirname(path))
    values = reader.values(Config, table)
    overrides = overrides or {}
    assignments = "\n".join([f"{name} = {value}" for name, value in overrides.items()])
    override_reader = TableReader(Source("--set", assignments), "a training run")
    values |= override_reader.values(Config, {name: _value(value) for name, value in overrides.items()})
    override_reader.check()
    config: Config = reader.built(Config, values)
    return config


def config_of(table: Mapping[str, Any]) -> Config:
    """The configuration of a table of values by key. Raises :class:`~plansafe.align.tables.BadConfig`."""
    config: Config = TableReader(Source("configuration", ""), "a training run").read(Config, table)
    return config


def _value(value: str) -> Any:
    """A value as TOML has it, or a plain text."""
    try:
        return tomllib.loads(f"value = {value}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return value
