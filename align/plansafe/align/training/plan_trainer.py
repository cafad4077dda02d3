"""Our trainer: losses over pairs and texts with weights for each token (``losses.py``), on transformers' Trainer.

A step does not depend on how it is divided into passes and processes: every mean is over the whole step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from plansafe.align.config import REFERENCED, TEXT_METHODS, Config
from plansafe.align.losses import Plans
from plansafe.align.tokens import Batch, batch_of
from plansafe.align.training.examples import Example
from plansafe.align.training.models import Base, Trained, parameters
from plansafe.align.training.objective import Part, loss_of_pairs, loss_of_texts
from plansafe.align.training.run_trainer import RunTrainer


class PlanTrainer(RunTrainer):
    """Trains by ``sft``, ``rft``, ``safe-align``, ``prefix-dpo``, ``step-dpo`` and ``ours``."""

    loss_is_scaled_for_ga = True
    """The loss of a pass is its share of the step's; transformers does not divide it again."""

    def __init__(
        self,
        config: Config,
        base: Base,
        trained: Trained,
        args: Any,
        data: Sequence[Example],
        evaluation: Sequence[Example],
    ) -> None:
        super().__init__(
            model=trained.model,
            args=args,
            data_collator=lambda examples: collate(examples, base.tokens.end),
            train_dataset=data,
            eval_dataset=evaluation or None,
            compute_metrics=None if config.method in TEXT_METHODS else _evaluation_metrics,
        )
        self.model_accepts_loss_kwargs = True  # older releases read this for ``loss_is_scaled_for_ga``
        self.config = config
        self._sums: dict[str, Any] = {}
        self._start: dict[str, Any] = {}

    def _get_num_items_in_batch(self, batch_samples: list[dict[str, Any]], device: Any) -> Any:
        """Examples and tokens (of chosen plans) in a whole step, over all processes."""
        counts = sum([_counts(batch) for batch in batch_samples])
        return self.accelerator.reduce(counts.to(device), "sum")

    def compute_loss(
        self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """The share of a pass in the loss of its step."""
        part = self._part(model, inputs, num_items_in_batch)
        for name, value in part.sums.items():
            self._sums[name] = self._sums.get(name, 0.0) + value
        loss = part.loss * self.accelerator.num_processes  # gradients are averaged over processes
        return (loss, part) if return_outputs else loss

    def _part(self, model: Any, inputs: dict[str, Any], counts: Any) -> Part:
        batch = Batch(**{name: tensor.flatten(0, 1) for name, tensor in inputs.items()})
        shape = inputs["completion"].shape
        reference = None
        if self.config.method in REFERENCED:  # first, because it changes the weights in place
            with torch.no_grad(), self._weights_at_the_start():
                reference = plan_log_probabilities(model, batch).view(shape).unbind(1)
        logps = plan_log_probabilities(model, batch)
        plans = batch.plans(logps)
        if self.config.method in TEXT_METHODS:
            return loss_of_texts(plans, counts[1])
        sides = zip(*[part.view(shape).unbind(1) for part in plans], strict=True)
        chosen, rejected = [Plans(*side) for side in sides]
        return loss_of_pairs(self.config, chosen, rejected, reference, counts[0], counts[1])

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
        """Loss and margins of a batch of evaluation."""
        inputs = self._prepare_inputs(inputs)
        with torch.no_grad():
            part = self._part(model, inputs, _counts(inputs))
        return part.loss.detach(), part.margins, part.margins


def collate(examples: Sequence[Example], padding: int) -> dict[str, Any]:
    """Tensors (examples, plans of an example, tokens) by the names of :class:`~plansafe.align.tokens.Batch`."""
    batch = batch_of([row for example in examples for row in example.rows], padding)
    return {name: tensor.unflatten(0, (len(examples), -1)) for name, tensor in batch._asdict().items()}


def plan_log_probabilities(model: Any, batch: Batch) -> Any:
    """Log-probabilities of the plans' tokens given those before them, (B, T - 1); 0 at other tokens.

    Prompts have most of the tokens and a vocabulary makes logits the largest part of a small model's work, so logits
    are computed from the first predicted token of a plan on.
    """
    wanted = batch.completion > 0
    first = int(wanted.any(0).int().argmax())
    logits = model(
        input_ids=batch.tokens,
        attention_mask=batch.attention,
        use_cache=False,
        logits_to_keep=wanted.shape[1] - first + 1,
    ).logits
    wide = logits[:, :-1][wanted[:, first:]].float()
    picked = wide.gather(-1, batch.tokens[:, 1:][wanted][:, None])[:, 0] - wide.logsumexp(-1)
    return picked.new_zeros(wanted.shape).masked_scatter(wanted, picked)


def _counts(batch: dict[str, Any]) -> Any:
    completion = batch["completion"]
    return torch.stack([completion.new_tensor(float(len(completion))), completion[:, 0].sum()])


def _evaluation_metrics(prediction: Any) -> dict[str, float]:
    margins = prediction.predictions
    return {"accuracy": float((margins > 0).mean()), "margin": float(margins.mean())}
