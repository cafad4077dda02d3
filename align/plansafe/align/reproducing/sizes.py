"""The sizes of a reproduction: shipped TOML files, or a file of the user (docs/alignment.md has the keys)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from plansafe.align.config import Config, config_of
from plansafe.align.stated import families as stated
from plansafe.align.tables import (
    BadConfig,
    IllTyped,
    TableReader,
    choice,
    diagnostic,
    integer,
    number,
    read_file,
    setting,
    text,
    truth,
)
from plansafe.grammar.diagnostics import suggest_name
from plansafe.grammar.source import Source
from plansafe.llm.instances.families import FAMILIES
from plansafe.llm.scenarios.sets.reading import SHIPPED_SETS

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sizes")
MAX_TRAIN = 1_000
"""Maximum number of tasks of a family for SFT and sampling; test tasks have higher numbers."""
RANDOM = "random"
"""The base of a size whose models are made from random weights, one for each seed (``tiny_model.py``)."""
_MOST = 1_000_000
_SET_BY_STAGES = ("model", "data", "output", "adapter", "seed", "threads", "split")
"""Keys of a training run that the stages set."""
_SOURCES: Mapping[str, Mapping[str, Sequence[str]]] = {
    "stated": {"families": stated.FAMILIES, "unseen": stated.HELD_OUT_FAMILIES},
    "drawn": {"families": tuple(FAMILIES), "unseen": ()},
    "set": {"families": SHIPPED_SETS, "unseen": ()},
}
"""The families of each source of tasks: those for training, and held-out ones."""
_GRADES = ("none", "estimate", "found", "proved")
_KINDS_OF_DATA = ("pairs", "answers", "tasks", "knowledge")
Example = Literal["none", "random", "nearest"]
_EXAMPLES = get_args(Example)


def _families(_folder: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all([isinstance(family, str) for family in value]):
        raise IllTyped("must be names of families")
    return tuple(value)


def _seeds(_folder: str, value: Any) -> tuple[int, ...]:
    if not isinstance(value, list) or not value or not all([type(seed) is int and seed >= 0 for seed in value]):
        raise IllTyped("must be whole numbers")
    return tuple(dict.fromkeys(value))


def _name(_folder: str, value: Any) -> str:
    is_name = isinstance(value, str) and value.isascii() and value.replace("-", "").replace(".", "").isalnum()
    if not is_name or len(value) > 60 or value in ("base", "sft"):
        raise IllTyped("must have letters, digits, dots and hyphens, and not be `base` or `sft`")
    return str(value)


@dataclass(frozen=True, slots=True)
class Data:
    """The tasks. Numbers are for each family.

    ``train`` counts tasks for SFT and ``sampled`` other tasks, for which the model writes the plans that it is aligned
    with (0: the tasks for SFT). ``test`` counts test tasks of known families and rules, ``test_families`` tasks of the
    held-out families ``unseen``, and ``test_rules`` tasks with held-out rules. ``rooms`` (``drawn`` only): most rooms
    of a home besides the kitchen. For the source ``set`` the name of the set is its only family. ``virtualhome``
    counts further test tasks, scripts of VirtualHome, if the public data is there.
    """

    source: str = setting(choice(tuple(_SOURCES)), "drawn")
    families: tuple[str, ...] = setting(_families, ())
    unseen: tuple[str, ...] = setting(_families, ())
    train: int = setting(integer(1, _MOST), 60)
    test: int = setting(integer(1, _MOST), 8)
    test_families: int = setting(integer(0, _MOST), 0)
    test_rules: int = setting(integer(0, _MOST), 0)
    seed: int = setting(integer(0, _MOST), 0)
    sampled: int = setting(integer(0, _MOST), 0)
    rooms: int = setting(integer(1, _MOST), 3)
    virtualhome: int = setting(integer(0, _MOST), 0)


@dataclass(frozen=True, slots=True)
class Sampling:
    """The rounds. In each, the model writes ``samples`` plans for each training task at ``temperature``.

    ``pairs`` and ``mutants``: maximum number of pairs of a task from its plans, and from mutants; ``grade``: how
    exactly the regret of steps is computed (``ours`` uses it).
    """

    samples: int = setting(integer(1, _MOST), 8)
    temperature: float = setting(number(0, 10, above=True), 1.0)
    rounds: int = setting(integer(1, _MOST), 1)
    pairs: int = setting(integer(1, _MOST), 4)
    mutants: int = setting(integer(0, _MOST), 0)
    grade: str = setting(choice(_GRADES), "estimate")


@dataclass(frozen=True, slots=True)
class Run:
    """A training run: its name in tables, its keys of training, and its data.

    ``data`` is ``pairs``, ``answers`` (the model's safe plans), ``tasks``, or ``knowledge`` (questions about worlds;
    the run starts from the base model).
    """

    name: str
    keys: Mapping[str, Any]
    data: str


@dataclass(frozen=True, slots=True)
class _RunKeys:
    """The keys of a run that are not keys of training."""

    name: str = setting(_name)
    data: str = setting(choice(_KINDS_OF_DATA), "")


@dataclass(frozen=True, slots=True)
class Prompting:
    """A baseline that changes only the prompt of the base model: the example in it, and a paragraph on safety.

    ``random`` takes a training task of another family with its plan (few-shot), ``nearest`` the one whose words are
    nearest by Rouge-L (LLM-Planner, Song et al. 2023).
    """

    name: str = setting(_name)
    example: Example = setting(choice(_EXAMPLES), "none")
    safety: bool = setting(truth, False)


@dataclass(frozen=True, slots=True)
class _Model:
    """The keys of the table ``model``."""

    base: str = setting(text)
    parameters: float = setting(number(0), 0.0)
    seeds: tuple[int, ...] = setting(_seeds, (0,))
    max_tokens: int = setting(integer(1, _MOST), 256)
    batch: int = setting(integer(1, _MOST), 16)


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
            mistake = diagnostic(f"unknown size {name[:80]!a}", help=suggest_name(name, names()))
            raise BadConfig(Source(name, ""), (mistake,))
        path = os.path.join(FOLDER, f"{name}.toml")
    source, table = read_file(path)
    if base is not None and isinstance(table.get("model"), dict):
        table["model"]["base"] = base
    return _Reader(source, "a size").size(os.path.basename(path).removesuffix(".toml"), table)


class _Reader(TableReader):
    """Reads the tables of a size."""

    def size(self, name: str, table: Mapping[str, Any]) -> Size:
        """The size of a file. Raises :class:`BadConfig`."""
        tables = ("data", "model", "sampling", "sft", "preference", "runs", "prompts", "treatment")
        for unknown in [table_name for table_name in table if table_name not in tables]:
            self.wrong(unknown, "is not a table of a size", suggest_name(unknown, tables))
        data, model = self._data(self._table(table, "data")), self.read(_Model, self._table(table, "model"))
        sampling = self.read(Sampling, self._table({"sampling": {}, **table}, "sampling"))
        runs = tuple([self._run(run) for run in self._tables(table, "runs")])
        prompts = tuple([self.read(Prompting, prompt) for prompt in self._tables(table, "prompts")])
        titles = [titled.name for titled in (*runs, *prompts)]
        if not runs or len(set(titles)) != len(titles):
            self.wrong("name", "is repeated, or [[runs]] is missing")
            self.check()
        treatment = table.get("treatment", titles[0])
        if treatment not in [run.name for run in runs]:
            self.wrong("treatment", "must be the name of a run")
        sft, preference = [self._training_keys(self._table(table, phase)) for phase in ("sft", "preference")]
        self.check()
        size = Size(
            name,
            data,
            model.base,
            model.parameters,
            model.seeds,
            model.max_tokens,
            model.batch,
            sampling,
            sft,
            preference,
            runs,
            prompts,
            treatment,
        )
        for run in (None, *runs):
            size.training(run, model="hf/x", data=["x"], output="x")
        calls = {size.verifier_calls(run) for run in runs} - {0}
        if len(calls) > 1:
            self.wrong("runs", f"need equal numbers of verifier calls, not {', '.join(map(str, sorted(calls)))}")
        self.check()
        return size

    def _data(self, table: Mapping[str, Any]) -> Data:
        source = table.get("source", "drawn")
        families = _SOURCES.get(source if isinstance(source, str) else "", _SOURCES["drawn"])
        defaults = {} if source == "drawn" else {name: list(names) for name, names in families.items()}
        data: Data = self.read(Data, {**defaults, **table})
        names = [*families["families"], *families["unseen"]]
        for family in (*data.families, *data.unseen):
            if family not in names:
                message = f"names {family[:80]!a}, which is not a family"
                self.wrong("families", message, suggest_name(family, names))
        if not data.families or set(data.families) & set(data.unseen):
            self.wrong("families", "needs families that are not in `unseen`")
        if data.train + data.sampled > MAX_TRAIN:
            self.wrong("train", f"must be at most {MAX_TRAIN}, with `sampled`")
        self.check()
        return data

    def _run(self, table: Mapping[str, Any]) -> Run:
        keys = self._training_keys({name: value for name, value in table.items() if name not in ("name", "data")})
        run = self.read(_RunKeys, {name: value for name, value in table.items() if name in ("name", "data")})
        return Run(run.name, keys, run.data or {"rft": "answers", "grpo": "tasks"}.get(keys.get("method", ""), "pairs"))

    def _training_keys(self, keys: Mapping[str, Any]) -> Mapping[str, Any]:
        for name in keys:
            if name in _SET_BY_STAGES:
                self.wrong(name, "is set by the stages and must not be given")
        return keys

    def _table(self, table: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        if not isinstance(table.get(name), dict):
            self.wrong(name, f"is missing: [{name}]")
        self.check()
        return dict(table[name])

    def _tables(self, table: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
        value = table.get(name, [])
        if not isinstance(value, list) or not all([isinstance(row, dict) for row in value]):
            self.wrong(name, f"must be tables: [[{name}]]")
        self.check()
        return list(value)
