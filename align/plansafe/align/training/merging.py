"""Merge an adapter into its base, as a folder of safetensors that other programs load."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from plansafe.align.files import new_folder
from plansafe.llm.models import adapter as adapters
from plansafe.llm.models.hf import folder_of_base
from plansafe.llm.models.torch_model import libraries
from plansafe.llm.models.weights import broken, folder_of


def merge(folder: str, output: str, dtype: str = "bfloat16", environment: Mapping[str, str] = os.environ) -> str:
    """Merge the adapter in ``folder`` and write model and tokenizer to the new folder ``output``; its base's name.

    The sum is computed in 32 bits and rounded once to ``dtype``. Raises
    :class:`~plansafe.llm.models.port.ModelError` and ``OSError``.
    """
    os.makedirs(os.path.dirname(os.path.abspath(output)), exist_ok=True)
    with new_folder(output) as part:
        return _merged(folder, part, dtype, environment)


def _merged(folder: str, part: str, dtype: str, environment: Mapping[str, str]) -> str:
    adapter = adapters.read_adapter(folder)
    base = adapters.base_of(adapter, environment)
    needs = libraries(threads=os.cpu_count() or 1, dtype="float32")
    source = folder_of_base(base, needs, folder_of(environment))
    options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    try:
        tokenizer = needs.transformers.AutoTokenizer.from_pretrained(source, **options)
        model = needs.transformers.AutoModelForCausalLM.from_pretrained(
            source, dtype=needs.torch.float32, use_safetensors=True, **options
        )
    except Exception as error:  # a library over files of the user: its complaints are about them
        raise broken(source, error) from error
    adapters.fits_tokenizer(adapter, tokenizer)
    if not adapter.chat_template:
        tokenizer.chat_template = None
    adapters.put_on(model, adapter, needs.torch)
    model.to(getattr(needs.torch, dtype)).save_pretrained(part)
    tokenizer.save_pretrained(part)
    return base


def next_commands(output: str) -> tuple[str, ...]:
    """The commands that convert a merged folder to GGUF (llama.cpp) and serve it (vLLM)."""
    name = os.path.basename(os.path.normpath(output))
    return (
        f"python llama.cpp/convert_hf_to_gguf.py {output} --outfile {name}.gguf --outtype q8_0",
        f"vllm serve {output} --served-model-name {name}",
    )
