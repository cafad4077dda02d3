"""Training: a plain loop in which everything is a function of the step, so that it can stop at any moment.

Which examples a step sees, its rate and its random numbers follow from seed and step; what is left to restore are the
trained weights and Adam's state. One loop for all methods; ``objective.py`` has what differs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from math import isfinite
from typing import Any, NamedTuple

from plansafe.align.config import REFERENCED, Config
from plansafe.align.tokens import Batch, batch_of
from plansafe.align.training import checkpoint, models
from plansafe.align.training.devices import accelerator, autocast, whole
from plansafe.align.training.examples import Example, Examples, read_examples
from plansafe.align.training.folder import CHECKPOINTS, METRICS, Folder, bad_run
from plansafe.align.training.models import Base, Trained
from plansafe.align.training.objective import Part, of_pairs, of_texts
from plansafe.align.training.order import Order, learning_rate, shares
from plansafe.align.training.reference import Reference, lengths
from plansafe.align.training.scorer import scorer
from plansafe.llm.models.adapter import read_adapter

_UNSAID = ("model", "data", "output", "adapter", "threads", "save_steps", "keep_checkpoints")
"""Keys that do not decide the loss curve, or are known by the sums of what they name."""


class Progress(NamedTuple):
    """How far a run is: ``phase`` is ``reference`` (passes of the model at the beginning) or ``steps``."""

    phase: str
    done: int
    total: int
    metrics: Mapping[str, Any]


class Result(NamedTuple):
    """What came of a run. ``folder``: the adapter, or the whole model; ``None`` if the time was over before the end."""

    folder: str | None
    step: int
    metrics_file: str
    metrics: Sequence[Mapping[str, Any]]
    examples: int
    too_long: tuple[str, ...]
    other_split: int

    @property
    def finished(self) -> bool:
        """Whether all steps were done."""
        return self.folder is not None


def train(
    config: Config,
    *,
    seconds: float | None = None,
    watch: Callable[[Progress], None] = lambda _: None,
    environment: Mapping[str, str] | None = None,
) -> Result:
    """Train, or go on with a run that was stopped, in the folder ``config.output``.

    ``seconds``: stop at the first step behind so much time, with a checkpoint; the same call goes on. ``watch`` is told
    of each step. Raises :class:`~plansafe.llm.models.port.ModelError`,
    :class:`~plansafe.align.records.BadRecords`, :class:`~plansafe.align.training.folder.BadTraining`.
    """
    ends = None if seconds is None else time.monotonic() + seconds
    base = models.opened(config, os.environ if environment is None else environment)
    examples = read_examples(config, base.tokens)
    processes = accelerator()
    first, parts = processes.is_main_process, processes.num_processes
    size = config.bs * config.gradient_accumulation_steps * parts
    with Folder(config.output, _identity(config, base, examples, size), first) as folder:
        processes.wait_for_everyone()
        run = _Run(config, base, examples, folder, processes, size, ends, watch)
        return run.result() if run.is_done() else run.work()


def _identity(config: Config, base: Base, examples: Examples, size: int) -> dict[str, Any]:
    """All that decides the loss curve, as JSON."""
    said = {key: value for key, value in config.said().items() if key not in _UNSAID}
    return {
        **said,
        "model_sha256": base.sha256,
        "adapter_sha256": None if base.adapter is None else base.adapter.weights_sha256,
        "data_sha256": examples.sha256,
        "examples_per_step": size,
    }


class _Run:
    """A run in its folder: the model, its optimizer, and the loop."""

    def __init__(
        self,
        config: Config,
        base: Base,
        examples: Examples,
        folder: Folder,
        processes: Any,
        size: int,
        ends: float | None,
        watch: Callable[[Progress], None],
    ) -> None:
        self._config, self._base, self._folder, self._processes = config, base, folder, processes
        self._examples = examples
        self._order = Order(len(examples.examples), size, config.seed)
        self._ends = ends
        self._watch = watch
        self._metrics: list[Mapping[str, Any]] = []
        self._step = 0
        self._target = folder.at("model" if config.lora_r == 0 else "adapter")

    def is_done(self) -> bool:
        """Whether the run was finished before; what it wrote is looked at. Raises ModelError."""
        if not os.path.isdir(self._target):
            return False
        if self._config.lora_r != 0:
            read_adapter(self._target)
        self._step = self._config.max_steps
        self._metrics = list(self._folder.kept_metrics(self._step))
        return True

    def result(self) -> Result:
        """What there is to say."""
        found = self._examples
        return Result(
            self._target if self._step == self._config.max_steps else None,
            self._step,
            self._folder.at(METRICS),
            self._metrics,
            len(found.examples),
            found.too_long,
            found.other_split,
        )

    def work(self) -> Result:
        """Go on from the last checkpoint."""
        import torch  # noqa: PLC0415 - a second to load, and only where a model is trained

        torch.set_num_threads(self._config.threads)
        trained = models.loaded(self._config, self._base)
        module = scorer(trained.model)
        module.train()
        optimizer = torch.optim.AdamW(
            list(models.parameters(module).values()), lr=self._config.lr, weight_decay=self._config.weight_decay
        )
        self._module, self._optimizer = self._processes.prepare(module, optimizer)
        self._torch = torch
        self._parameters = models.parameters(self._processes.unwrap_model(self._module))
        start = checkpoint.last(self._folder)
        known = self._reference()
        if known is None:
            return self.result()
        if start:
            self._restore(start)
        self._step = start
        self._metrics = list(self._folder.kept_metrics(start))
        while self._step < self._config.max_steps:
            if self._over():
                self._save()
                return self.result()
            self._one(self._step + 1, known)
            if self._step % self._config.save_steps == 0:
                self._save()
        self._save()
        self._finish(trained)
        return self.result()

    def _over(self) -> bool:
        """Whether the time is over, for all processes at once."""
        late = self._ends is not None and time.monotonic() >= self._ends
        if self._processes.num_processes == 1:
            return late
        flag = self._torch.tensor(float(late), device=self._processes.device)
        return bool(self._processes.reduce(flag, "sum") > 0)

    def _one(self, step: int, known: Mapping[int, Any]) -> None:
        """A step: forward, backward, update, and a line of metrics."""
        torch, config, processes = self._torch, self._config, self._processes
        started = time.monotonic()
        numbers = self._order.at(step)
        mine = shares(numbers, config.bs, processes.num_processes)[processes.process_index]
        all_of = [self._examples.examples[number] for number in numbers]
        tokens = sum([example.size for example in all_of])
        # Dropout is not used by the models that we know; where a model has it, a step's is the same when it is redone.
        torch.manual_seed((config.seed << 32) + step)
        rate = learning_rate(config, step)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        sums: dict[str, Any] = {}
        for at, some in enumerate(mine):
            with _together(processes, self._module, at == len(mine) - 1):
                part = self._part(some, known, len(numbers), tokens)
                processes.backward(part.loss * processes.num_processes)  # which averages over processes
            for name, value in part.sums.items():
                sums[name] = sums.get(name, 0.0) + value
        norm = processes.clip_grad_norm_(self._parameters.values(), config.max_grad_norm)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        self._step = step
        found = {name: float(processes.reduce(value, "sum")) for name, value in sums.items()}
        if not all([isfinite(value) for value in (*found.values(), float(norm))]):
            reason = f"the loss or gradient of step {step} is NaN or infinity"
            raise bad_run(config.output, reason, "lower `lr`, or check the model; earlier checkpoints are kept")
        fed = sum([len(row.tokens) for example in all_of for row in example.rows])
        self._note(step, found, rate, float(whole(norm)), fed, time.monotonic() - started)

    def _note(self, step: int, sums: Mapping[str, float], rate: float, norm: float, fed: int, seconds: float) -> None:
        record = {
            "step": step,
            "epoch": round(self._order.epoch(step), 4),
            **sums,
            "lr": rate,
            "grad_norm": norm,
            "tokens": fed,
            "seconds": round(seconds, 4),
            "tokens_per_second": round(fed / max(seconds, 1e-9), 1),
        }
        self._metrics.append(record)
        if self._folder.first:
            self._folder.add_metrics(record)
            self._watch(Progress("steps", step, self._config.max_steps, record))

    def _part(self, numbers: Sequence[int], known: Mapping[int, Any], pairs: int, tokens: int) -> Part:
        """One forward pass: chosen and rejected plans together, or texts."""
        some = [self._examples.examples[number] for number in numbers]
        batch = self._batch(some)
        logps = self._logps(batch)
        if self._config.method == "sft":
            return of_texts(batch.plans(logps), tokens)
        half = len(some)
        sides = [Batch(*[tensor[part] for tensor in batch]).plans(logps[part]) for part in _halves(half)]
        return of_pairs(self._config, sides[0], sides[1], self._known(some, numbers, known, batch), pairs, tokens)

    def _known(
        self, some: Sequence[Example], numbers: Sequence[int], known: Mapping[int, Any], batch: Batch
    ) -> tuple[Any, Any] | None:
        if self._config.method not in REFERENCED:
            return None
        found = self._torch.zeros_like(batch.completion)
        for at, (example, number) in enumerate(zip(some, numbers, strict=True)):
            for side, row in enumerate(known[number].split(lengths(example))):
                found[at + side * len(some), : len(row)] = row
        one, other = [found[part] for part in _halves(len(some))]
        return one, other

    def _batch(self, some: Sequence[Example]) -> Batch:
        """The rows of some examples: all first ones, then all second ones."""
        rows = [example.rows[side] for side in range(len(some[0].rows)) for example in some]
        return Batch(*[tensor.to(self._processes.device) for tensor in batch_of(rows, self._base.tokens.end)])

    def _logps(self, batch: Batch) -> Any:
        with autocast(self._config, self._processes.device):
            return self._module(batch.tokens, batch.attention, batch.completion)

    def _reference(self) -> Mapping[int, Any] | None:
        """The model at the beginning's log-probabilities of all examples that the run will see; ``None``: no time."""
        config, processes = self._config, self._processes
        if config.method not in REFERENCED:
            return {}
        seen = dict.fromkeys([number for step in range(1, config.max_steps + 1) for number in self._order.at(step)])
        parts = processes.num_processes
        numbers = list(seen) + list(seen)[: -len(seen) % (config.bs * parts)]  # all processes have as many passes
        files = [
            Reference(self._folder, self._examples.examples, numbers[part::parts], part, parts) for part in range(parts)
        ]

        def goes_on(done: int, total: int) -> bool:
            if self._folder.first:
                self._watch(Progress("reference", done, total, {}))
            return not self._over()

        if not files[processes.process_index].compute(self._score, config.bs, goes_on):
            return None
        processes.wait_for_everyone()
        found: dict[int, Any] = {}
        for file in files:
            found |= file.rows()
        return found

    def _score(self, some: Sequence[Example]) -> list[Any]:
        batch = self._batch(some)
        with self._torch.no_grad():
            logps = self._logps(batch).float().cpu()
        found = []
        for at, example in enumerate(some):
            sizes = lengths(example)
            found.append(self._torch.cat([logps[at + side * len(some), :size] for side, size in enumerate(sizes)]))
        return found

    def _save(self) -> None:
        tensors = checkpoint.optimizer_tensors(self._optimizer, self._parameters)
        weights = {name: whole(one.detach()) for name, one in self._parameters.items()}
        if self._folder.first:
            checkpoint.save(self._folder, self._step, weights, tensors, self._config.keep_checkpoints)
        self._processes.wait_for_everyone()

    def _restore(self, step: int) -> None:
        weights, state = checkpoint.load(self._folder, step)
        place = self._folder.at(f"{CHECKPOINTS}/step-{step:08d}")
        checkpoint.fill(self._parameters, weights, place)
        checkpoint.fill_optimizer(self._optimizer, self._parameters, state, place)

    def _finish(self, trained: Trained) -> None:
        state = {name.removeprefix("model."): whole(one.detach()) for name, one in self._parameters.items()}
        if self._folder.first:
            models.written(self._folder.path, self._config, self._base, trained, state)
        self._processes.wait_for_everyone()


def _halves(size: int) -> tuple[slice, slice]:
    return slice(size), slice(size, None)


def _together(processes: Any, module: Any, last: bool) -> Any:
    """Gradients of several processes are added up behind the last pass of a step."""
    return nullcontext() if last else processes.no_sync(module)
