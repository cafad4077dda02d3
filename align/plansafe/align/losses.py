"""Losses over pairs of plans, as pure functions of the log-probabilities of tokens.

Notation (docs/alignment.md): a plan y has tokens; its first actions may be shared with the other plan of the pair: p
are their tokens and s the others, including the end of the sequence. All functions take and return torch tensors of
floats; B is the number of pairs, T the number of tokens, padded. Gradients flow through ``logps`` only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor

Normaliser = Literal["tokens", "weights"]
"""What a weighted sum of log-probabilities is divided by: the number of tokens (as SimPO), or the sum of weights."""


class Plans(NamedTuple):
    """One side of a batch of pairs, each tensor (B, T).

    ``logps``: log-probability of each token given those before it; ``completion``: 1 for tokens of the plan, its end
    included, 0 for the prompt and for padding; ``prefix``: 1 for tokens of the actions that both plans of the pair
    begin with; ``first``: 1 for tokens of the first action behind them; ``weight``: what a token counts, from the
    verifier (``weights.py``), read where ``completion`` is 1.
    """

    logps: Tensor
    completion: Tensor
    prefix: Tensor
    first: Tensor
    weight: Tensor


class Losses(NamedTuple):
    """A value for each pair, (B,): the loss, and both rewards (without gradient)."""

    losses: Tensor
    chosen_rewards: Tensor
    rejected_rewards: Tensor

    @property
    def margins(self) -> Tensor:
        """How much more the chosen plan is rewarded."""
        return self.chosen_rewards - self.rejected_rewards


def log_probabilities(logits: Tensor, tokens: Tensor) -> Tensor:
    """Log-probability of each token but the first of a row, in 32 bits: (B, T, V), (B, T) to (B, T - 1)."""
    wide = logits[:, :-1].float()
    picked = wide.gather(-1, tokens[:, 1:, None])[..., 0]
    return picked - wide.logsumexp(-1)


def prefix_weights(plans: Plans, factor: float) -> Plans:
    """The plans with weight ``factor`` (the paper's lambda) on the shared actions, and 1 on the rest."""
    return plans._replace(weight=1 - (1 - factor) * plans.prefix)


def reward(plans: Plans, beta: float, normaliser: Normaliser = "tokens") -> Tensor:
    """r(x, y) = beta / n * sum of weight * log-probability over the plan's tokens; n is |y| or the sum of weights.

    Safe-BeAl, equation 2, with lambda as the weight of the prefix; which n is meant the paper leaves open. (B,)
    """
    weight = plans.weight * plans.completion
    total = weight.sum(-1) if normaliser == "weights" else plans.completion.sum(-1)
    return beta * (weight * plans.logps * plans.completion).sum(-1) / total.clamp(min=1e-9)


def weighted(
    chosen: Plans, rejected: Plans, *, beta: float, gamma_beta_ratio: float, normaliser: Normaliser = "tokens"
) -> Losses:
    """-log sigmoid(r(chosen) - r(rejected) - gamma), gamma = beta * gamma_beta_ratio.

    Which method it is the weights say: all 1 is SimPO (Meng et al. 2024), :func:`prefix_weights` is Safe-Align
    (Safe-BeAl, equation 3), those of the verifier's regret are ours.
    """
    from torch.nn.functional import logsigmoid  # noqa: PLC0415 - a second to load, and only where a model is trained

    ours, theirs = reward(chosen, beta, normaliser), reward(rejected, beta, normaliser)
    losses = -logsigmoid(ours - theirs - beta * gamma_beta_ratio)
    return Losses(losses, ours.detach(), theirs.detach())


def simpo(chosen: Plans, rejected: Plans, *, beta: float, gamma_beta_ratio: float) -> Losses:
    """SimPO (Meng et al. 2024, equation 6): average log-probabilities, whatever weights there are."""
    one, other = prefix_weights(chosen, 1.0), prefix_weights(rejected, 1.0)
    return weighted(one, other, beta=beta, gamma_beta_ratio=gamma_beta_ratio)


def safe_align(
    chosen: Plans,
    rejected: Plans,
    *,
    beta: float,
    gamma_beta_ratio: float,
    factor: float,
    normaliser: Normaliser = "tokens",
) -> Losses:
    """Safe-Align's preference term (Safe-BeAl, equations 2 and 3) with lambda as ``factor``.

    By |y| as normaliser lambda acts only through a difference in length: the shared prefix adds
    beta * lambda * P * (1/|y_w| - 1/|y_l|) to the margin, which is 0 for plans of equal length.
    """
    one, other = prefix_weights(chosen, factor), prefix_weights(rejected, factor)
    return weighted(one, other, beta=beta, gamma_beta_ratio=gamma_beta_ratio, normaliser=normaliser)


def dpo(chosen: Plans, rejected: Plans, reference_chosen: Tensor, reference_rejected: Tensor, *, beta: float) -> Losses:
    """DPO (Rafailov et al. 2023, equation 7), by the sums of log-probabilities.

    ``reference_chosen`` and ``reference_rejected``: those of the reference model for the same tokens, (B, T).
    """
    ours = beta * _sum(chosen.logps - reference_chosen, chosen.completion)
    theirs = beta * _sum(rejected.logps - reference_rejected, rejected.completion)
    return _sigmoid(ours, theirs)


def prefix_weighted_dpo(
    chosen: Plans, rejected: Plans, reference_chosen: Tensor, reference_rejected: Tensor, *, beta: float, factor: float
) -> Losses:
    """The paper's adjusted DPO (Safe-BeAl, appendix C.3): DPO with lambda on the shared actions.

    Those have the same probabilities in both plans, so that they cancel: the loss is DPO's for every lambda.
    """
    weights = [1 - (1 - factor) * plans.prefix for plans in (chosen, rejected)]
    ours = beta * _sum((chosen.logps - reference_chosen) * weights[0], chosen.completion)
    theirs = beta * _sum((rejected.logps - reference_rejected) * weights[1], rejected.completion)
    return _sigmoid(ours, theirs)


def step_dpo(
    chosen: Plans, rejected: Plans, reference_chosen: Tensor, reference_rejected: Tensor, *, beta: float
) -> Losses:
    """Step-DPO (Lai et al. 2024, equation 2): what is shared is the prompt, the first action behind it the answer."""
    ours = beta * _sum(chosen.logps - reference_chosen, chosen.first)
    theirs = beta * _sum(rejected.logps - reference_rejected, rejected.first)
    return _sigmoid(ours, theirs)


def sft(plans: Plans) -> Tensor:
    """Cross-entropy of the plans, the mean over all their tokens in the batch: a scalar."""
    return -_sum(plans.logps, plans.completion).sum() / plans.completion.sum().clamp(min=1)


def length_gap(chosen: Plans, rejected: Plans) -> Tensor:
    """|1/|y_w| - 1/|y_l||, the only way in which lambda acts in Safe-Align by |y|: worth a line in the metrics. (B,)"""
    return (1 / chosen.completion.sum(-1) - 1 / rejected.completion.sum(-1)).abs()


def _sum(values: Tensor, mask: Tensor) -> Tensor:
    return (values * mask).sum(-1)


def _sigmoid(ours: Tensor, theirs: Tensor) -> Losses:
    from torch.nn.functional import logsigmoid  # noqa: PLC0415 - as above

    return Losses(-logsigmoid(ours - theirs), ours.detach(), theirs.detach())
