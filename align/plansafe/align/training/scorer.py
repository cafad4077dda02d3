"""Log-probabilities of the tokens of plans, and of no others.

A vocabulary of 50,000 makes logits the largest part of a small model's work, and prompts have most of the tokens: the
last layer sees the positions alone from which a token of a plan is predicted.
"""

from __future__ import annotations

from typing import Any

_BESIDE = ("logits_scaling", "final_logit_softcapping", "logit_scale", "lm_head_multiplier")
"""Configurations of models whose forward pass does more with logits than the last layer."""


def scorer(model: Any) -> Any:
    """A causal language model, adapted or not, as one module, so that it can be wrapped for several processes.

    The module takes tokens (B, T), their attention (B, T) and which of all but the first are wanted (B, T - 1); it
    gives the log-probabilities of these given those before them, (B, T - 1), 0 where they are not wanted.
    """
    from torch import nn  # noqa: PLC0415 - a second to load, and only where a model is trained

    class Scorer(nn.Module):  # type: ignore[misc] # the core is checked without torch
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, tokens: Any, attention: Any, wanted: Any) -> Any:
            chosen = wanted > 0
            targets = tokens[:, 1:][chosen]
            wide = _logits(self.model, tokens, attention, chosen).float()
            logps = wide.gather(-1, targets[:, None])[:, 0] - wide.logsumexp(-1)
            return logps.new_zeros(wanted.shape).masked_scatter(chosen, logps)

    return Scorer()


def _logits(model: Any, tokens: Any, attention: Any, chosen: Any) -> Any:
    """The logits behind the chosen of all positions but the last, (N, V)."""
    causal = model.get_base_model() if hasattr(model, "get_base_model") else model
    if any([getattr(causal.config, name, None) not in (None, 1.0) for name in _BESIDE]):
        return causal(input_ids=tokens, attention_mask=attention, use_cache=False).logits[:, :-1][chosen]
    hidden = causal.base_model(input_ids=tokens, attention_mask=attention, use_cache=False)[0]
    return causal.get_output_embeddings()(hidden[:, :-1][chosen])
