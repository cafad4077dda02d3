"""From the log-probabilities of a pass to the loss, by method (docs/alignment.md)."""

from __future__ import annotations

from typing import Any, NamedTuple

from plansafe.align import losses as L  # noqa: N812 - a short name for formulas, as in docs/alignment.md
from plansafe.align.config import Config
from plansafe.align.losses import Losses, Plans


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
