"""From the log-probabilities of a pass to the loss, by method (docs/alignment.md)."""

from __future__ import annotations

from typing import Any, NamedTuple

from plansafe.align import losses as L  # noqa: N812 - a short name for formulas, as in docs/alignment.md
from plansafe.align.config import Config
from plansafe.align.losses import Losses, Plans


class Part(NamedTuple):
    """A forward pass's share of a step: the loss with gradient, sums for the metrics by name, margins of its pairs."""

    loss: Any
    sums: dict[str, Any]
    margins: Any = None


def preference(config: Config, chosen: Plans, rejected: Plans, reference: tuple[Any, Any] | None) -> Losses:
    """The loss of each pair. ``reference``: log-probabilities of the model at the start of the run, for DPO."""
    beta, ratio = config.sharpness, config.gamma_beta_ratio
    match config.method:
        case "safe-align":
            return L.safe_align(
                chosen,
                rejected,
                beta=beta,
                gamma_beta_ratio=ratio,
                factor=config.factor,
                normaliser=config.normaliser,
            )
        case "ours":
            return L.weighted(chosen, rejected, beta=beta, gamma_beta_ratio=ratio, normaliser=config.normaliser)
        case "prefix-dpo" if reference is not None:
            return L.prefix_weighted_dpo(chosen, rejected, *reference, beta=beta, factor=config.factor)
        case "step-dpo" if reference is not None:
            return L.step_dpo(chosen, rejected, *reference, beta=beta)
    raise ValueError(f"{config.method} has no preference loss here")


def loss_of_pairs(
    config: Config, chosen: Plans, rejected: Plans, reference: tuple[Any, Any] | None, pairs: Any, tokens: Any
) -> Part:
    """The loss of a pass over pairs. ``pairs`` and ``tokens`` (of chosen plans) are counts of the whole step."""
    preferred = preference(config, chosen, rejected, reference)
    loss = (preferred.losses.sum() / pairs).float()
    imitation = (-(chosen.logps * chosen.completion).sum() / tokens).float()
    if config.sft_weight:
        loss = loss + config.sft_weight * imitation
    sums = {
        "loss": loss.detach(),
        "preference": preferred.losses.detach().sum() / pairs,
        "sft": imitation.detach(),
        "margin": preferred.margins.sum() / pairs,
        "accuracy": (preferred.margins > 0).float().sum() / pairs,
        "chosen_reward": preferred.chosen_rewards.sum() / pairs,
        "rejected_reward": preferred.rejected_rewards.sum() / pairs,
        "length_gap": L.length_gap(chosen, rejected).sum() / pairs,
    }
    return Part(loss, sums, preferred.margins)


def loss_of_texts(plans: Plans, tokens: Any) -> Part:
    """The loss of a pass over texts; ``tokens`` is the count of the whole step."""
    loss = (-(plans.logps * plans.completion).sum() / tokens).float()
    return Part(loss, {"loss": loss.detach()})
