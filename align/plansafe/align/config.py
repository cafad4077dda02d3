"""The configuration of a training run: a flat TOML or YAML file with the keys of Safe-BeAl's table 4, and ours.

An unknown key, a repeated key or a value of the wrong type is refused with its place (SC660). The paper's table names
its hyperparameters without values, so the defaults are SimPO's where it has them (docs/alignment.md).
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any, Literal, get_args

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Span
from plansafe.grammar.source import Source

Method = Literal["sft", "rft", "safe-align", "simpo", "dpo", "prefix-dpo", "step-dpo", "ours", "grpo"]
METHODS: tuple[Method, ...] = get_args(Method)
TEXT_METHODS: tuple[Method, ...] = ("sft", "rft")
"""Methods that train on texts: given ones, or the model's own safe plans."""
TRL_METHODS: tuple[Method, ...] = ("dpo", "simpo", "grpo")
"""Methods that run on trl's trainers."""
REFERENCED: tuple[Method, ...] = ("dpo", "prefix-dpo", "step-dpo")
"""Methods that compare with the model at the start of the run."""
Weights = Literal["record", "regret", "random", "divergence", "even"]
WEIGHTS: tuple[Weights, ...] = ("record", "regret", "random", "divergence", "even")
NORMALISERS = ("tokens", "weights")
DTYPES = ("float32", "bfloat16")
SCHEDULES = ("constant", "linear", "cosine")
ATTENTION = ("eager", "sdpa", "flash_attention_2", "flash_attention_3", "flex_attention")
MOST_BYTES = 1 << 20
_MOST_FILES = 1000
_PLACE = r"\(at line (\d+), column (\d+)\)\Z"


class BadConfig(Exception):
    """A configuration that cannot be used; ``source`` is the text that ``diagnostics`` refer to."""

    def __init__(self, source: Source, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__(diagnostics[0].message)
        self.source = source
        self.diagnostics = diagnostics


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """A run. The key of ``factor`` is ``lambda``, which Python keeps for itself; all others are keys as they are."""

    model: str
    """The model that is trained: ``hf/FOLDER`` (weights, or an adapter that names its base) or ``gguf/FILE``."""
    data: tuple[str, ...]
    """Files of pairs. ``sft`` also takes texts, ``rft`` runs of ``align eval``, ``grpo`` any file with tasks."""
    output: str
    """The folder of the run: its checkpoints, metrics, and at the end the adapter."""
    method: Method
    adapter: str | None = None
    """The adapter of ``model`` that the run continues, for example the adapter of the SFT phase."""
    lr: float = 5e-5
    bs: int = 4
    """Pairs, texts or (``grpo``) prompts in one forward pass of one process."""
    gradient_accumulation_steps: int = 1
    max_steps: int = 150
    beta: float | None = None
    """Default: 2.0 for averages of log-probabilities, 0.1 for their sums (DPO), 0 for ``grpo`` (its KL term)."""
    gamma_beta_ratio: float = 0.5
    sft_weight: float = 0.0
    """Weight of the cross-entropy of the chosen plans, added to the preference."""
    lora_r: int | None = None
    """Rank of LoRA; 0 trains all weights. Default: the adapter's, or 16."""
    lora_alpha: float | None = None
    """Scale of LoRA times its rank. Default: the adapter's, or twice the rank."""
    factor: float = 0.5
    """Weight of the shared prefix in ``safe-align`` and ``prefix-dpo``: the paper's lambda."""
    normaliser: Literal["tokens", "weights"] = "tokens"
    weights: Weights = "record"
    """For ``ours``: the weights of the records, or computed by a scheme (docs/alignment.md)."""
    seed: int = 0
    split: Literal["train", "test"] = "train"
    permute_labels: bool = False
    """Swap safe and unsafe plan of a random half of the pairs (a control run)."""
    max_length: int = 384
    """Tokens of prompt and plan together; longer ones are left out and named."""
    chat_template: bool | None = None
    """Whether the prompt is put into the tokenizer's chat template. Default: if the tokenizer has one."""
    dtype: Literal["float32", "bfloat16"] = "bfloat16"
    schedule: Literal["constant", "linear", "cosine"] = "cosine"
    warmup_ratio: float = 0.1
    weight_decay: float = 0.0
    """0 is Adam, as in the paper."""
    max_grad_norm: float = 1.0
    gradient_checkpointing: bool = False
    attn_implementation: str | None = None
    """The attention of transformers; default: its choice."""
    load_in_4bit: bool = False
    """QLoRA: the base in 4 bits (NF4); needs bitsandbytes."""
    num_generations: int = 8
    """``grpo``: completions of each prompt."""
    max_completion_length: int = 192
    """``grpo``: most tokens of a completion."""
    temperature: float = 1.0
    """``grpo``: of the completions."""
    vllm: bool = False
    """``grpo``: generate with vLLM on the GPU of the training; needs vllm."""
    eval_data: tuple[str, ...] = ()
    """Files like ``data`` on which the run is evaluated; all lines, whatever their split."""
    eval_steps: int = 50
    """Steps between two evaluations."""
    report_to: tuple[str, ...] = ()
    """Loggers of transformers: ``tensorboard``, ``wandb``, ``trackio`` and others that are installed."""
    save_steps: int = 25
    keep_checkpoints: int = 2
    threads: int = 1

    def values(self) -> dict[str, Any]:
        """All values by their keys, as JSON."""
        values = {_key(field.name): getattr(self, field.name) for field in fields(self)}
        return {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}

    @property
    def sharpness(self) -> float:
        """``beta``, or the default of the method."""
        if self.beta is not None:
            return self.beta
        if self.method == "grpo":
            return 0.0
        return 0.1 if self.method in REFERENCED else 2.0


def read_config(path: str, overrides: Mapping[str, str] | None = None) -> Config:
    """Read a file (``.yaml`` and ``.yml`` as YAML, others as TOML); paths in it are relative to its folder.

    ``overrides`` are values as TOML would have them, or plain texts, by key; their paths are relative to the current
    folder. Raises :class:`BadConfig`.
    """
    try:
        if os.path.getsize(path) > MOST_BYTES:
            raise BadConfig(Source(path, ""), (_error(f"{path} is longer than {MOST_BYTES:,} bytes"),))
        with open(path, "rb") as file:
            source = Source.from_bytes(path, file.read(MOST_BYTES))
    except OSError as error:
        message = f"cannot read the configuration {path}: {(error.strerror or str(error)).lower()}"
        raise BadConfig(Source(path, ""), (Diagnostic(SC.UNREADABLE_FILE, message),)) from None
    table, problems = _yaml(source) if path.lower().endswith((".yaml", ".yml")) else _toml(source)
    reader = _Reader(source, os.path.dirname(path))
    reader.diagnostics += problems
    values = reader.typed(table)
    overrides = overrides or {}
    assignments = "\n".join([f"{key} = {value}" for key, value in overrides.items()])
    set_reader = _Reader(Source("--set", assignments), "")
    values |= set_reader.typed({key: _value(text) for key, text in overrides.items()})
    for part in (reader, set_reader):
        if part.diagnostics:
            raise BadConfig(part.source, tuple(part.diagnostics))
    return reader.built(values)


def config_of(table: Mapping[str, Any]) -> Config:
    """The configuration of a table of values by key. Raises :class:`BadConfig`."""
    reader = _Reader(Source("configuration", ""), "")
    values = reader.typed(table)
    if reader.diagnostics:
        raise BadConfig(reader.source, tuple(reader.diagnostics))
    return reader.built(values)


def _key(field: str) -> str:
    return "lambda" if field == "factor" else field


def _field(key: str) -> str:
    return "factor" if key == "lambda" else key


KEYS: tuple[str, ...] = tuple([_key(field.name) for field in fields(Config)])


def _error(message: str, label: Label | None = None, help: str | None = None) -> Diagnostic:
    return Diagnostic(SC.BAD_TRAINING_CONFIG, message, () if label is None else (label,), help=help)


def _toml(source: Source) -> tuple[dict[str, Any], list[Diagnostic]]:
    import tomllib  # noqa: PLC0415 - where there is such a file

    try:
        return tomllib.loads(source.text), []
    except tomllib.TOMLDecodeError as error:
        raise BadConfig(source, (_syntax(source, str(error)),)) from None
    except RecursionError:
        raise BadConfig(source, (_syntax(source, "nested too deeply"),)) from None


def _syntax(source: Source, message: str) -> Diagnostic:
    place = re.search(_PLACE, message)
    at = len(source.text)
    if place is not None:
        starts = source.line_starts
        at = min(starts[min(int(place[1]), len(starts)) - 1] + int(place[2]) - 1, at)
    text = re.sub(_PLACE, "", message).rstrip(" (").lower()
    return _error(f"{source.name} is not TOML: {text}", Label(source.name, Span(at, at + 1)))


def _yaml(source: Source) -> tuple[dict[str, Any], list[Diagnostic]]:
    """A flat mapping of scalars and lists of scalars: no tag, alias or object of YAML is built."""
    try:
        import yaml  # noqa: PLC0415 - an extra's, and for such files alone
    except ImportError:
        message = f"{source.name}: YAML needs the package pyyaml, which is not installed"
        raise BadConfig(source, (_error(message, help="write the file as TOML"),)) from None
    try:
        root = yaml.compose(source.text, Loader=yaml.SafeLoader)
        loader = yaml.SafeLoader("")
        if not isinstance(root, yaml.MappingNode):
            raise BadConfig(source, (_error(f"{source.name} has no keys", help="key: value"),))
        table: dict[str, Any] = {}
        problems = []
        for key, value in root.value:
            name = str(key.value) if isinstance(key, yaml.ScalarNode) else "?"
            if name in table:
                place = Label(source.name, Span(key.start_mark.index, key.end_mark.index))
                problems.append(_error(f"`{name}` is repeated", place))
            if isinstance(value, yaml.SequenceNode):
                table[name] = [_scalar(yaml, loader, item) for item in value.value]
            else:
                table[name] = _scalar(yaml, loader, value)
        return table, problems
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        at = min(mark.index if mark is not None else 0, len(source.text))
        why = str(getattr(error, "problem", None) or "it cannot be read")
        place = Label(source.name, Span(at, at + 1))
        raise BadConfig(source, (_error(f"{source.name} is not YAML: {why}", place),)) from None
    except RecursionError:
        raise BadConfig(source, (_error(f"{source.name} is not YAML: nested too deeply"),)) from None


def _scalar(yaml: Any, loader: Any, node: Any) -> Any:
    if not isinstance(node, yaml.ScalarNode):
        return {}
    plain = {f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null")}
    return loader.construct_object(node) if node.tag in plain else {}


def _value(text: str) -> Any:
    """A value as TOML has it, or a plain text."""
    import tomllib  # noqa: PLC0415 - where a value is overridden

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return text


class _Reader:
    """Checks values by their keys, and collects the mistakes."""

    def __init__(self, source: Source, folder: str) -> None:
        self.source = source
        self.diagnostics: list[Diagnostic] = []
        self._folder = folder

    def wrong(self, key: str, message: str, help: str | None = None) -> None:
        """Note a mistake at a key."""
        self.diagnostics.append(_error(f"`{key}` {message}", self._place(key), help))

    def typed(self, table: Mapping[str, Any]) -> dict[str, Any]:
        """The correct values by field; mistakes are added to the diagnostics."""
        values: dict[str, Any] = {}
        for key, value in table.items():
            read = _READERS.get(key)
            if read is None:
                self.wrong(key, "is not a key of a training run", nearest(key, KEYS))
                continue
            try:
                values[_field(key)] = read(self._folder, value)
            except _IllTyped as error:
                self.wrong(key, str(error), error.help)
        return values

    def built(self, values: Mapping[str, Any]) -> Config:
        """The configuration. Raises :class:`BadConfig` if a required key is missing."""
        missing = [field.name for field in fields(Config) if field.default is MISSING and field.name not in values]
        if missing:
            message = f"{self.source.name} lacks {' and '.join([f'`{key}`' for key in missing])}"
            raise BadConfig(self.source, (_error(message, help="docs/alignment.md has the keys"),))
        return Config(**values)

    def _place(self, key: str) -> Label:
        line = re.search(rf"(?m)^[ \t]*(?P<key>[\"']?{re.escape(key)}[\"']?)[ \t]*[=:.]", self.source.text)
        table = line or re.search(rf"(?m)^[ \t]*\[[^\]\r\n#]*(?P<key>{re.escape(key)})", self.source.text)
        span = Span(*table.span("key")) if table is not None else Span(0, 0)
        return Label(self.source.name, span)


def nearest(key: str, names: Sequence[str]) -> str:
    """The most similar name, or all names."""
    import difflib  # noqa: PLC0415 - only for mistakes

    word = key.lower().replace("-", "_")[:60]
    usual = _USUAL.get(word)
    similar = [usual] if usual in names else difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    return f"did you mean `{similar[0]}`?" if similar else f"keys are: {', '.join(names)}"


_USUAL = {
    "learning_rate": "lr",
    "batch_size": "bs",
    "per_device_train_batch_size": "bs",
    "lora_rank": "lora_r",
    "rank": "lora_r",
    "factor": "lambda",
    "steps": "max_steps",
    "output_dir": "output",
    "loss_type": "method",
    "lr_scheduler_type": "schedule",
    "max_seq_length": "max_length",
    "bf16": "dtype",
    "attention": "attn_implementation",
    "use_vllm": "vllm",
    "eval_dataset": "eval_data",
}
"""Names of other trainers."""


class _IllTyped(Exception):
    def __init__(self, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.help = help


_Read = Callable[[str, Any], Any]


def _text(_folder: str, value: Any) -> str:
    if not isinstance(value, str) or not value or not value.isprintable():
        raise _IllTyped("must be a text")
    return value


def _path(folder: str, value: Any) -> str:
    return os.path.join(folder, _text(folder, value))


def _paths(folder: str, value: Any) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value]
    if not values or len(values) > _MOST_FILES:
        raise _IllTyped(f"needs from 1 to {_MOST_FILES} files")
    return tuple([_path(folder, item) for item in values])


def _names(_folder: str, value: Any) -> tuple[str, ...]:
    values = [_text("", item) for item in (value if isinstance(value, list) else [value])]
    return () if values == ["none"] else tuple(values)


def _model(folder: str, value: Any) -> str:
    kind, _, path = _text(folder, value).partition("/")
    if kind not in ("hf", "gguf") or not path:
        raise _IllTyped("does not name weights that can be trained", "write hf/FOLDER or gguf/FILE")
    return f"{kind}/{os.path.join(folder, path)}"


def _integer(least: int, most: int = 10**9) -> _Read:
    def read(_folder: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise _IllTyped(f"must be a whole number from {least}" + (f" to {most}" if most < 10**9 else ""))
        return value

    return read


def _number(least: float, most: float = math.inf, above: bool = False) -> _Read:
    def read(_folder: str, value: Any) -> float:
        fits = not isinstance(value, bool) and isinstance(value, (int, float))
        if not fits or not math.isfinite(value) or not least <= value <= most or (above and value == least):
            help = None
            if isinstance(value, str) and re.fullmatch(r"[+-]?\d+[eE][+-]?\d+", value):
                help = "YAML reads 1e-5 as a text: write 1.0e-5"
            bound = f" {'above' if above else 'from'} {least:g}" + (f" to {most:g}" if most < math.inf else "")
            raise _IllTyped(f"must be a number{bound}", help)
        return float(value)

    return read


def _truth(_folder: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise _IllTyped("must be true or false")
    return value


def _choice(names: Sequence[str]) -> _Read:
    def read(_folder: str, value: Any) -> str:
        if not isinstance(value, str) or value not in names:
            help = nearest(value, names) if isinstance(value, str) else None
            raise _IllTyped(f"must be one of {', '.join(names)}", help if help and help.startswith("did") else None)
        return value

    return read


_READERS: Mapping[str, _Read] = {
    "model": _model,
    "data": _paths,
    "output": _path,
    "method": _choice(METHODS),
    "adapter": _path,
    "lr": _number(0.0, 1.0, above=True),
    "bs": _integer(1, 100_000),
    "gradient_accumulation_steps": _integer(1, 100_000),
    "max_steps": _integer(1),
    "beta": _number(0.0, above=True),
    "gamma_beta_ratio": _number(0.0),
    "sft_weight": _number(0.0),
    "lora_r": _integer(0, 4096),
    "lora_alpha": _number(0.0, above=True),
    "lambda": _number(0.0, 1.0),
    "normaliser": _choice(NORMALISERS),
    "weights": _choice(WEIGHTS),
    "seed": _integer(0),
    "split": _choice(("train", "test")),
    "permute_labels": _truth,
    "max_length": _integer(2, 1_000_000),
    "chat_template": _truth,
    "attn_implementation": _choice(ATTENTION),
    "load_in_4bit": _truth,
    "num_generations": _integer(2, 1024),
    "max_completion_length": _integer(1, 1_000_000),
    "temperature": _number(0.0, above=True),
    "vllm": _truth,
    "eval_data": _paths,
    "eval_steps": _integer(1),
    "report_to": _names,
    "dtype": _choice(DTYPES),
    "schedule": _choice(SCHEDULES),
    "warmup_ratio": _number(0.0, 1.0),
    "weight_decay": _number(0.0),
    "max_grad_norm": _number(0.0, above=True),
    "gradient_checkpointing": _truth,
    "save_steps": _integer(1),
    "keep_checkpoints": _integer(1, 1000),
    "threads": _integer(1, 1024),
}


def changed(config: Config, **values: Any) -> Config:
    """The configuration with other values, checked like a file. Raises :class:`BadConfig`."""
    table = {key: value for key, value in config.values().items() if value is not None and value != []}
    return config_of(table | {_key(name): value for name, value in values.items()})
