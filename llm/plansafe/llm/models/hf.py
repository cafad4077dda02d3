"""``hf/PATH``: a folder of safetensors as transformers writes it, or an adapter.

Nothing is downloaded, no code of it is run.
"""

from __future__ import annotations

from collections.abc import Mapping

from plansafe.llm.models import gguf
from plansafe.llm.models.adapter import Adapter, base_of, is_adapter, read_adapter
from plansafe.llm.models.port import Model
from plansafe.llm.models.request import canonical
from plansafe.llm.models.torch_model import Libraries, libraries, load
from plansafe.llm.models.weights import checked_folder, digest


def open_folder(path: str, threads: int, dtype: str | None, environment: Mapping[str, str], cache_folder: str) -> Model:
    """The model in a folder, or an adapter over the base that it names.

    ``kept`` is the folder of converted weights. Raises :class:`~plansafe.llm.models.port.ModelError`.
    """
    if is_adapter(path):
        return _adapted(read_adapter(path), threads, dtype, environment, cache_folder)
    files = checked_folder(path)
    needs = libraries(threads, dtype)
    identity = canonical(["hf", digest(files), needs.transformers.__version__, needs.dtype])
    return load(path, f"hf/{path}", identity, needs)


def _adapted(
    adapter: Adapter, threads: int, dtype: str | None, environment: Mapping[str, str], cache_folder: str
) -> Model:
    base = base_of(adapter, environment)
    needs = libraries(threads, dtype)
    folder = folder_of_base(base, needs, cache_folder)
    hashes = [adapter.base_sha256, adapter.tokenizer_sha256, adapter.weights_sha256]
    identity = canonical(["adapter", *hashes, needs.transformers.__version__, needs.dtype])
    return load(folder, f"hf/{adapter.folder}", identity, needs, adapter)


def folder_of_base(base: str, needs: Libraries, cache_folder: str) -> str:
    """The folder of safetensors of ``hf/FOLDER`` or ``gguf/FILE``, which is unpacked. Raises :class:`ModelError`."""
    kind, _, path = base.partition("/")
    return gguf.converted(path, needs, cache_folder) if kind == "gguf" else path
