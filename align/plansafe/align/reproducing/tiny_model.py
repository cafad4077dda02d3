"""A model that is trained from nothing within a minute: a small Llama with random weights, and words as its tokens.

It is not a language model. It learns the tasks of a few families, so that SFT, preference losses and evaluation can be
tested on a machine without weights.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import Any

from plansafe.align.files import new_folder

PATTERN = r"\([^\s()]+|\)\n|\n?[ ]?[^\s():,=]+|[ ]?[():,=]|\n"
"""A token: ``(`` with the action, ``)`` with the newline after it, or a name with the character before it."""
PADDING, END, UNKNOWN = "<pad>", "<end>", "<unknown>"
LAYERS, WIDTH, HEAD = 3, 128, 32
MOST_PLACES = 512
_FIRST_SPREAD = 0.05
"""Of the random weights: more than Llama's 0.02, which is meant for wider ones."""
_ROTATION = 1000.0


def pieces(text: str) -> list[str]:
    """The tokens of a text. Nothing is lost: joined they are the text, but for runs of blanks."""
    return re.findall(PATTERN, text)


def vocabulary(texts: Iterable[str]) -> list[str]:
    """All tokens of some texts, sorted, after the special tokens."""
    return [PADDING, END, UNKNOWN, *sorted({piece for text in texts for piece in pieces(text)})]


def make(folder: str, words: Sequence[str], seed: int) -> None:
    """Write weights and tokenizer as a folder of transformers, unless it exists. Raises ``OSError``."""
    if os.path.isdir(folder):
        return
    import torch  # noqa: PLC0415 - a second to load, and only where a model is made
    from transformers import LlamaConfig, LlamaForCausalLM  # noqa: PLC0415
    from transformers.utils.logging import disable_progress_bar  # noqa: PLC0415

    disable_progress_bar()
    torch.manual_seed(seed)
    shape = LlamaConfig(
        vocab_size=len(words),
        hidden_size=WIDTH,
        intermediate_size=2 * WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=WIDTH // HEAD,
        num_key_value_heads=WIDTH // HEAD,
        max_position_embeddings=MOST_PLACES,
        tie_word_embeddings=True,
        initializer_range=_FIRST_SPREAD,
        rope_parameters={"rope_type": "default", "rope_theta": _ROTATION},
        bos_token_id=None,
        eos_token_id=words.index(END),
        pad_token_id=words.index(PADDING),
    )
    os.makedirs(os.path.dirname(os.path.abspath(folder)), exist_ok=True)
    with new_folder(folder) as part:
        LlamaForCausalLM(shape).save_pretrained(part)
        _tokenizer(words).save_pretrained(part)


def _tokenizer(words: Sequence[str]) -> Any:
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers  # noqa: PLC0415 - comes with transformers
    from transformers import PreTrainedTokenizerFast  # noqa: PLC0415

    inner = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token=UNKNOWN))
    inner.pre_tokenizer = pre_tokenizers.Split(Regex(PATTERN), "isolated")
    inner.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(tokenizer_object=inner, pad_token=PADDING, eos_token=END, unk_token=UNKNOWN)
