"""Losses over pairs of plans, as pure functions of the log-probabilities of tokens.

Notation (docs/alignment.md): p are the tokens of the common first actions of a pair, s the rest of a plan y, including
the end of the sequence. All functions take and return torch tensors of floats; B is the number of pairs, T the number
of tokens, padded. Gradients flow through ``logps`` only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor

Normaliser = Literal["tokens", "weights"]
"""The divisor of a weighted sum of log-probabilities: the number of tokens (as in SimPO), or the sum of weights."""


class Plans(NamedTuple):
    """One side of a batch of pairs, each tensor (B, T).

    ``logps``: log-probability of each token given those before it; ``completion``: 1 for tokens of the plan, its end
    included, 0 for the prompt and for padding; ``prefix``: 1 for tokens of the common first actions of the pair;
    ``first``: 1 for tokens of the first action after them; ``weight``: the weight of a token, from the verifier
    (``weights.py``), used where ``completion`` is 1.
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
        """The reward of the chosen plan minus the reward of the rejected one."""
        return self.chosen_rewards - self.rejected_rewards


def log_probabilities(logits: Tensor, tokens: Tensor) -> Tensor:
    """Log-probabilities of tokens, in 32 bits: (.., V), (..) to (..)."""
    wide = logits.float()
    return wide.gather(-1, tokens[..., None])[..., 0] - wide.logsumexp(-1)


def prefix_weights(plans: Plans, factor: float) -> Plans:
    """The plans with weight ``factor`` (the paper's lambda) on the shared actions, and 1 on the rest."""
    return plans._replace(weight=1 - (1 - factor) * plans.prefix)


def reward(plans: Plans, beta: float, normaliser: Normaliser = "tokens") -> Tensor:
    """r(x, y) = beta / n * sum of weight * log-probability over the plan's tokens; n is |y| or the sum of weights.

    Safe-BeAl, equation 2, with lambda as the weight of the prefix; the paper does not define n. (B,)
    """
    weight = plans.weight * plans.completion
    total = weight.sum(-1) if normaliser == "weights" else plans.completion.sum(-1)
    return beta * (weight * plans.logps * plans.completion).sum(-1) / total.clamp(min=1e-9)


def weighted(
    chosen: Plans, rejected: Plans, *, beta: float, gamma_beta_ratio: float, normaliser: Normaliser = "tokens"
) -> Losses:
    """-log sigmoid(r(chosen) - r(rejected) - gamma), gamma = beta * gamma_beta_ratio.

    Weights of 1 give SimPO (Meng et al. 2024), :func:`prefix_weights` Safe-Align (Safe-BeAl, equation 3), weights from
    the verifier's regret our method.
    """
    from torch.nn.functional import logsigmoid  # noqa: PLC0415 - takes a second to load

    chosen_reward, rejected_reward = reward(chosen, beta, normaliser), reward(rejected, beta, normaliser)
    losses = -logsigmoid(chosen_reward - rejected_reward - beta * gamma_beta_ratio)
    return Losses(losses, chosen_reward.detach(), rejected_reward.detach())


def simpo(chosen: Plans, rejected: Plans, *, beta: float, gamma_beta_ratio: float) -> Losses:
    """SimPO (Meng et al. 2024, equation 6): average log-probabilities, without the weights."""
    return safe_align(chosen, rejected, beta=beta, gamma_beta_ratio=gamma_beta_ratio, factor=1.0)


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

    With |y| as normaliser lambda acts only through a difference in length: the shared prefix adds
    beta * lambda * P * (1/|y_w| - 1/|y_l|) to the margin, which is 0 for plans of equal length.
    """
    plans = prefix_weights(chosen, factor), prefix_weights(rejected, factor)
    return weighted(*plans, beta=beta, gamma_beta_ratio=gamma_beta_ratio, normaliser=normaliser)


def dpo(chosen: Plans, rejected: Plans, reference_chosen: Tensor, reference_rejected: Tensor, *, beta: float) -> Losses:
    """DPO (Rafailov et al. 2023, equation 7), by the sums of log-probabilities.

    ``reference_chosen`` and ``reference_rejected``: log-probabilities of the reference model, (B, T).
    """
    chosen_reward = beta * _sum(chosen.logps - reference_chosen, chosen.completion)
    rejected_reward = beta * _sum(rejected.logps - reference_rejected, rejected.completion)
    return _sigmoid(chosen_reward, rejected_reward)


def prefix_weighted_dpo(
    chosen: Plans, rejected: Plans, reference_chosen: Tensor, reference_rejected: Tensor, *, beta: float, factor: float
) -> Losses:
    """The paper's adjusted DPO (Safe-BeAl, appendix C.3): DPO with lambda on the shared actions.

    The shared actions have the same probabilities in both plans and cancel: the loss is DPO's for every lambda.
    """
    weights = [1 - (1 - factor) * plans.prefix for plans in (chosen, rejected)]
    chosen_reward = beta * _sum((chosen.logps - reference_chosen) * weights[0], chosen.completion)
    rejected_reward = beta * _sum((rejected.logps - reference_rejected) * weights[1], rejected.completion)
    return _sigmoid(chosen_reward, rejected_reward)


def step_dpo(
    chosen: Plans, rejected: Plans, reference_chosen: Tensor, reference_rejected: Tensor, *, beta: float
) -> Losses:
    """Step-DPO (Lai et al. 2024, equation 2): the shared actions count as prompt, only the next action as answer."""
    chosen_reward = beta * _sum(chosen.logps - reference_chosen, chosen.first)
    rejected_reward = beta * _sum(rejected.logps - reference_rejected, rejected.first)
    return _sigmoid(chosen_reward, rejected_reward)


def sft(plans: Plans) -> Tensor:
    """Cross-entropy of the plans, the mean over all their tokens in the batch: a scalar."""
    return -_sum(plans.logps, plans.completion).sum() / plans.completion.sum().clamp(min=1)


def length_gap(chosen: Plans, rejected: Plans) -> Tensor:
    """|1/|y_w| - 1/|y_l||: the only way in which lambda acts in Safe-Align with normaliser |y|. (B,)"""
    return (1 / chosen.completion.sum(-1) - 1 / rejected.completion.sum(-1)).abs()


def _sum(values: Tensor, mask: Tensor) -> Tensor:
    return (values * mask).sum(-1)


def _sigmoid(chosen_reward: Tensor, rejected_reward: Tensor) -> Losses:
    from torch.nn.functional import logsigmoid  # noqa: PLC0415 - as above

    losses = -logsigmoid(chosen_reward - rejected_reward)
    return Losses(losses, chosen_reward.detach(), rejected_reward.detach())
