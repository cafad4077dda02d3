"""The units of a reproduction in a folder: tasks, SFT, rounds of sampling, pairs and training, evaluations.

Every unit can be stopped at any moment and continues where it was; a finished unit is not repeated. Units of a stage do
not depend on each other, so that several processes may take them. All stages of the first seeds come before the next
seeds, so that a stopped reproduction has complete seeds.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from plansafe.align.config import Config
from plansafe.align.evaluating.running import Method, evaluate
from plansafe.align.evaluating.tasks import EvalTask, of_sft
from plansafe.align.files import write_file
from plansafe.align.records import json_of, read_sft, write_lines, write_sft
from plansafe.align.reproducing import tiny_model
from plansafe.align.reproducing.sizes import RANDOM, Run, Size
from plansafe.align.reproducing.task_sets import (
    compiled_task,
    listed_tasks,
    open_task,
    sft_line,
    with_prompting,
    with_prompts,
)
from plansafe.align.training.folder import bad_run
from plansafe.grammar.shallow_json import loads
from plansafe.llm.bench.run_file import RunFile
from plansafe.llm.models.request import canonical

SIZE, KNOWLEDGE, TIMES = "size.json", "knowledge.jsonl", "times.jsonl"
SFT, SAMPLED, TEST = "tasks-sft.jsonl", "tasks-sampled.jsonl", "tasks-test.jsonl"
"""The tasks of each part; those for SFT and sampling as lines for SFT."""
KNOWLEDGE_LINES = 8_000
_SUITE = "align-reproduction"

Say = Callable[[str], None]


class Unit(NamedTuple):
    """A part of a stage: ``tasks``, ``knowledge``, ``base``, ``train``, ``sample``, ``pairs`` or ``eval``.

    ``run`` is the name of a run, ``sft``, or for evaluations also ``base`` or the name of a prompt.
    """

    kind: str
    seed: int = 0
    run: str = ""
    round: int = 0

    def __str__(self) -> str:
        words = [self.kind, self.run, f"seed {self.seed}", f"round {self.round}" if self.round else ""]
        return " ".join([word for word in words if word])


class _TimeOver(Exception):
    pass


class Place:
    """The folder of a reproduction. Raises :class:`~plansafe.align.training.folder.BadTraining` for another size's."""

    def __init__(self, folder: str, size: Size) -> None:
        self.folder = folder
        self.size = size
        os.makedirs(folder, exist_ok=True)
        text = canonical(asdict(size) | {"seeds": None}) + "\n"  # seeds may be added later
        path = self.at(SIZE)
        if not os.path.exists(path):
            write_file(path, [text])
        with open(path, encoding="ascii") as file:
            if file.read() != text:
                raise bad_run(path, "it contains a reproduction of another size", "name another folder")

    def at(self, *names: str) -> str:
        """A path in the folder."""
        return os.path.join(self.folder, *names)

    def trained(self, seed: int, run: str, number: int = 0) -> str:
        """The folder of a training run: of a round, or without a number of the last round, of SFT or of the base."""
        last = number in (0, self.size.sampling.rounds)
        return self.at(f"seed-{seed}", run if last else f"{run}-round-{number}")

    def samples(self, seed: int, run: str, number: int) -> str:
        """The file of the answers of a round; all runs share the answers of the SFT model in the first one."""
        return self.at(f"seed-{seed}", f"samples-{'sft' if number == 1 else f'{run}-round-{number}'}.jsonl")

    def pairs(self, seed: int, run: str, number: int) -> str:
        """The file of the pairs of a round."""
        return self.samples(seed, run, number).replace("samples-", "pairs-")

    def evaluation(self, seed: int, run: str) -> str:
        """The file of an evaluation."""
        return self.at(f"eval-{run}-{seed}.jsonl")

    def tasks(self, part: str) -> list[EvalTask]:
        """The tasks of a part (``SFT``, ``SAMPLED`` or ``TEST``) with their prompts and references."""
        if part != TEST:
            return list(of_sft(read_sft(self.at(part))))
        with open(self.at(TEST), encoding="ascii") as file:
            return [EvalTask(*loads(line)) for line in file]

    def is_evaluated(self, seed: int, run: str) -> bool:
        """Whether an evaluation is complete."""
        path = self.evaluation(seed, run)
        return os.path.exists(path) and _line_count(path) == len(self.tasks(TEST)) + 1


def evaluated_runs(size: Size) -> list[str]:
    """The runs that are evaluated, in the order of the tables."""
    untrained = [] if size.base == RANDOM else ["base", *[prompt.name for prompt in size.prompts]]
    return [*untrained, "sft", *[run.name for run in size.runs]]


def stages(size: Size, seeds_at_once: int = 1) -> list[list[Unit]]:
    """The stages in order, each with its units. Some seeds at once go through all stages before the next seeds."""
    units = [[Unit("tasks")]]
    if any([run.data == "knowledge" for run in size.runs]):
        units.append([Unit("knowledge")])
    for first in range(0, len(size.seeds), seeds_at_once):
        seeds = size.seeds[first : first + seeds_at_once]
        units += [[unit._replace(seed=seed) for seed in seeds for unit in stage] for stage in _stages_of_a_seed(size)]
    return [stage for stage in units if stage]


def _stages_of_a_seed(size: Size) -> Iterator[list[Unit]]:
    if size.base == RANDOM:
        yield [Unit("base")]
    yield [Unit("train", run="sft")]
    sampled = [run.name for run in size.runs if run.data in ("pairs", "answers")]
    for number in range(1, size.sampling.rounds + 1):
        authors = ["sft"] if number == 1 else sampled
        yield [Unit("sample", 0, run, number) for run in authors]
        paired = authors if number == 1 else [run.name for run in size.runs if run.data == "pairs"]
        yield [Unit("pairs", 0, run, number) for run in paired]
        without_samples = [run.name for run in size.runs if number == 1 and run.name not in sampled]
        yield [Unit("train", 0, run, number) for run in [*sampled, *without_samples]]
    yield [Unit("eval", run=run) for run in evaluated_runs(size)]


def work(place: Place, unit: Unit, ends: float | None = None, say: Say = lambda _: None) -> bool:
    """Do a unit, or continue it; whether it is done. ``ends``: the time (monotonic) at which to stop.

    Raises what training and evaluation raise.
    """
    if ends is not None and time.monotonic() >= ends:
        return False
    try:
        match unit.kind:
            case "tasks":
                return _tasks(place, say)
            case "knowledge":
                return _knowledge(place)
            case "base":
                return _base(place, unit.seed)
            case "train":
                return _train(place, unit, ends, say)
            case "sample":
                return _sample(place, unit, ends)
            case "pairs":
                return _pairs(place, unit, ends, say)
            case "eval":
                return _evaluate(place, unit, ends)
    except _TimeOver:
        return False
    raise ValueError(f"unknown unit {unit.kind}")


def _watch(ends: float | None) -> None:
    if ends is not None and time.monotonic() >= ends:
        raise _TimeOver


def _tasks(place: Place, say: Say) -> bool:
    if os.path.exists(place.at(SFT)):
        return True
    sft, sampled, test = [list(with_prompts(part)) for part in listed_tasks(place.size.data)]
    write_lines(place.at(TEST), [canonical(list(task)) for task in test])
    write_sft(place.at(SAMPLED), [sft_line(task) for task in sampled])
    write_sft(place.at(SFT), [sft_line(task) for task in sft])  # written last: it marks the unit as done
    say(f"{len(sft)} tasks for SFT, {len(sampled)} for sampling, {len(test)} for testing")
    return True


def _knowledge(place: Place) -> bool:
    from plansafe.align.knowledge import origins, questions_of  # noqa: PLC0415 - only for one baseline
    from plansafe.align.tasks import data_folder  # noqa: PLC0415

    if not os.path.exists(place.at(KNOWLEDGE)):
        selected = origins(12, place.size.data.seed, data_folder())
        lines = questions_of(selected, KNOWLEDGE_LINES, place.size.data.seed, data_folder())
        write_sft(place.at(KNOWLEDGE), [line for _, line in lines])
    return True


def _base(place: Place, seed: int) -> bool:
    """Make a model with random weights. Its tokens are the words of all prompts and references, also of test tasks."""
    tasks = [*place.tasks(SFT), *place.tasks(SAMPLED), *place.tasks(TEST)]
    texts = [text for task in tasks for text in (task.prompt, task.reference)]
    tiny_model.make(place.trained(seed, "base"), tiny_model.vocabulary(texts), seed)
    return True


# -- rounds -----------------------------------------------------------------------------------------------------------


def configuration(place: Place, seed: int, run: str, number: int = 0) -> Config:
    """The training of a run in a round (``sft``: before the rounds). Each starts from the model of the round before."""
    size = place.size
    which = run_of(size, run)
    number = number or size.sampling.rounds
    base = size.base if size.base != RANDOM else f"hf/{place.trained(seed, 'base')}"
    values: dict[str, Any] = {"seed": seed, "threads": 1, "model": base}
    if which is None:
        return size.training(None, data=[place.at(SFT)], output=place.trained(seed, "sft"), **values)
    rounds = 1 if which.data in ("tasks", "knowledge") else number
    values["output"] = place.trained(seed, run, 0 if which.data in ("tasks", "knowledge") else number)
    values["data"] = [
        {
            "pairs": place.pairs(seed, run, rounds),
            "answers": place.samples(seed, run, rounds),
            "tasks": place.at(SAMPLED),
            "knowledge": place.at(KNOWLEDGE),
        }[which.data]
    ]
    before = place.trained(seed, "sft") if rounds == 1 else place.trained(seed, run, rounds - 1)
    if which.data != "knowledge":
        if size.training(None, model=base, data=["x"], output="x").lora_r == 0:
            values["model"] = f"hf/{before}/model"
        else:
            values["adapter"] = f"{before}/adapter"
    return size.training(which, **values)


def run_of(size: Size, name: str) -> Run | None:
    """The run of a name; ``None`` for SFT."""
    return None if name == "sft" else next(run for run in size.runs if run.name == name)


def _train(place: Place, unit: Unit, ends: float | None, say: Say) -> bool:
    from plansafe.align.training.trainer import train  # noqa: PLC0415 - imports torch's helpers

    left = None if ends is None else max(ends - time.monotonic(), 0.0)
    result = train(configuration(place, unit.seed, unit.run, unit.round), seconds=left)
    last = result.metrics[-1] if result.metrics else {}
    values = ", ".join([f"{name} {last[name]:.3f}" for name in ("loss", "margin", "accuracy") if name in last])
    say(f"{unit}: step {result.step}, {values}; {result.examples} examples, {len(result.too_long)} too long")
    return result.finished


def _sample(place: Place, unit: Unit, ends: float | None) -> bool:
    """Several plans of the model of the round before for each task to sample."""
    sampling, tasks = place.size.sampling, place.tasks(SAMPLED)
    path = place.samples(unit.seed, unit.run, unit.round)
    if os.path.exists(path) and _line_count(path) == len(tasks) * sampling.samples + 1:
        return True
    before = 0 if unit.round == 1 else unit.round - 1
    writer = _writer(place, unit.seed, unit.run, before, sampling.temperature, 1000 * unit.round + unit.seed)
    evaluate(
        writer,
        tasks,
        output=path,
        method=Method(unit.run, None, unit.seed),
        settings={"temperature": sampling.temperature},
        samples=sampling.samples,
        batch=place.size.batch,
        opens=open_task,
        step=lambda: _watch(ends),
    )
    return True


def _pairs(place: Place, unit: Unit, ends: float | None, say: Say) -> bool:
    """The pairs of a round. A record holds the pairs of one task, so that the unit can be continued."""
    from plansafe.align.pairs.answers import read_answers  # noqa: PLC0415 - loads the engine

    path = place.pairs(unit.seed, unit.run, unit.round)
    if os.path.exists(path):
        return True
    plans = read_answers([place.samples(unit.seed, unit.run, unit.round)]).plans
    tasks = place.tasks(SAMPLED)
    header = {"suite": _SUITE, "unit": str(unit), "sampling": asdict(place.size.sampling)}
    with RunFile(f"{path}.tasks", header) as file:
        for _ in file.complete([task.id for task in tasks], lambda number: _pairs_of(place, tasks[number], plans)):
            _watch(ends)
        records = file.records
    lines = [line for record in records for line in record["pairs"]]
    skipped: Counter[str] = Counter()
    for record in records:
        skipped.update(record["skipped"])
    write_lines(path, lines)
    sources = Counter([str(loads(line)["source"]) for line in lines])
    say(f"{unit}: {len(lines)} pairs ({_counts(sources)}); no pair: {_counts(skipped)}")
    return True


def _pairs_of(place: Place, task: EvalTask, plans: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    from plansafe.align.pairs.answers import with_regret  # noqa: PLC0415 - loads the engine
    from plansafe.align.pairs.maker import MakerOptions, pairs_of  # noqa: PLC0415
    from plansafe.verifier.diagnose.regrets import Grade, RegretCalculator  # noqa: PLC0415

    sampling = place.size.sampling
    options = MakerOptions(sampling.pairs, sampling.mutants, seed=place.size.data.seed)
    compiled = compiled_task(task.origin)
    result = pairs_of(compiled, plans.get(task.origin, ()), options, prompt=task.prompt)
    pairs = result.pairs
    if sampling.grade != "none" and pairs:
        calculator = RegretCalculator(compiled.checker)
        pairs = [with_regret(pair, calculator, Grade(sampling.grade)) for pair in pairs]
    return {"pairs": [json_of(pair) for pair in pairs], "skipped": dict(result.skipped)}


def _counts(counter: Counter[str]) -> str:
    return ", ".join([f"{count} {name}" for name, count in sorted(counter.items())]) or "none"


# -- evaluation -------------------------------------------------------------------------------------------------------


def _evaluate(place: Place, unit: Unit, ends: float | None) -> bool:
    if place.is_evaluated(unit.seed, unit.run):
        return True
    tasks = place.tasks(TEST)
    prompt = next((prompt for prompt in place.size.prompts if prompt.name == unit.run), None)
    if prompt is not None:
        tasks = with_prompting(tasks, place.tasks(SFT), prompt, unit.seed)
    evaluate(
        _writer(place, unit.seed, "base" if prompt is not None else unit.run),
        tasks,
        output=place.evaluation(unit.seed, unit.run),
        method=_method(place, unit),
        batch=place.size.batch,
        opens=open_task,
        step=lambda: _watch(ends),
    )
    return True


def _method(place: Place, unit: Unit) -> Method:
    """The name in tables: the runs of one method over lambda are one curve."""
    if unit.run in [run.name for run in place.size.runs]:
        config = configuration(place, unit.seed, unit.run)
        if config.method in ("safe-align", "prefix-dpo"):
            return Method(config.method, config.factor, unit.seed)
    return Method(unit.run, None, unit.seed)


def _line_count(path: str) -> int:
    with open(path, "rb") as file:
        return sum([line.endswith(b"\n") for line in file])


def _writer(
    place: Place, seed: int, run: str, number: int = 0, temperature: float = 0.0, sampling_seed: int = 0
) -> Any:
    """The model of a run as a writer, on the best device, with its adapter merged into it."""
    from plansafe.align.evaluating.model_writers import Decoding, Local, best_device  # noqa: PLC0415 - loads torch
    from plansafe.align.training import models  # noqa: PLC0415
    from plansafe.llm.models.adapter import file_sum  # noqa: PLC0415

    config = configuration(place, seed, "sft" if run == "base" else run, number)
    is_whole = config.lora_r == 0
    folder = place.trained(seed, run, number)
    name = config.model if run == "base" else f"hf/{folder}/{'model' if is_whole else 'adapter'}"
    loading = place.size.training(
        None, model=name, data=list(config.data), output=config.output, dtype=config.dtype, threads=config.threads
    )
    base = models.opened(loading, os.environ)
    trained = models.loaded(loading, base)
    model = trained.model if is_whole else trained.model.merge_and_unload()
    weights = "model/model.safetensors" if is_whole else "adapter/adapter_model.safetensors"
    identity = base.sha256 if run == "base" else file_sum(os.path.join(folder, weights))
    decoding = Decoding(place.size.max_tokens, temperature, sampling_seed)
    return Local(model.to(best_device()), base.tokens.inner, run, identity, decoding)


def loss_curve(place: Place, seed: int, run: str) -> list[dict[str, Any]]:
    """The metrics of a training run, one record per step."""
    with open(os.path.join(place.trained(seed, run), "metrics.jsonl"), encoding="ascii") as file:
        return [loads(line) for line in file]


def pair_sources(place: Place, seed: int) -> Counter[str]:
    """The number of pairs of the first round by their source."""
    with open(place.pairs(seed, "sft", 1), encoding="ascii") as file:
        return Counter([loads(line)["source"] for line in file])
