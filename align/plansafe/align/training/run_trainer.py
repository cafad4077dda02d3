"""What all trainers of a run share: the order of examples, checkpoints without pickles, metrics as JSON lines.

``RunTrainer`` overrides hooks of transformers' Trainer; trl's trainers get them by inheriting from it first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from random import Random
from typing import Any, NamedTuple

import torch
from torch.utils.data import RandomSampler, SequentialSampler
from transformers import PrinterCallback, Trainer, TrainerCallback, set_seed

from plansafe.align.config import Config
from plansafe.align.training import checkpoint
from plansafe.align.training.checkpoint import Checkpoint
from plansafe.align.training.examples import Example
from plansafe.align.training.folder import Folder, bad_run
from plansafe.align.training.models import parameters, refused

_NAMES = {
    "learning_rate": "lr",
    "rewards/margins": "margin",
    "rewards/accuracies": "accuracy",
    "rewards/chosen": "chosen_reward",
    "rewards/rejected": "rejected_reward",
    "nll_loss": "sft",
}
"""Our names for metrics of transformers and trl."""


class Progress(NamedTuple):
    """A finished step and its metrics."""

    done: int
    total: int
    metrics: Mapping[str, Any]


class Run(NamedTuple):
    """A run: its folder, its examples, their numbers in the order of training, when to stop (``time.monotonic``)."""

    config: Config
    folder: Folder
    examples: Sequence[Example]
    order: Sequence[int]
    ends: float | None
    watch: Callable[[Progress], None]

    @property
    def step_size(self) -> int:
        """Examples in a step, over all passes and processes."""
        return len(self.order) // self.config.max_steps

    def drawn(self, start: int = 0, end: int | None = None) -> list[Example]:
        """The examples in the order of training."""
        return [self.examples[number] for number in self.order[start:end]]


def drawn_order(count: int, total: int, seed: int) -> list[int]:
    """The numbers of the examples of a whole run: epochs in random order, one after the other.

    An epoch that does not fill its last step continues with the next one, so every step has the same size.
    """
    return list(RandomSampler(range(count), num_samples=total, generator=torch.Generator().manual_seed(seed)))


class RunTrainer(Trainer):  # type: ignore[misc] # transformers is not installed where types are checked
    """A Trainer over one long epoch in a fixed order, whose run can be killed and continued at any time."""

    run: Run
    resumed: Checkpoint | None = None

    def fit(self, run: Run, resumed: Checkpoint | None) -> int:
        """Train to the last step or until the time is over; the step that was reached. Raises ModelError."""
        if self.is_deepspeed_enabled or (self.is_fsdp_enabled and not self.accelerator.is_fsdp2):
            raise refused("only version 2 of FSDP can shard a model", "set `fsdp_version: 2` for accelerate")
        self.run, self.resumed = run, resumed
        self._started = time.monotonic()
        self.remove_callback(PrinterCallback)
        self.add_callback(_Steps(run))
        self.train(resume_from_checkpoint=None if resumed is None else resumed.path)
        return int(self.state.global_step)

    def step_metrics(self) -> dict[str, float]:
        """Metrics of the last step that a subclass adds."""
        return {}

    def step_tokens(self, examples: Sequence[Example], metrics: Mapping[str, float]) -> int:  # noqa: ARG002
        """Tokens that the model read in a step, over all processes."""
        return sum([len(row.tokens) for example in examples for row in example.rows])

    def trained(self) -> dict[str, Any]:
        """The trained weights by their names in the model, whole and without gradient."""
        weights = parameters(self.accelerator.unwrap_model(self.model))
        return {name: checkpoint.gather(weight.detach()) for name, weight in weights.items()}

    def _get_train_sampler(self, *arguments: Any) -> Any:
        """The data are in their order already; trl's GRPO repeats each prompt."""
        sampler = super()._get_train_sampler(*arguments)
        return SequentialSampler(self.train_dataset) if isinstance(sampler, RandomSampler) else sampler

    def _save_checkpoint(self, model: Any, trial: Any) -> None:  # noqa: ARG002 - transformers' signature
        optimizer = checkpoint.optimizer_tensors(self.optimizer, parameters(self.accelerator.unwrap_model(self.model)))
        weights, folder = self.trained(), self.run.folder
        if folder.first:
            state = replace(self.state, log_history=[])  # the metrics have their own file
            keep = self.run.config.keep_checkpoints
            checkpoint.save(
                folder, self.state.global_step, weights, optimizer, self.lr_scheduler.state_dict(), state, keep
            )
        self.accelerator.wait_for_everyone()

    def _load_from_checkpoint(self, *arguments: Any, **options: Any) -> None:
        """Weights are restored with the optimizer, when the model is distributed."""

    def _load_optimizer_and_scheduler(self, checkpoint_path: str | None) -> None:  # noqa: ARG002 - as above
        if self.resumed is not None:
            weights = parameters(self.accelerator.unwrap_model(self.model))
            checkpoint.restore(self.resumed, weights, self.optimizer, self.lr_scheduler)

    def _load_rng_state(self, checkpoint_path: str | None) -> None:
        """Each step seeds the random numbers, so there is nothing to restore."""

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Log as transformers does, and write the line of a step or of an evaluation."""
        is_step = "loss" in logs
        if is_step:
            logs.update(self.step_metrics())
        super().log(logs, start_time)
        metrics = {_name(name): value for name, value in logs.items()}
        step = int(self.state.global_step)
        if is_step:
            self._log_step(step, metrics)
        elif "eval_loss" in logs and self.run.folder.first:
            self.run.folder.add_evaluation({"step": step, **metrics})

    def _log_step(self, step: int, metrics: dict[str, float]) -> None:
        run, now = self.run, time.monotonic()
        seconds, self._started = now - self._started, now
        if not all([isfinite(value) for value in metrics.values() if isinstance(value, float)]):
            reason = f"the loss or gradient of step {step} is NaN or infinity"
            raise bad_run(run.config.output, reason, "lower `lr`, or check the model; earlier checkpoints are kept")
        tokens = self.step_tokens(run.drawn((step - 1) * run.step_size, step * run.step_size), metrics)
        record = {
            "step": step,
            **metrics,
            "epoch": round(step * run.step_size / len(run.examples), 4),
            "tokens": tokens,
            "seconds": round(seconds, 4),
            "tokens_per_second": round(tokens / max(seconds, 1e-9), 1),
        }
        if run.folder.first:
            run.folder.add_metrics(record)
            run.watch(Progress(step, run.config.max_steps, record))


def _name(name: str) -> str:
    """Our name of a logged metric."""
    prefix = "eval_" if name.startswith("eval_") else ""
    name = name.removeprefix(prefix)
    return prefix + _NAMES.get(name, name.replace("/", "_"))


class _Steps(TrainerCallback):  # type: ignore[misc] # as above
    """Seeds each step by its number, and stops a run whose time is over."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def on_step_begin(self, args: Any, state: Any, *_: Any, **__: Any) -> None:
        name = f"step/{self._run.config.seed}/{state.global_step}/{args.process_index}"
        set_seed(Random(name).getrandbits(32))

    def on_step_end(self, args: Any, state: Any, control: Any, **__: Any) -> None:
        if is_over(self._run.ends, args) and state.global_step < state.max_steps:
            control.should_save = control.should_training_stop = True


def is_over(ends: float | None, args: Any) -> bool:
    """Whether the time is over in any process; all of them have to ask."""
    if ends is None:
        return False
    late = time.monotonic() >= ends
    if args.world_size == 1:
        return late
    flag = torch.tensor(float(late), device=args.device)
    torch.distributed.all_reduce(flag)
    return bool(flag > 0)
