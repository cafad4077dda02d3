"""``train(config)``: one run in its folder, from the data files to the adapter (docs/alignment.md)."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from plansafe.align.config import TRL_METHODS, Config
from plansafe.align.training import checkpoint, models
from plansafe.align.training.examples import Example, Examples, read_evaluation_examples, read_examples
from plansafe.align.training.folder import METRICS, Folder
from plansafe.align.training.models import Base, Trained, require_package
from plansafe.llm.models.adapter import read_adapter
from plansafe.verifier.extras import how_to_install

if TYPE_CHECKING:
    from plansafe.align.training.run_trainer import Progress, Run, RunTrainer

_NOT_IDENTITY = (
    *("model", "data", "output", "adapter", "threads", "save_steps", "keep_checkpoints", "report_to", "vllm"),
    *("eval_data", "eval_steps"),
)
"""Keys that do not decide the loss curve, or whose files are identified by SHA-256."""


class Result(NamedTuple):
    """The result of a run. ``folder``: the adapter or the whole model; ``None`` if the time was over before the end."""

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
    """Train, or continue a run that was stopped or killed, in the folder ``config.output``.

    ``seconds``: stop after the first step that ends later, with a checkpoint; the same call continues. ``watch`` is
    called after each step. Raises :class:`~plansafe.llm.models.port.ModelError`,
    :class:`~plansafe.align.records.BadRecords`, :class:`~plansafe.align.training.folder.BadTraining`.
    """
    ends = None if seconds is None else time.monotonic() + seconds
    base = models.opened(config, os.environ if environment is None else environment)
    require_package("accelerate", "training", how_to_install("align"))
    if config.method in TRL_METHODS:
        require_package("trl", f'`method = "{config.method}"`', how_to_install("align"))
    examples = read_examples(config, base.tokens)
    evaluation = read_evaluation_examples(config, base.tokens)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # trl uses old names of transformers
        return _run(config, base, examples, evaluation, ends, watch)


def _run(
    config: Config,
    base: Base,
    examples: Examples,
    evaluation: Sequence[Example],
    ends: float | None,
    watch: Callable[[Progress], None],
) -> Result:
    from plansafe.align.training import run_trainer  # noqa: PLC0415 - imports torch and transformers

    args = _arguments(config)
    step_size = config.bs * config.gradient_accumulation_steps * args.world_size
    with Folder(config.output, _identity(config, base, examples, step_size), args.process_index == 0) as folder:
        args.distributed_state.wait_for_everyone()
        target = folder.at("model" if config.lora_r == 0 else "adapter")
        if _is_finished(config, target):
            return _result(folder, examples, config.max_steps, target)
        step = checkpoint.last(folder)
        resumed = checkpoint.load(folder, step) if step else None
        folder.keep_metrics(step)
        if run_trainer.is_over(ends, args):
            return _result(folder, examples, step, None)
        order = run_trainer.drawn_order(len(examples.examples), config.max_steps * step_size, config.seed)
        run = run_trainer.Run(config, folder, examples.examples, order, ends, watch)
        trained = models.loaded(config, base, args.device)
        trainer = _trainer(run, base, trained, args, evaluation)
        step = trainer.fit(run, resumed)
        is_finished = step == config.max_steps
        if is_finished:
            weights = trainer.trained()  # all processes take part
            if folder.first:
                models.write_trained(folder.path, config, base, trained, weights)
        args.distributed_state.wait_for_everyone()
        return _result(folder, examples, step, target if is_finished else None)


def _trainer(run: Run, base: Base, trained: Trained, args: Any, evaluation: Sequence[Example]) -> RunTrainer:
    config = run.config
    if config.method not in TRL_METHODS:
        from plansafe.align.training.plan_trainer import PlanTrainer  # noqa: PLC0415 - imports transformers

        return PlanTrainer(run, base, trained, args, evaluation)
    from plansafe.align.training.baselines import baseline  # noqa: PLC0415 - imports trl

    needs_copy = config.method == "dpo" and not trained.rank
    reference = models.loaded(config, base, args.device).model if needs_copy else None
    return baseline(run, base, trained, reference, args, evaluation)


def _arguments(config: Config) -> Any:
    if config.method in TRL_METHODS:
        from plansafe.align.training.baselines import baseline_arguments  # noqa: PLC0415 - imports trl

        return baseline_arguments(config)
    from plansafe.align.training.arguments import arguments  # noqa: PLC0415 - imports transformers

    return arguments(config)


def _identity(config: Config, base: Base, examples: Examples, step_size: int) -> dict[str, Any]:
    """Everything that decides the loss curve, as JSON."""
    return {
        **{key: value for key, value in config.values().items() if key not in _NOT_IDENTITY},
        "chat_template": base.tokens.chat,
        "model_sha256": base.sha256,
        "adapter_sha256": None if base.adapter is None else base.adapter.weights_sha256,
        "data_sha256": examples.sha256,
        "examples_per_step": step_size,
    }


def _is_finished(config: Config, target: str) -> bool:
    """Whether the adapter or model is there. Raises ModelError if the adapter is damaged."""
    if not os.path.isdir(target):
        return False
    if config.lora_r != 0:
        read_adapter(target)
    return True


def _result(folder: Folder, examples: Examples, step: int, target: str | None) -> Result:
    metrics = folder.keep_metrics(step)
    return Result(
        target, step, folder.at(METRICS), metrics, len(examples.examples), examples.too_long, examples.other_split
    )
