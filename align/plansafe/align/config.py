"""What a training run is asked to do: a flat TOML or YAML file with the names of Safe-BeAl's table 4, and ours.

A key that is not known, stands there twice or has a value of another type is refused with its place (SC660): a run
that took hours with a misspelt `lambda` would be a run of something else. The paper's table names its hyperparameters
without their values, so the defaults are SimPO's where it has them (docs/alignment.md).
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any, Literal

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Span
from plansafe.grammar.source import Source

Method = Literal["sft", "safe-align", "simpo", "dpo", "prefix-dpo", "step-dpo", "ours"]
METHODS: tuple[Method, ...] = ("sft", "safe-align", "simpo", "dpo", "prefix-dpo", "step-dpo", "ours")
REFERENCED: tuple[Method, ...] = ("dpo", "prefix-dpo", "step-dpo")
"""Methods that compare with the model as it was at the beginning."""
Weights = Literal["record", "regret", "random", "divergence", "even"]
WEIGHTS: tuple[Weights, ...] = ("record", "regret", "random", "divergence", "even")
NORMALISERS = ("tokens", "weights")
DTYPES = ("float32", "bfloat16")
SCHEDULES = ("constant", "linear", "cosine")
MOST_BYTES = 1 << 20
_MOST_FILES = 1000
_PLACE = r"\(at line (\d+), column (\d+)\)\Z"


class BadConfig(Exception):
    """A configuration that cannot be used: what is wrong with it, and the text in which it is wrong."""

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
    """Files of pairs, or (``sft``) of texts; of pairs ``sft`` takes the chosen plans."""
    output: str
    """The folder of the run: its checkpoints, metrics, and at the end the adapter."""
    method: Method
    adapter: str | None = None
    """An adapter for ``model`` with which the run begins, as the preference phase does with that of SFT."""
    lr: float = 5e-5
    bs: int = 4
    """Pairs (``sft``: texts) in one forward pass of one process."""
    gradient_accumulation_steps: int = 1
    max_steps: int = 150
    beta: float | None = None
    """Of the preference; where nothing is said 2.0 by averages of log-probabilities, 0.1 by their sums (DPO)."""
    gamma_beta_ratio: float = 0.5
    sft_weight: float = 0.0
    """Of the cross-entropy of the chosen plans, beside the preference."""
    lora_r: int | None = None
    """Rank of LoRA, 0: all weights are trained. Where nothing is said that of the adapter, or 16."""
    lora_alpha: float | None = None
    """Scale of LoRA times its rank; where nothing is said that of the adapter, or twice the rank."""
    factor: float = 0.5
    """Weight of the shared prefix in ``safe-align`` and ``prefix-dpo``: the paper's lambda."""
    normaliser: Literal["tokens", "weights"] = "tokens"
    weights: Weights = "record"
    """For ``ours``: the weights in the records, or computed anew by a scheme (docs/alignment.md)."""
    seed: int = 0
    split: Literal["train", "test"] = "train"
    permute_labels: bool = False
    """Swap safe and unsafe plan of a random half of the pairs: nothing can be learnt from the labels."""
    max_length: int = 384
    """Tokens of prompt and plan together; longer ones are left out and named."""
    dtype: Literal["float32", "bfloat16"] = "bfloat16"
    schedule: Literal["constant", "linear", "cosine"] = "cosine"
    warmup_ratio: float = 0.1
    weight_decay: float = 0.0
    """0 is Adam, as the paper has it."""
    max_grad_norm: float = 1.0
    gradient_checkpointing: bool = False
    save_steps: int = 25
    keep_checkpoints: int = 2
    threads: int = 1

    def said(self) -> dict[str, Any]:
        """All values by their keys, as JSON has them."""
        found = {_key(field.name): getattr(self, field.name) for field in fields(self)}
        return {key: list(value) if isinstance(value, tuple) else value for key, value in found.items()}

    @property
    def sharpness(self) -> float:
        """``beta``, or the default of the method."""
        if self.beta is not None:
            return self.beta
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
    given = _Reader(Source("--set", "\n".join([f"{key} = {value}" for key, value in (overrides or {}).items()])), "")
    values |= given.typed({key: _value(text) for key, text in (overrides or {}).items()})
    for one in (reader, given):
        if one.diagnostics:
            raise BadConfig(one.source, tuple(one.diagnostics))
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
    found = re.search(_PLACE, message)
    at = len(source.text)
    if found is not None:
        starts = source.line_starts
        at = min(starts[min(int(found[1]), len(starts)) - 1] + int(found[2]) - 1, at)
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
        found: dict[str, Any] = {}
        problems = []
        for key, value in root.value:
            name = str(key.value) if isinstance(key, yaml.ScalarNode) else "?"
            if name in found:
                place = Label(source.name, Span(key.start_mark.index, key.end_mark.index))
                problems.append(_error(f"`{name}` is repeated", place))
            if isinstance(value, yaml.SequenceNode):
                found[name] = [_scalar(yaml, loader, item) for item in value.value]
            else:
                found[name] = _scalar(yaml, loader, value)
        return found, problems
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
    """Types values by their keys, and collects what is wrong with them."""

    def __init__(self, source: Source, folder: str) -> None:
        self.source = source
        self.diagnostics: list[Diagnostic] = []
        self._folder = folder

    def wrong(self, key: str, message: str, help: str | None = None) -> None:
        """Note a mistake at a key."""
        self.diagnostics.append(_error(f"`{key}` {message}", self._place(key), help))

    def typed(self, table: Mapping[str, Any]) -> dict[str, Any]:
        """The values by field; those that are wrong are left out, and noted."""
        found: dict[str, Any] = {}
        for key, value in table.items():
            read = _READERS.get(key)
            if read is None:
                self.wrong(key, "is not a key of a training run", nearest(key, KEYS))
                continue
            try:
                found[_field(key)] = read(self._folder, value)
            except _IllTyped as error:
                self.wrong(key, str(error), error.help)
        return found

    def built(self, values: Mapping[str, Any]) -> Config:
        """The configuration, if nothing that must be said is missing. Raises :class:`BadConfig`."""
        missing = [field.name for field in fields(Config) if field.default is MISSING and field.name not in values]
        if missing:
            message = f"{self.source.name} lacks {' and '.join([f'`{key}`' for key in missing])}"
            raise BadConfig(self.source, (_error(message, help="docs/alignment.md has the keys"),))
        return Config(**values)

    def _place(self, key: str) -> Label:
        found = re.search(rf"(?m)^[ \t]*(?P<key>[\"']?{re.escape(key)}[\"']?)[ \t]*[=:.]", self.source.text)
        table = found or re.search(rf"(?m)^[ \t]*\[[^\]\r\n#]*(?P<key>{re.escape(key)})", self.source.text)
        span = Span(*table.span("key")) if table is not None else Span(0, 0)
        return Label(self.source.name, span)


def nearest(key: str, known: Sequence[str]) -> str:
    """The known name that was perhaps meant, or all of them."""
    import difflib  # noqa: PLC0415 - for mistakes alone

    word = key.lower().replace("-", "_")[:60]
    usual = _USUAL.get(word)
    found = [usual] if usual in known else difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return f"did you mean `{found[0]}`?" if found else f"keys are: {', '.join(known)}"


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
}
"""What other trainers call it."""


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


def _model(folder: str, value: Any) -> str:
    kind, slash, rest = _text(folder, value).partition("/")
    if kind not in ("hf", "gguf") or not slash or not rest:
        raise _IllTyped("does not name weights that can be trained", "write hf/FOLDER or gguf/FILE")
    return f"{kind}/{os.path.join(folder, rest)}"


def _whole(least: int, most: int = 10**9) -> _Read:
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


def _choice(known: Sequence[str]) -> _Read:
    def read(_folder: str, value: Any) -> str:
        if not isinstance(value, str) or value not in known:
            help = nearest(value, known) if isinstance(value, str) else None
            raise _IllTyped(f"must be one of {', '.join(known)}", help if help and help.startswith("did") else None)
        return value

    return read


_READERS: Mapping[str, _Read] = {
    "model": _model,
    "data": _paths,
    "output": _path,
    "method": _choice(METHODS),
    "adapter": _path,
    "lr": _number(0.0, 1.0, above=True),
    "bs": _whole(1, 100_000),
    "gradient_accumulation_steps": _whole(1, 100_000),
    "max_steps": _whole(1),
    "beta": _number(0.0, above=True),
    "gamma_beta_ratio": _number(0.0),
    "sft_weight": _number(0.0),
    "lora_r": _whole(0, 4096),
    "lora_alpha": _number(0.0, above=True),
    "lambda": _number(0.0, 1.0),
    "normaliser": _choice(NORMALISERS),
    "weights": _choice(WEIGHTS),
    "seed": _whole(0),
    "split": _choice(("train", "test")),
    "permute_labels": _truth,
    "max_length": _whole(2, 1_000_000),
    "dtype": _choice(DTYPES),
    "schedule": _choice(SCHEDULES),
    "warmup_ratio": _number(0.0, 1.0),
    "weight_decay": _number(0.0),
    "max_grad_norm": _number(0.0, above=True),
    "gradient_checkpointing": _truth,
    "save_steps": _whole(1),
    "keep_checkpoints": _whole(1, 1000),
    "threads": _whole(1, 1024),
}


def changed(config: Config, **values: Any) -> Config:
    """The configuration with other values, checked as those of a file. Raises :class:`BadConfig`."""
    said = {key: value for key, value in config.said().items() if value is not None}
    return config_of(said | {_key(name): value for name, value in values.items()})
