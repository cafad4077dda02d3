"""The sizes of a reproduction: shipped TOML files, or a file of the user (docs/alignment.md has the keys)."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from plansafe.align.config import BadConfig, Config, config_of
from plansafe.align.stated import families as stated
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Span, suggest_name
from plansafe.grammar.source import Source
from plansafe.llm.instances.families import FAMILIES
from plansafe.llm.scenarios.sets.reading import SHIPPED_SETS

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sizes")
MAX_BYTES = 1 << 20
MAX_TRAIN = 1_000
"""Maximum number of tasks of a family for SFT and sampling; test tasks have higher numbers."""
GRADES = ("none", "estimate", "found", "proved")
RANDOM = "random"
"""The base of a size whose models are made from random weights, one for each seed (``tiny_model.py``)."""
_SET_BY_STAGES = ("model", "data", "output", "adapter", "seed", "threads", "split")
"""Keys of a training run that the stages set."""


@dataclass(frozen=True, slots=True)
class Data:
    """The tasks. Numbers are for each family.

    ``train`` counts tasks for SFT and ``sampled`` other tasks, for which the model writes the plans that it is aligned
    with (0: the tasks for SFT). ``test`` counts test tasks of known families and rules, ``test_families`` tasks of the
    held-out families ``unseen``, and ``test_rules`` tasks with held-out rules. ``rooms`` (``drawn`` only): most rooms
    of a home besides the kitchen. For the source ``set`` the name of the set is its only family. ``virtualhome``
    counts further test tasks, scripts of VirtualHome, if the public data is there.
    """

    source: str
    families: tuple[str, ...]
    unseen: tuple[str, ...]
    train: int
    test: int
    test_families: int
    test_rules: int
    seed: int
    sampled: int = 0
    rooms: int = 3
    virtualhome: int = 0


@dataclass(frozen=True, slots=True)
class Sampling:
    """The rounds. In each, the model writes ``samples`` plans for each training task at ``temperature``.

    ``pairs`` and ``mutants``: maximum number of pairs of a task from its plans, and from mutants; ``grade``: how
    exactly the regret of steps is computed (``ours`` uses it).
    """

    samples: int = 8
    temperature: float = 1.0
    rounds: int = 1
    pairs: int = 4
    mutants: int = 0
    grade: str = "estimate"


@dataclass(frozen=True, slots=True)
class Run:
    """A training run: its name in tables, its keys of training, and its data.

    ``data`` is ``pairs``, ``answers`` (the model's safe plans), ``tasks``, or ``knowledge`` (questions about worlds;
    the run starts from the base model).
    """

    name: str
    keys: Mapping[str, Any]
    data: str


Example = Literal["none", "random", "nearest"]


@dataclass(frozen=True, slots=True)
class Prompting:
    """A baseline that changes only the prompt of the base model: the example in it, and a paragraph on safety.

    ``random`` takes a training task of another family with its plan (few-shot), ``nearest`` the one whose words are
    nearest by Rouge-L (LLM-Planner, Song et al. 2023).
    """

    name: str
    example: Example = "none"
    safety: bool = False


@dataclass(frozen=True, slots=True)
class Size:
    """A size. ``base`` is a model as training names it, or :data:`RANDOM`; ``parameters`` is for estimates.

    ``treatment`` is the run that the report tests against the others.
    """

    name: str
    data: Data
    base: str
    parameters: float
    seeds: tuple[int, ...]
    max_tokens: int
    batch: int
    sampling: Sampling
    sft: Mapping[str, Any]
    preference: Mapping[str, Any]
    runs: tuple[Run, ...]
    prompts: tuple[Prompting, ...]
    treatment: str

    def training(self, run: Run | None, **values: Any) -> Config:
        """The configuration of SFT (``None``) or of a run. Raises :class:`BadConfig`."""
        if run is None or run.data == "knowledge":
            keys = {"method": "sft", **self.sft, **({} if run is None else run.keys)}
        else:
            keys = {**self.preference, **run.keys}
        return config_of({**keys, **values})

    def verifier_calls(self, run: Run | None) -> int:
        """The number of plans of a model that the verifier judges for a run of one seed (SFT and knowledge: none)."""
        if run is None or run.data == "knowledge":
            return 0
        config = self.training(run, model="hf/x", data=["x"], output="x")
        if run.data == "tasks":
            prompts = config.max_steps * config.bs * config.gradient_accumulation_steps
            return prompts * int(getattr(config, "num_generations", 1))
        tasks = len(self.data.families) * (self.data.sampled or self.data.train)
        return tasks * self.sampling.samples * self.sampling.rounds


def names() -> list[str]:
    """The shipped sizes."""
    return sorted([name.removesuffix(".toml") for name in os.listdir(FOLDER) if name.endswith(".toml")])


def read_size(name: str, base: str | None = None) -> Size:
    """A shipped size by name, or the size of a file (``.toml``). ``base`` replaces the model. Raises BadConfig."""
    path = name
    if not name.endswith(".toml"):
        if name not in names():
            source = Source(name, "")
            raise BadConfig(source, (_error(f"unknown size {name[:80]!a}", help=suggest_name(name, names())),))
        path = os.path.join(FOLDER, f"{name}.toml")
    try:
        with open(path, "rb") as file:
            source = Source.from_bytes(path, file.read(MAX_BYTES))
        table = tomllib.loads(source.text)
    except OSError as error:
        message = f"cannot read {path}: {(error.strerror or str(error)).lower()}"
        raise BadConfig(Source(path, ""), (Diagnostic(SC.UNREADABLE_FILE, message),)) from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        label = Label(source.name, Span(0, len(source.text)))
        raise BadConfig(source, (_error(f"{path} is not TOML: {error}", label),)) from None
    return _Reader(source).size(os.path.basename(path).removesuffix(".toml"), table, base)


def _error(message: str, label: Label | None = None, help: str | None = None) -> Diagnostic:
    return Diagnostic(SC.BAD_TRAINING_CONFIG, message, () if label is None else (label,), help=help)


class _Reader:
    """Reads the tables of a size, and refuses unknown keys and wrong values with their place."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def _wrong(self, key: str, message: str, help: str | None = None) -> BadConfig:
        start = max(self._source.text.find(key), 0)
        label = Label(self._source.name, Span(start, start + (len(key) if key in self._source.text else 0)))
        return BadConfig(self._source, (_error(f"`{key}` {message}", label, help),))

    def size(self, name: str, table: Mapping[str, Any], base: str | None) -> Size:
        """The size of a file."""
        self._only(table, ("data", "model", "sampling", "sft", "preference", "runs", "prompts", "treatment"))
        model = self._table(table, "model")
        self._only(model, ("base", "parameters", "seeds", "max_tokens", "batch"))
        seeds = model.get("seeds", [0])
        if not isinstance(seeds, list) or not seeds or not all([type(seed) is int and seed >= 0 for seed in seeds]):
            raise self._wrong("seeds", "must be whole numbers")
        base = base if base is not None else model.get("base")
        if not isinstance(base, str) or not base:
            raise self._wrong("base", "needs a model: hf/FOLDER, gguf/FILE or random", "or name one with --model")
        runs = table.get("runs", [])
        if not isinstance(runs, list) or not runs:
            raise self._wrong("runs", "needs at least one run: [[runs]]")
        read_runs = tuple([self._run(run) for run in runs])
        titles = [run.name for run in read_runs]
        if len(set(titles)) != len(titles) or {"base", "sft"} & set(titles):
            raise self._wrong("name", "is repeated, or is `base` or `sft`")
        treatment = table.get("treatment", titles[0])
        if treatment not in titles:
            raise self._wrong("treatment", "must be the name of a run")
        size = Size(
            name,
            self._data(self._table(table, "data")),
            base,
            float(model.get("parameters", 0.0)),
            tuple(dict.fromkeys(seeds)),
            self._integer(model, "max_tokens", 256),
            self._integer(model, "batch", 16),
            self._sampling(table.get("sampling", {})),
            self._training(table, "sft"),
            self._training(table, "preference"),
            read_runs,
            tuple([self._prompting(prompt, titles) for prompt in table.get("prompts", [])]),
            treatment,
        )
        self._check(size)
        return size

    def _check(self, size: Size) -> None:
        """Read the keys of all runs, and refuse runs with different numbers of verifier calls."""
        for run in (None, *size.runs):
            size.training(run, model="hf/x", data=["x"], output="x")
        calls = {size.verifier_calls(run) for run in size.runs} - {0}
        if len(calls) > 1:
            raise self._wrong("runs", f"need equal numbers of verifier calls, not {', '.join(map(str, sorted(calls)))}")

    def _data(self, table: Mapping[str, Any]) -> Data:
        self._only(table, tuple([field.name for field in fields(Data)]))
        source = table.get("source", "drawn")
        if source not in _SOURCES:
            raise self._wrong("source", f"must be one of {', '.join(_SOURCES)}")
        if self._integer(table, "train", 60) + self._integer(table, "sampled", 0, 0) > MAX_TRAIN:
            raise self._wrong("train", f"must be at most {MAX_TRAIN}, with `sampled`")
        families, unseen = self._families(table, "families", source), self._families(table, "unseen", source)
        if not families or set(families) & set(unseen):
            raise self._wrong("families", "needs families that are not in `unseen`")
        return Data(
            source,
            families,
            unseen,
            self._integer(table, "train", 60),
            self._integer(table, "test", 8),
            self._integer(table, "test_families", 0, 0),
            self._integer(table, "test_rules", 0, 0),
            self._integer(table, "seed", 0, 0),
            self._integer(table, "sampled", 0, 0),
            self._integer(table, "rooms", 3),
            self._integer(table, "virtualhome", 0, 0),
        )

    def _families(self, table: Mapping[str, Any], key: str, source: str) -> tuple[str, ...]:
        default = _SOURCES[source][key]
        chosen = table.get(key, list(default) if source != "drawn" else [])
        if not isinstance(chosen, list):
            raise self._wrong(key, "must be names of families")
        families = [*_SOURCES[source]["families"], *_SOURCES[source]["unseen"]]
        for family in chosen:
            if family not in families:
                name = str(family)[:80]
                raise self._wrong(key, f"names {name!a}, which is not a family", suggest_name(name, families))
        return tuple(chosen)

    def _sampling(self, table: Any) -> Sampling:
        if not isinstance(table, dict):
            raise self._wrong("sampling", "must be a table")
        self._only(table, tuple([field.name for field in fields(Sampling)]))
        temperature = table.get("temperature", 1.0)
        if isinstance(temperature, bool) or not isinstance(temperature, int | float) or not 0 < temperature <= 10:
            raise self._wrong("temperature", "must be a number above 0")
        grade = table.get("grade", "estimate")
        if grade not in GRADES:
            raise self._wrong("grade", f"must be one of {', '.join(GRADES)}")
        return Sampling(
            self._integer(table, "samples", 8),
            float(temperature),
            self._integer(table, "rounds", 1),
            self._integer(table, "pairs", 4),
            self._integer(table, "mutants", 0, 0),
            grade,
        )

    def _run(self, table: Any) -> Run:
        if not isinstance(table, dict) or not isinstance(table.get("name"), str) or not _is_name(table["name"]):
            raise self._wrong("runs", "needs a `name` of letters, digits, dots and hyphens for each run")
        keys = {key: value for key, value in table.items() if key not in ("name", "data")}
        self._refuse_own(keys)
        method = keys.get("method", "")
        data = table.get("data", {"rft": "answers", "grpo": "tasks"}.get(method, "pairs"))
        if data not in ("pairs", "answers", "tasks", "knowledge"):
            raise self._wrong("data", "must be pairs, answers, tasks or knowledge")
        return Run(table["name"], keys, data)

    def _prompting(self, table: Any, titles: Sequence[str]) -> Prompting:
        name = table.get("name") if isinstance(table, dict) else None
        if not isinstance(name, str) or not _is_name(name) or name in ("base", "sft", *titles):
            raise self._wrong("prompts", "needs a `name` of its own for each prompt")
        self._only(table, tuple([field.name for field in fields(Prompting)]))
        example, safety = table.get("example", "none"), table.get("safety", False)
        if example not in get_args(Example) or not isinstance(safety, bool):
            raise self._wrong("prompts", f"needs an `example` of {', '.join(get_args(Example))} and a true `safety`")
        return Prompting(name, example, safety)

    def _training(self, table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        keys = self._table(table, key)
        self._refuse_own(keys)
        return keys

    def _refuse_own(self, keys: Mapping[str, Any]) -> None:
        for key in keys:
            if key in _SET_BY_STAGES:
                raise self._wrong(key, "is set by the stages and must not be given")

    def _table(self, table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        value = table.get(key)
        if not isinstance(value, dict):
            raise self._wrong(key, f"is missing: [{key}]")
        return value

    def _only(self, table: Mapping[str, Any], keys: Sequence[str]) -> None:
        for key in table:
            if key not in keys:
                raise self._wrong(key, "is not a known key", suggest_name(key, keys) or f"keys are: {', '.join(keys)}")

    def _integer(self, table: Mapping[str, Any], key: str, default: int, least: int = 1) -> int:
        value = table.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= 1_000_000:
            raise self._wrong(key, f"must be a whole number from {least}")
        return value


def _is_name(name: str) -> bool:
    return bool(name) and len(name) <= 60 and name.isascii() and name.replace("-", "").replace(".", "").isalnum()


_SOURCES: Mapping[str, Mapping[str, Sequence[str]]] = {
    "stated": {"families": stated.FAMILIES, "unseen": stated.HELD_OUT_FAMILIES},
    "drawn": {"families": tuple(FAMILIES), "unseen": ()},
    "set": {"families": SHIPPED_SETS, "unseen": ()},
}
"""The families of each source of tasks: those for training, and held-out ones."""
