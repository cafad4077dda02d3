"""What a reproduction does, by size: a shipped TOML file, or one of yours (docs/alignment.md has the keys)."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from plansafe.align.config import BadConfig, Config, config_of
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Span, suggest_name
from plansafe.grammar.source import Source
from plansafe.llm.instances.families import FAMILIES

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sizes")
MOST_BYTES = 1 << 20
MOST_TRAIN = 1_000
"""Tasks of a family for training; those for testing have numbers behind them."""
REGRETS = ("estimate", "found", "proved")
RANDOM = "random"
"""As the model: one with random weights, made anew for each seed (``tiny.py``)."""
_KEYS = ("data", "model", "sft", "preference", "runs")
_OWN = ("model", "data", "output", "adapter", "seed", "threads")
"""Keys of a training run that the stages set themselves."""


@dataclass(frozen=True, slots=True)
class Data:
    """What is drawn. Numbers of tasks are for each family; test tasks have other numbers than those of training.

    ``unseen``: families that are tested alone. ``rooms``: most rooms beside the kitchen. ``safe_share``: of how many
    tasks whose plain plan breaks a rule SFT sees a safe plan, too. ``regret``: by which grade steps are weighed.
    ``detours``: needless ones in each plan of a pair (``wandering.py``).
    """

    families: tuple[str, ...]
    unseen: tuple[str, ...]
    rooms: int
    train: int
    test: int
    test_unseen: int
    safe_share: float
    regret: str
    seed: int
    detours: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """A preference run: what tables call it, and how it differs from the size's other ones, by keys of training."""

    name: str
    keys: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Size:
    """A size. ``base`` is a model as training names it, or :data:`RANDOM`; ``most_tokens`` those of an answer."""

    name: str
    data: Data
    base: str
    seeds: tuple[int, ...]
    most_tokens: int
    batch: int
    sft: Mapping[str, Any]
    preference: Mapping[str, Any]
    runs: tuple[Run, ...]

    def training(self, run: Run | None, **values: Any) -> Config:
        """The configuration of SFT (``None``) or of a preference run. Raises :class:`BadConfig`."""
        keys = {"method": "sft", **self.sft} if run is None else {**self.preference, **run.keys}
        return config_of({**keys, **values})


def names() -> list[str]:
    """The sizes that are shipped."""
    return sorted([name.removesuffix(".toml") for name in os.listdir(FOLDER) if name.endswith(".toml")])


def read_size(name: str, base: str | None = None) -> Size:
    """A shipped size by its name, or one of a file (``.toml``). ``base`` names another model. Raises BadConfig."""
    path = name
    if not name.endswith(".toml"):
        if name not in names():
            source = Source(name, "")
            raise BadConfig(source, (_error(f"unknown size {name[:80]!a}", help=suggest_name(name, names())),))
        path = os.path.join(FOLDER, f"{name}.toml")
    try:
        with open(path, "rb") as file:
            source = Source.from_bytes(path, file.read(MOST_BYTES))
        table = tomllib.loads(source.text)
    except OSError as error:
        message = f"cannot read {path}: {(error.strerror or str(error)).lower()}"
        raise BadConfig(Source(path, ""), (Diagnostic(SC.UNREADABLE_FILE, message),)) from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadConfig(source, (_error(f"{path} is not TOML: {error}", _whole(source)),)) from None
    return _Reader(source).size(os.path.basename(path).removesuffix(".toml"), table, base)


def _error(message: str, label: Label | None = None, help: str | None = None) -> Diagnostic:
    return Diagnostic(SC.BAD_TRAINING_CONFIG, message, () if label is None else (label,), help=help)


def _whole(source: Source) -> Label:
    return Label(source.name, Span(0, len(source.text)))


class _Reader:
    def __init__(self, source: Source) -> None:
        self._source = source

    def _wrong(self, key: str, message: str, help: str | None = None) -> BadConfig:
        at = max(self._source.text.find(key), 0)
        label = Label(self._source.name, Span(at, at + (len(key) if key in self._source.text else 0)))
        return BadConfig(self._source, (_error(f"`{key}` {message}", label, help),))

    def size(self, name: str, table: Mapping[str, Any], base: str | None) -> Size:
        """The size of a file."""
        self._only(table, _KEYS)
        data, model = self._table(table, "data"), self._table(table, "model")
        self._only(model, ("base", "seeds", "most_tokens", "batch"))
        seeds = model.get("seeds", [0])
        if not isinstance(seeds, list) or not seeds or not all([type(one) is int and one >= 0 for one in seeds]):
            raise self._wrong("seeds", "must be whole numbers")
        runs = table.get("runs", [])
        if not isinstance(runs, list) or not runs:
            raise self._wrong("runs", "needs at least one run: [[runs]]")
        said = base if base is not None else model.get("base")
        if not isinstance(said, str) or not said:
            raise self._wrong("base", "needs a model: hf/FOLDER, gguf/FILE or random", "or name one with --model")
        found = Size(
            name,
            self._data(data),
            said,
            tuple(dict.fromkeys(seeds)),
            self._whole(model, "most_tokens", 256),
            self._whole(model, "batch", 16),
            self._training(table, "sft"),
            self._training(table, "preference"),
            tuple([self._run(one) for one in runs]),
        )
        titles = [run.name for run in found.runs]
        if len(set(titles)) != len(titles):
            raise self._wrong("name", "is repeated")
        for run in (None, *found.runs):
            found.training(run, model="hf/x", data=["x"], output="x")  # its keys and values are looked at
        return found

    def _data(self, table: Mapping[str, Any]) -> Data:
        self._only(table, tuple([field.name for field in fields(Data)]))
        share = table.get("safe_share", 1.0)
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            raise self._wrong("safe_share", "must be a number from 0 to 1")
        regret = table.get("regret", "estimate")
        if regret not in REGRETS:
            raise self._wrong("regret", f"must be one of {', '.join(REGRETS)}")
        if self._whole(table, "train", 60) > MOST_TRAIN:
            raise self._wrong("train", f"must be at most {MOST_TRAIN}")
        families, unseen = self._families(table, "families"), self._families(table, "unseen")
        if not families or set(families) & set(unseen):
            raise self._wrong("families", "needs families that are not in `unseen`")
        return Data(
            families,
            unseen,
            self._whole(table, "rooms", 3),
            self._whole(table, "train", 60),
            self._whole(table, "test", 8),
            self._whole(table, "test_unseen", 8),
            float(share),
            regret,
            self._whole(table, "seed", 0, 0),
            self._whole(table, "detours", 0, 0),
        )

    def _families(self, table: Mapping[str, Any], key: str) -> tuple[str, ...]:
        found = table.get(key, [])
        if not isinstance(found, list):
            raise self._wrong(key, "must be names of families")
        for one in found:
            if one not in FAMILIES:
                raise self._wrong(
                    key, f"names {str(one)[:80]!a}, which is not a family", suggest_name(str(one)[:80], list(FAMILIES))
                )
        return tuple(found)

    def _run(self, table: Any) -> Run:
        if not isinstance(table, dict) or not isinstance(table.get("name"), str) or not _plain(table["name"]):
            raise self._wrong("runs", "needs a `name` of letters, digits, dots and hyphens for each run")
        keys = {key: value for key, value in table.items() if key != "name"}
        self._no_own(keys)
        return Run(table["name"], keys)

    def _training(self, table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        found = self._table(table, key)
        self._no_own(found)
        return found

    def _no_own(self, keys: Mapping[str, Any]) -> None:
        for key in keys:
            if key in _OWN:
                raise self._wrong(key, "is set by the stages and must not be given")

    def _table(self, table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        found = table.get(key)
        if not isinstance(found, dict):
            raise self._wrong(key, f"is missing: [{key}]")
        return found

    def _only(self, table: Mapping[str, Any], known: Sequence[str]) -> None:
        for key in table:
            if key not in known:
                raise self._wrong(
                    key, "is not a known key", suggest_name(key, known) or f"keys are: {', '.join(known)}"
                )

    def _whole(self, table: Mapping[str, Any], key: str, default: int, least: int = 1) -> int:
        value = table.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= 1_000_000:
            raise self._wrong(key, f"must be a whole number from {least}")
        return value


def _plain(name: str) -> bool:
    return bool(name) and len(name) <= 60 and name.isascii() and name.replace("-", "").replace(".", "").isalnum()
