"""The stages of a reproduction in a folder: drawing, data, SFT, preference runs, evaluations, the report.

Every unit of a stage can be stopped at any moment and goes on where it was; one that is done is not done again. Units
of a stage do not depend on each other, so that several processes may take them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any, NamedTuple

from plansafe.align.config import Config
from plansafe.align.evaluating.running import Method, evaluate
from plansafe.align.evaluating.tasks import EvalTask
from plansafe.align.records import SftLine, read_sft, write_pairs, write_sft
from plansafe.align.reproducing import drawing, tiny
from plansafe.align.reproducing.drawing import Item, items
from plansafe.align.reproducing.sizes import RANDOM, Run, Size
from plansafe.align.training.folder import bad_run, replace
from plansafe.grammar.shallow_json import loads
from plansafe.llm.bench.run_file import RunFile, read_run
from plansafe.llm.models.request import canonical

SHARDS = 4
"""Files that tasks are drawn into, each by one process."""
SIZE, SFT, PAIRS = "size.json", "sft.jsonl", "pairs.jsonl"
_SUITE = "align-reproduction"

Say = Callable[[str], None]


class Unit(NamedTuple):
    """A piece of a stage: ``draw`` (a shard), ``data``, ``base`` (a model made), ``train``, or ``eval``.

    ``run`` is the name of a preference run, ``sft``, or for evaluations also ``base``.
    """

    kind: str
    number: int = 0
    run: str = ""

    def __str__(self) -> str:
        return " ".join([self.kind, *([self.run] if self.run else []), str(self.number)])


class _TimeOver(Exception):
    pass


class Place:
    """The folder of a reproduction. Raises :class:`~plansafe.align.training.folder.BadTraining` for another's."""

    def __init__(self, folder: str, size: Size) -> None:
        self.folder = folder
        self.size = size
        os.makedirs(folder, exist_ok=True)
        said = canonical(asdict(size))
        path = self.at(SIZE)
        if not os.path.exists(path):
            replace(path, said + "\n")
        with open(path, encoding="ascii") as file:
            if file.read() != said + "\n":
                raise bad_run(path, "it contains a reproduction of another size", "name another folder")

    def at(self, *names: str) -> str:
        """A path in the folder."""
        return os.path.join(self.folder, *names)

    def trained(self, seed: int, run: str) -> str:
        """The folder of a training run."""
        return self.at(f"seed-{seed}", run)

    def evaluation(self, seed: int, run: str) -> str:
        """The file of an evaluation."""
        return self.at(f"eval-{run}-{seed}.jsonl")

    def drawn(self) -> Iterator[tuple[Item, dict[str, Any]]]:
        """All tasks with their records, in the order of :func:`~plansafe.align.reproducing.drawing.items`."""
        every = items(self.size.data)
        shards = [read_run(self.at(f"drawn-{number}.jsonl")).records for number in range(SHARDS)]
        for place, item in enumerate(every):
            yield item, shards[place % SHARDS][place // SHARDS]

    def header(self, number: int) -> dict[str, Any]:
        """What a file of drawn tasks begins with."""
        return {"suite": _SUITE, "data": asdict(self.size.data), "shard": [number, SHARDS]}


def stages(size: Size) -> list[list[Unit]]:
    """The stages in order, each with its units."""
    base = ["base"] if size.base != RANDOM else []
    runs = [run.name for run in size.runs]
    return [
        [Unit("draw", number) for number in range(SHARDS)],
        [Unit("data")],
        [Unit("base", seed) for seed in size.seeds] if size.base == RANDOM else [],
        [Unit("train", seed, "sft") for seed in size.seeds],
        [Unit("train", seed, run) for run in runs for seed in size.seeds],
        [Unit("eval", seed, run) for run in [*base, "sft", *runs] for seed in size.seeds],
    ]


def work(place: Place, unit: Unit, ends: float | None = None, say: Say = lambda _: None) -> bool:
    """Do a unit, or go on with it; whether it is done. ``ends``: the time (monotonic) at which to stop.

    Raises what training and evaluation raise.
    """
    if ends is not None and time.monotonic() >= ends:
        return False
    try:
        match unit.kind:
            case "draw":
                return _draw(place, unit.number, ends)
            case "data":
                return _data(place, say)
            case "base":
                return _base(place, unit.number)
            case "train":
                return _train(place, unit, ends, say)
            case "eval":
                return _evaluate(place, unit, ends)
    except _TimeOver:
        return False
    raise ValueError(f"unknown unit {unit.kind}")


def _watch(ends: float | None) -> None:
    if ends is not None and time.monotonic() >= ends:
        raise _TimeOver


def _draw(place: Place, number: int, ends: float | None) -> bool:
    data = place.size.data
    mine = items(data)[number::SHARDS]
    with RunFile(place.at(f"drawn-{number}.jsonl"), place.header(number)) as file:
        for _ in file.complete([item.origin for item in mine], lambda at: drawing.drawn(mine[at], data)):
            _watch(ends)
    return True


def _data(place: Place, say: Say) -> bool:
    data = place.size.data
    if os.path.exists(place.at(SFT)):
        return True
    texts: list[SftLine] = []
    pairs = []
    for item, record in place.drawn():
        if not item.test:
            texts += drawing.texts_of(item, record, data)
            pair = drawing.pair_of(item, record, data)
            pairs += [pair] if pair is not None else []
    write_pairs(place.at(PAIRS), pairs)
    write_sft(place.at(SFT), texts)  # the last, as it says that this is done
    say(f"{len(texts)} texts, {len(pairs)} pairs")
    return True


def _base(place: Place, seed: int) -> bool:
    """A model with random weights. Its words are those of training, and of the prompts and plans of tests.

    Nothing else is known of tests: who cannot spell a name cannot plan with it, and names are no secret.
    """
    texts = [text for line in read_sft(place.at(SFT)) for text in (line.prompt, line.completion)]
    texts += [record[key] for item, record in place.drawn() if item.test for key in ("prompt", "reference")]
    tiny.make(place.trained(seed, "base"), tiny.vocabulary(texts), seed)
    return True


def configuration(place: Place, seed: int, run: str) -> Config:
    """The training run of a name and a seed."""
    size = place.size
    which = _run(size, run)
    base = size.base if size.base != RANDOM else f"hf/{place.trained(seed, 'base')}"
    values: dict[str, Any] = {"output": place.trained(seed, run), "seed": seed, "threads": 1}
    values["data"] = [place.at(SFT if which is None else PAIRS)]
    values["model"] = base
    if which is not None:
        before = size.training(None, model=base, data=["x"], output="x")
        if before.lora_r == 0:
            values["model"] = f"hf/{place.trained(seed, 'sft')}/model"
        else:
            values["adapter"] = f"{place.trained(seed, 'sft')}/adapter"
    return size.training(which, **values)


def _run(size: Size, name: str) -> Run | None:
    return None if name == "sft" else next(run for run in size.runs if run.name == name)


def _train(place: Place, unit: Unit, ends: float | None, say: Say) -> bool:
    from plansafe.align.training.trainer import train  # noqa: PLC0415 - imports torch's helpers

    left = None if ends is None else max(ends - time.monotonic(), 0.0)
    found = train(configuration(place, unit.number, unit.run), seconds=left)
    last = found.metrics[-1] if found.metrics else {}
    told = ", ".join([f"{name} {last[name]:.3f}" for name in ("loss", "margin", "accuracy") if name in last])
    say(f"{unit}: step {found.step}, {told}; {found.examples} examples, {len(found.too_long)} too long")
    return found.finished


def _evaluate(place: Place, unit: Unit, ends: float | None) -> bool:
    tests = [(item, record) for item, record in place.drawn() if item.test]
    known = {item.origin: (item, record) for item, record in tests}
    tasks = [drawing.eval_task(item, record) for item, record in tests]
    path, size = place.evaluation(unit.number, unit.run), place.size
    if os.path.exists(path) and _lines(path) == len(tasks) + 1:
        return True
    from plansafe.align.evaluating.model_writers import Decoding, Local, best_device  # noqa: PLC0415 - where a model answers

    def opens(task: EvalTask) -> Any:
        return drawing.opened_task(*known[task.origin])

    model, tokenizer, identity = _answering(place, unit)
    writer = Local(model.to(best_device()), tokenizer, unit.run, identity, Decoding(size.most_tokens))
    method = _method(place, unit)
    evaluate(writer, tasks, output=path, method=method, batch=size.batch, opens=opens, step=lambda: _watch(ends))
    return True


def _method(place: Place, unit: Unit) -> Method:
    """What tables call the run: those of one method over lambda are one curve."""
    if unit.run not in ("base", "sft"):
        config = configuration(place, unit.number, unit.run)
        if config.method in ("safe-align", "prefix-dpo"):
            return Method(config.method, config.factor, unit.number)
    return Method(unit.run, None, unit.number)


def _lines(path: str) -> int:
    with open(path, "rb") as file:
        return sum([line.endswith(b"\n") for line in file])


def _answering(place: Place, unit: Unit) -> tuple[Any, Any, str]:
    """The model of a run with its adapter merged into it, its tokenizer, and the sum of its weights."""
    from plansafe.align.training import models  # noqa: PLC0415 - as above
    from plansafe.llm.models.adapter import file_sum  # noqa: PLC0415

    seed, run = unit.number, unit.run
    config = configuration(place, seed, "sft" if run == "base" else run)
    whole = config.lora_r == 0
    name = config.model if run == "base" else f"hf/{place.trained(seed, run)}/{'model' if whole else 'adapter'}"
    asked = place.size.training(
        None, model=name, data=list(config.data), output=config.output, dtype=config.dtype, threads=config.threads
    )
    base = models.opened(asked, os.environ)
    trained = models.loaded(asked, base)
    model = trained.model if whole else trained.model.merge_and_unload()
    weights = "model/model.safetensors" if whole else "adapter/adapter_model.safetensors"
    identity = base.sha256 if run == "base" else file_sum(os.path.join(place.trained(seed, run), weights))
    return model, base.tokens.inner, identity


def loss_curve(place: Place, seed: int, run: str) -> list[dict[str, Any]]:
    """The metrics of a training run, a step each."""
    with open(os.path.join(place.trained(seed, run), "metrics.jsonl"), encoding="ascii") as file:
        return [loads(line) for line in file]
