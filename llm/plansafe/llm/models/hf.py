"""Weights run by transformers. Nothing is downloaded, no code of them is run.

``hf/PATH``: a folder of safetensors as transformers writes it, or an adapter. ``gguf/FILE``: weights of llama.cpp,
unpacked once and kept. Unpacking takes a minute and reading the result a second, so the result stays in the cache,
under the SHA-256 of the file. It is there as a whole or not at all.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Mapping

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.models.adapter import Adapter, base_of, is_adapter, read_adapter
from plansafe.llm.models.port import Model, ModelError
from plansafe.llm.models.request import canonical
from plansafe.llm.models.torch_model import Libraries, libraries, load
from plansafe.llm.models.weights import broken, checked_folder, checked_gguf, digest
from plansafe.verifier.extras import how_to_install


def open_folder(path: str, threads: int, dtype: str | None, environment: Mapping[str, str], cache_folder: str) -> Model:
    """The model in a folder, or an adapter over the base that it names.

    ``cache_folder`` is the folder of converted weights. Raises :class:`~plansafe.llm.models.port.ModelError`.
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
    if kind != "gguf":
        return path
    checked_gguf(path)
    return _converted(path, needs, cache_folder)[0]


_PART = "part-"
_STALE = 24 * 3600.0
"""Seconds after which an unfinished conversion belongs to a run that was killed."""


def open_file(path: str, threads: int, dtype: str | None, cache_folder: str) -> Model:
    """The model in a file; ``cache_folder`` is the folder of converted weights. Raises :class:`ModelError`."""
    checked_gguf(path)
    needs = libraries(threads, dtype)
    folder, sha256 = _converted(path, needs, cache_folder)
    return load(folder, f"gguf/{path}", canonical(["gguf", sha256, needs.transformers.__version__, needs.dtype]), needs)


def _converted(path: str, needs: Libraries, cache_folder: str) -> tuple[str, str]:
    """The folder of a file's weights, unpacked now if it is not there, and the file's SHA-256.

    Raises :class:`ModelError`.
    """
    sha256 = digest([path])
    folder = os.path.join(cache_folder, f"{sha256[:32]}-{needs.transformers.__version__}")
    if not os.path.isdir(folder):
        _convert(path, folder, needs)
    return folder, sha256


def _convert(path: str, folder: str, needs: Libraries) -> None:
    """Unpack a file into a folder of safetensors. Raises :class:`ModelError`."""
    parent = os.path.dirname(folder)
    part = None
    try:
        os.makedirs(parent, mode=0o700, exist_ok=True)
        _sweep(parent)
        part = tempfile.mkdtemp(prefix=_PART, dir=parent)
        _unpack(path, part, needs)
        os.rename(part, folder)
    except OSError as error:
        if not os.path.isdir(folder):  # another run was faster
            message = f"converted weights cannot be kept in {parent}: {error.strerror or error}"
            raise ModelError(
                Diagnostic(SC.NOT_WRITTEN, message, help="set SAFECHECK_CACHE to another folder"), True
            ) from error
    finally:
        if part is not None:
            shutil.rmtree(part, ignore_errors=True)


def _unpack(path: str, part: str, needs: Libraries) -> None:
    auto, (folder, name) = needs.transformers, os.path.split(os.path.abspath(path))
    try:
        tokenizer = auto.AutoTokenizer.from_pretrained(folder, gguf_file=name, local_files_only=True)
        model = auto.AutoModelForCausalLM.from_pretrained(
            folder,
            gguf_file=name,
            # Packed weights, which newer versions keep where they can, cannot be saved.
            quantization_config=auto.GgufConfig(dequantize=True) if hasattr(auto, "GgufConfig") else None,
            dtype=needs.torch.float16,
            local_files_only=True,
        )
    except ImportError as error:
        message = f"GGUF needs the packages gguf and accelerate: {how_to_install('hf')}"
        raise ModelError(
            Diagnostic(SC.MODEL_PACKAGE_MISSING, message, help="see docs/language-models.md"), True
        ) from error
    except Exception as error:  # a library over a file of the user: any of its complaints is about it
        raise broken(path, error) from error
    # It would be saved as packed otherwise.
    for name in ("hf_quantizer", "quantization_method"):
        if hasattr(model, name):
            delattr(model, name)
    model.is_quantized = False
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.save_pretrained(part)
    tokenizer.save_pretrained(part)


def _sweep(parent: str) -> None:
    """Remove what killed runs have left."""
    for name in os.listdir(parent):
        path = os.path.join(parent, name)
        if name.startswith(_PART) and time.time() - os.path.getmtime(path) > _STALE:
            shutil.rmtree(path, ignore_errors=True)
