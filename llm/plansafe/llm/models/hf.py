"""``hf/PATH``: a folder of safetensors as transformers writes it. Nothing is downloaded, no code of it is run."""

from __future__ import annotations

from plansafe.llm.models.port import Model
from plansafe.llm.models.request import canonical
from plansafe.llm.models.torch_model import TorchModel, libraries
from plansafe.llm.models.weights import checked_folder, digest


def open_folder(path: str, threads: int, dtype: str | None) -> Model:
    """The model in a folder. Raises :class:`~plansafe.llm.models.port.ModelError`."""
    files = checked_folder(path)
    needs = libraries(threads, dtype)
    identity = canonical(["hf", digest(files), needs.transformers.__version__, needs.dtype])
    return TorchModel(path, f"hf/{path}", identity, needs)
