"""Our trainer: losses over pairs and texts with weights for each token (``losses.py``), on transformers' Trainer.

A step does not depend on how it is divided into passes and processes: every mean is over the whole step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch

from plansafe.align import losses as L  # noqa: N812 - a short name for formulas, as in docs/alignment.md
from plansafe.align.config import REFERENCED, TEXT_METHODS, Config
from plansafe.align.losses import Losses, Plans, log_probabilities
from plansafe.align.tokens import Batch, batch_of
from plansafe.align.training.examples import Example
from plansafe.align.training.models import Base, Trained, parameters
from plansafe.align.training.run_trainer import Run, RunTrainer


class PlanTrainer(RunTrainer):
    """Trains by ``sft``, ``rft``, ``safe-align``, ``prefix-dpo``, ``step-dpo`` and ``ours``."""

    loss_is_scaled_for_ga = True
    """The loss of a pass is its share of the step's; transformers does not divide it again."""

    def __init__(self, run: Run, base: Base, trained: Trained, args: Any, evaluation: Sequence[Example]) -> None:
        super().__init__(
            model=trained.model,
            args=args,
            data_collator=lambda examples: collate(examples, base.tokens.end),
            train_dataset=run.drawn(),
            eval_dataset=evaluation or None,
            compute_metrics=self._evaluation_metrics,
        )
        self.model_accepts_loss_kwargs = True  # older releases read this for ``loss_is_scaled_for_ga``
        self.config = run.config
        self._sums: dict[str, Any] = {}
        self._start: dict[str, Any] = {}

    def _get_num_items_in_batch(self, batch_samples: list[dict[str, Any]], device: Any) -> Any:
        """Examples and tokens (of chosen plans) in a whole step, over all processes."""
        completions = [batch["completion"] for batch in batch_samples]
        pairs = sum([len(completion) for completion in completions])
        tokens = sum([float(completion[:, 0].sum()) for completion in completions])
        return self.accelerator.reduce(torch.tensor([pairs, tokens], dtype=torch.float32, device=device), "sum")

    def compute_loss(
        self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """The share of a pass in the loss of its step."""
        terms = self._terms(model, inputs)
        loss, metrics = total(self.config, terms, *num_items_in_batch)
        for name, value in metrics.items():
            self._sums[name] = self._sums.get(name, 0.0) + value
        loss = loss * self.accelerator.num_processes  # gradients are averaged over processes
        return (loss, terms) if return_outputs else loss

    def _terms(self, model: Any, inputs: dict[str, Any]) -> Terms:
        batch = Batch(**{name: tensor.flatten(0, 1) for name, tensor in inputs.items()})
        shape = inputs["completion"].shape
        reference = None
        if self.config.method in REFERENCED:  # first, because it changes the weights in place
            with torch.no_grad(), self._weights_at_the_start():
                reference = plan_log_probabilities(model, batch).view(shape).unbind(1)
        plans = batch.plans(plan_log_probabilities(model, batch))
        if self.config.method in TEXT_METHODS:
            return terms_of_texts(plans)
        sides = zip(*[part.view(shape).unbind(1) for part in plans], strict=True)
        chosen, rejected = [Plans(*side) for side in sides]
        return terms_of_pairs(self.config, chosen, rejected, reference)

    @contextmanager
    def _weights_at_the_start(self) -> Iterator[None]:
        weights = parameters(self.accelerator.unwrap_model(self.model))
        current = {name: weight.detach().clone() for name, weight in weights.items()}
        try:
            for name, weight in weights.items():
                weight.copy_(self._start[name])
            yield
        finally:
            for name, weight in weights.items():
                weight.copy_(current[name])

    def create_scheduler(self, *arguments: Any, **options: Any) -> Any:
        """Called when the model is distributed and before a checkpoint is restored: keep the weights at the start."""
        if self.config.method in REFERENCED:
            weights = parameters(self.accelerator.unwrap_model(self.model))
            self._start = {name: weight.detach().clone() for name, weight in weights.items()}
        return super().create_scheduler(*arguments, **options)

    def step_metrics(self) -> dict[str, float]:
        """The loss and its parts, over all processes."""
        names, values = list(self._sums), torch.stack([value.double() for value in self._sums.values()])
        self._sums = {}
        return dict(zip(names, self.accelerator.reduce(values, "sum").tolist(), strict=True))

    def prediction_step(self, model: Any, inputs: Any, *_: Any, **__: Any) -> tuple[Any, Any, Any]:
        """The terms of each example of a batch of evaluation, which do not depend on the batch."""
        with torch.no_grad():
            terms = self._terms(model, self._prepare_inputs(inputs))
        rows = torch.stack([terms.cross_entropy, terms.tokens, *terms.means.values()], 1)
        self._names = list(terms.means)
        return None, rows, rows

    def _evaluation_metrics(self, prediction: Any) -> dict[str, float]:
        columns = torch.as_tensor(prediction.predictions, dtype=torch.float64).unbind(1)
        terms = Terms(dict(zip(self._names, columns[2:], strict=True)), columns[0], columns[1])
        _, metrics = total(self.config, terms, len(columns[0]), columns[1].sum())
        return {name: float(value) for name, value in metrics.items()}


def collate(examples: Sequence[Example], padding: int) -> dict[str, Any]:
    """Tensors (examples, plans of an example, tokens) by the names of :class:`~plansafe.align.tokens.Batch`."""
    batch = batch_of([row for example in examples for row in example.rows], padding)
    return {name: tensor.unflatten(0, (len(examples), -1)) for name, tensor in batch._asdict().items()}


def plan_log_probabilities(model: Any, batch: Batch) -> Any:
    """Log-probabilities of the plans' tokens given those before them, (B, T - 1); 0 at other tokens.

    Prompts have most of the tokens and a vocabulary makes logits the largest part of a small model's work, so logits
    are computed from the first predicted token of a plan on.
    """
    is_plan = batch.completion > 0
    first = int(is_plan.any(0).int().argmax())
    logits = model(
        input_ids=batch.tokens,
        attention_mask=batch.attention,
        use_cache=False,
        logits_to_keep=is_plan.shape[1] - first + 1,
    ).logits
    picked = log_probabilities(logits[:, :-1][is_plan[:, first:]], batch.tokens[:, 1:][is_plan])
    return picked.new_zeros(is_plan.shape).masked_scatter(is_plan, picked)


class Terms(NamedTuple):
    """The terms of the loss for each example of a pass, (B,).

    ``means``: the preference loss (not for texts) and other quantities whose means over examples are metrics, by name.
    ``cross_entropy``: of the chosen plan or text, summed over its tokens. ``tokens``: the number of these.
    """

    means: dict[str, Any]
    cross_entropy: Any
    tokens: Any


def terms_of_pairs(config: Config, chosen: Plans, rejected: Plans, reference: tuple[Any, Any] | None) -> Terms:
    """The terms of pairs. ``reference``: log-probabilities of the model at the start of the run, for DPO."""
    preferred = _preference(config, chosen, rejected, reference)
    means = {
        "preference": preferred.losses,
        "margin": preferred.margins,
        "accuracy": (preferred.margins > 0).float(),
        "chosen_reward": preferred.chosen_rewards,
        "rejected_reward": preferred.rejected_rewards,
        "length_gap": L.length_gap(chosen, rejected),
    }
    return terms_of_texts(chosen)._replace(means=means)


def terms_of_texts(plans: Plans) -> Terms:
    """The terms of texts."""
    return Terms({}, -(plans.logps * plans.completion).sum(-1), plans.completion.sum(-1))


def total(config: Config, terms: Terms, examples: Any, tokens: Any) -> tuple[Any, dict[str, Any]]:
    """The loss, and the metrics by name. ``examples`` and ``tokens`` are counts of the whole step."""
    metrics = {name: values.sum() / examples for name, values in terms.means.items()}
    loss = metrics["sft"] = terms.cross_entropy.sum() / tokens
    if "preference" in metrics:
        loss = metrics["preference"] + (config.sft_weight * loss if config.sft_weight else 0.0)
    return loss, {"loss": loss.detach(), **{name: value.detach() for name, value in metrics.items()}}


def _preference(config: Config, chosen: Plans, rejected: Plans, reference: tuple[Any, Any] | None) -> Losses:
    beta, ratio = config.sharpness, config.gamma_beta_ratio
    match config.method:
        case "safe-align":
            return L.safe_align(
                chosen, rejected, beta=beta, gamma_beta_ratio=ratio, factor=config.factor, normaliser=config.normaliser
            )
        case "ours":
            return L.weighted(chosen, rejected, beta=beta, gamma_beta_ratio=ratio, normaliser=config.normaliser)
        case "prefix-dpo" if reference is not None:
            return L.prefix_weighted_dpo(chosen, rejected, *reference, beta=beta, factor=config.factor)
        case "step-dpo" if reference is not None:
            return L.step_dpo(chosen, rejected, *reference, beta=beta)
    raise ValueError(f"{config.method} has no preference loss here")
