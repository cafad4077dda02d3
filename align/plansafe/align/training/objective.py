"""From the log-probabilities of a batch to what is minimised, method by method (docs/alignment.md)."""

from __future__ import annotations

from typing import Any, NamedTuple, assert_never

from plansafe.align import losses as L  # noqa: N812 - a short name for formulas, as in docs/alignment.md
from plansafe.align.config import Config
from plansafe.align.losses import Losses, Plans


class Part(NamedTuple):
    """One forward pass's share of a step: a scalar with gradient, and sums for the metrics, by name."""

    loss: Any
    sums: dict[str, Any]


def preference(config: Config, chosen: Plans, rejected: Plans, reference: tuple[Any, Any] | None) -> Losses:
    """The loss of each pair. ``reference``: log-probabilities of the model at the beginning, for DPO and its kin."""
    beta, ratio = config.sharpness, config.gamma_beta_ratio
    one, other = reference or (None, None)
    match config.method:
        case "simpo":
            return L.simpo(chosen, rejected, beta=beta, gamma_beta_ratio=ratio)
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
        case "dpo" | "prefix-dpo" | "step-dpo" if reference is None:
            raise ValueError(f"{config.method} compares with the model at the beginning")
        case "dpo":
            return L.dpo(chosen, rejected, one, other, beta=beta)
        case "prefix-dpo":
            return L.prefix_weighted_dpo(chosen, rejected, one, other, beta=beta, factor=config.factor)
        case "step-dpo":
            return L.step_dpo(chosen, rejected, one, other, beta=beta)
        case "sft":
            raise ValueError("SFT has no preference")
    assert_never(config.method)


def of_pairs(
    config: Config, chosen: Plans, rejected: Plans, reference: tuple[Any, Any] | None, pairs: int, tokens: int
) -> Part:
    """A pass over pairs. ``pairs`` and ``tokens`` (of chosen plans) are those of the whole step, all processes."""
    found = preference(config, chosen, rejected, reference)
    loss = found.losses.sum() / pairs
    imitation = -(chosen.logps * chosen.completion).sum() / tokens
    if config.sft_weight:
        loss = loss + config.sft_weight * imitation
    sums = {
        "loss": loss.detach(),
        "preference": found.losses.detach().sum() / pairs,
        "sft": imitation.detach(),
        "margin": found.margins.sum() / pairs,
        "accuracy": (found.margins > 0).float().sum() / pairs,
        "chosen_reward": found.chosen_rewards.sum() / pairs,
        "rejected_reward": found.rejected_rewards.sum() / pairs,
        "length_gap": L.length_gap(chosen, rejected).sum() / pairs,
    }
    return Part(loss, sums)


def of_texts(plans: Plans, tokens: int) -> Part:
    """A pass over texts; ``tokens`` are those of the whole step, all processes."""
    loss = -(plans.logps * plans.completion).sum() / tokens
    return Part(loss, {"loss": loss.detach()})
