"""Adapters (LoRA): small weights over a base model, which the folder identifies by its SHA-256.

A folder is as peft writes it, ``adapter_config.json`` and ``adapter_model.safetensors``, with ``plansafe.json``
for: the base, the tokenizer and the sum of the weights. Of peft's configuration rank, scale and modules are read and
nothing else; what would need code of its own is refused, and no library loads the folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.metrics.fields import BadField, only, read_line, text, whole
from plansafe.llm.models.port import ModelError
from plansafe.llm.models.request import canonical
from plansafe.llm.models.weights import PICKLES, broken, checked_folder, checked_gguf, digest, opened

CONFIG, WEIGHTS, IDENTITY = "adapter_config.json", "adapter_model.safetensors", "plansafe.json"
VERSION = 1
BASE = "SAFECHECK_BASE"
"""The environment variable with the folder of the base, if it is not the folder of the training."""
_MOST_BYTES = 1 << 20
_SUM = re.compile(r"[0-9a-f]{64}\Z")
_FIELDS = ("version", "base", "base_sha256", "tokenizer_sha256", "weights_sha256", "method", "steps", "chat_template")
_PLAIN = {"bias": ("none",), "use_dora": (False,), "use_rslora": (False,), "fan_in_fan_out": (False,)}
"""What of peft's configuration changes what the weights mean, and the values that we know."""
_ABSENT = (
    "layer_replication", "modules_to_save", "rank_pattern", "alpha_pattern", "layers_to_transform",
    "trainable_token_indices", "target_parameters", "auto_mapping", "megatron_config", "alora_invocation_tokens",
    "arrow_config"
)  # fmt: skip
_PREFIX = "base_model.model."
_PROBES = ("(take cup-1 kitchen table-2)\n", "Plan:\n", " a  b\t\n\n", "Ünïcode 東京 \U0001f525", "0123456789 x_y-z")


class Adapter(NamedTuple):
    """An adapter: its folder, its base and its shape.

    ``chat_template``: whether it was trained with the chat template of its tokenizer, if the tokenizer has one.
    """

    folder: str
    base: str
    base_sha256: str
    tokenizer_sha256: str
    weights_sha256: str
    method: str
    steps: int
    rank: int
    alpha: float
    modules: tuple[str, ...]
    chat_template: bool = True

    @property
    def weights(self) -> str:
        """The file of its weights."""
        return os.path.join(self.folder, WEIGHTS)


def is_adapter(path: str) -> bool:
    """Whether a folder claims to be an adapter."""
    return os.path.isfile(os.path.join(path, CONFIG))


def read_adapter(folder: str) -> Adapter:
    """Look at an adapter, its weights summed up. Raises :class:`ModelError` for one that is not whole or not plain."""
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise _bad(SC.NO_WEIGHTS, folder, error.strerror or "cannot be read") from None
    pickles = [name for name in names if name.lower().endswith(PICKLES)]
    if pickles:
        raise _bad(SC.UNREAD_WEIGHTS, folder, f"{pickles[0]} can run code when it is loaded", "remove it")
    for name in (CONFIG, WEIGHTS, IDENTITY):
        if name not in names:
            raise _bad(SC.NO_WEIGHTS, folder, f"{name} is missing", "name a folder that `safecheck align` wrote")
    try:
        identity, shape = _object(folder, IDENTITY), _object(folder, CONFIG)
        only(identity, _FIELDS)
        if identity.get("version") != VERSION:
            raise BadField("version", f"is not {VERSION}")
        rank, alpha, modules = _shape(shape, CONFIG)
        adapter = Adapter(
            folder=folder,
            base=text(identity, "base"),
            base_sha256=_sum(identity, "base_sha256"),
            tokenizer_sha256=_sum(identity, "tokenizer_sha256"),
            weights_sha256=_sum(identity, "weights_sha256"),
            method=text(identity, "method"),
            steps=whole(identity, "steps"),
            rank=rank,
            alpha=alpha,
            modules=modules,
            chat_template=_chat_template(identity),
        )
    except _Bad as error:
        raise _bad(SC.UNREAD_WEIGHTS, folder, f"{error.name}: {error}") from None
    except BadField as error:
        raise _bad(SC.UNREAD_WEIGHTS, folder, f"{IDENTITY}: {error}") from None
    try:
        total = file_sum(adapter.weights)
    except OSError as error:
        raise _bad(SC.UNREAD_WEIGHTS, folder, f"{WEIGHTS}: {error.strerror}") from None
    if total != adapter.weights_sha256:
        reason = f"{WEIGHTS} does not match {IDENTITY}: it was changed or is incomplete"
        raise _bad(SC.UNREAD_WEIGHTS, folder, reason, "copy the folder again")
    return adapter


def base_of(adapter: Adapter, environment: Mapping[str, str]) -> str:
    """The base of an adapter, ``hf/FOLDER`` or ``gguf/FILE``, its weights summed up. Raises :class:`ModelError`."""
    name = environment.get(BASE) or adapter.base
    fits(adapter, name)
    return name


def fits(adapter: Adapter, base: str) -> None:
    """Check that a base is the base of the adapter. Raises :class:`ModelError`."""
    if base_sum(base) != adapter.base_sha256:
        reason = f"it was trained with other weights than the weights of {base}"
        help = f"its base was {adapter.base}; {BASE} gives the present path"
        raise _bad(SC.UNREAD_WEIGHTS, adapter.folder, reason, help)


def fits_tokenizer(adapter: Adapter, tokenizer: Any) -> None:
    """Check that a tokenizer is the tokenizer of the adapter. Raises :class:`ModelError`."""
    if tokenizer_sum(tokenizer) != adapter.tokenizer_sha256:
        reason = "it was trained with another tokenizer"
        raise _bad(SC.UNREAD_WEIGHTS, adapter.folder, reason, f"its base was {adapter.base}")


def base_sum(base: str) -> str:
    """The SHA-256 of a base model: of its weights and configuration. Raises :class:`ModelError`."""
    kind, _, path = base.partition("/")
    if kind == "gguf":
        checked_gguf(path)
        return file_sum(path)
    if kind != "hf" or not path:
        message = f"{base[:120]!a} is not a base of an adapter"
        raise ModelError(Diagnostic(SC.UNKNOWN_MODEL, message, help="write hf/FOLDER or gguf/FILE"), True)
    files = checked_folder(path)
    return digest([f for f in files if f.endswith(".safetensors") or os.path.basename(f) == "config.json"])


def file_sum(path: str) -> str:
    """The SHA-256 of a file's bytes."""
    import hashlib  # noqa: PLC0415 - where weights are read

    with opened(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def tokenizer_sum(tokenizer: Any) -> str:
    """The SHA-256 of a tokenizer: its vocabulary, its ends, and how it cuts some texts.

    Its files are not compared: libraries write the same tokenizer in many ways.
    """
    import hashlib  # noqa: PLC0415 - as above

    vocabulary = sorted([(str(word), int(number)) for word, number in tokenizer.get_vocab().items()])
    cut = [list(tokenizer.encode(probe, add_special_tokens=False)) for probe in _PROBES]
    description = canonical([vocabulary, tokenizer.eos_token_id, tokenizer.bos_token_id, cut])
    return hashlib.sha256(description.encode("ascii")).hexdigest()


def tensors_of(adapter: Adapter) -> dict[str, tuple[Any, Any]]:
    """The matrices A (rank, in) and B (out, rank) of each module, by its name in the base model.

    Raises :class:`ModelError` for a file that holds something else.
    """
    from safetensors import SafetensorError  # noqa: PLC0415 - comes with torch's extra
    from safetensors.torch import load_file  # noqa: PLC0415

    try:
        loaded = load_file(adapter.weights)
    except (SafetensorError, OSError, ValueError) as error:
        raise broken(adapter.folder, error) from error
    tensors_by_module: dict[str, dict[str, Any]] = {}
    for name, tensor in loaded.items():
        module, dot, side = name.removesuffix(".weight").rpartition(".")
        fits = module.startswith(_PREFIX) and dot and side in ("lora_A", "lora_B") and name.endswith(".weight")
        if not fits or tensor.dim() != 2 or tensor.shape[side == "lora_B"] != adapter.rank:
            raise _bad(SC.UNREAD_WEIGHTS, adapter.folder, f"{name[:80]!a} is not a matrix of rank {adapter.rank}")
        if not bool(tensor.isfinite().all()):
            raise _bad(SC.UNREAD_WEIGHTS, adapter.folder, f"{name[:80]!a} contains NaN or infinity")
        tensors_by_module.setdefault(module.removeprefix(_PREFIX), {})[side] = tensor
    for module, sides in tensors_by_module.items():
        if len(sides) != 2:
            raise _bad(SC.UNREAD_WEIGHTS, adapter.folder, f"{module[:80]!a} has only one of two matrices")
    return {module: (sides["lora_A"], sides["lora_B"]) for module, sides in tensors_by_module.items()}


def put_on(model: Any, adapter: Adapter, torch: Any) -> None:
    """Let a base model compute with an adapter. Raises :class:`ModelError` where they do not fit.

    In 32 bits the adapter becomes part of the weights, which costs nothing later; in 16 it would be lost in their
    rounding, and is added to what the modules give.
    """
    modules = dict(model.named_modules())
    scale = adapter.alpha / adapter.rank
    for name, (low, high) in tensors_of(adapter).items():
        module = modules.get(name)
        weight = getattr(module, "weight", None)
        if weight is None or tuple(weight.shape) != (high.shape[0], low.shape[1]):
            raise _bad(SC.UNREAD_WEIGHTS, adapter.folder, f"the base has no module {name[:80]!a} of that shape")
        if weight.dtype == torch.float32:
            with torch.no_grad():
                weight += scale * (high.to(weight) @ low.to(weight))
        else:
            _add_low_rank_output(module, low.to(weight), scale * high.to(weight), torch.nn.functional.linear)


def _add_low_rank_output(module: Any, low: Any, high: Any, linear: Any) -> None:
    module.register_forward_hook(lambda _, given, out: out + linear(linear(given[0], low), high))


class _Bad(Exception):
    def __init__(self, name: str, reason: str) -> None:
        super().__init__(reason)
        self.name = name


def _object(folder: str, name: str) -> dict[str, Any]:
    path = os.path.join(folder, name)
    try:
        with opened(path) as file:
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise _Bad(name, f"longer than {_MOST_BYTES:,} bytes")
        return read_line(data)
    except OSError as error:
        raise _Bad(name, error.strerror or "cannot be read") from None
    except BadField as error:
        raise _Bad(name, str(error)) from None


def _sum(record: Mapping[str, Any], field: str) -> str:
    digest = text(record, field)
    if not _SUM.match(digest):
        raise BadField(field, "is not a SHA-256")
    return digest


def _chat_template(record: Mapping[str, Any]) -> bool:
    value = record.get("chat_template", True)
    if not isinstance(value, bool):
        raise BadField("chat_template", "is neither true nor false")
    return value


def _shape(config: Mapping[str, Any], name: str) -> tuple[int, float, tuple[str, ...]]:
    """Rank, scale and modules. Raises :class:`_Bad` for a kind of adapter that is not plain LoRA."""
    if config.get("peft_type") != "LORA":
        raise _Bad(name, "it is not a LoRA adapter")
    for key, expected in _PLAIN.items():
        if config.get(key, expected[0]) not in expected:
            raise _Bad(name, f"unknown key `{key}`")
    for key in _ABSENT:
        if config.get(key):
            raise _Bad(name, f"unknown key `{key}`")
    rank, alpha, modules = config.get("r"), config.get("lora_alpha"), config.get("target_modules")
    if isinstance(rank, bool) or not isinstance(rank, int) or not 1 <= rank <= 4096:
        raise _Bad(name, "`r` is not a valid rank")
    if isinstance(alpha, bool) or not isinstance(alpha, (int, float)) or not 0 < alpha <= 1e6:
        raise _Bad(name, "`lora_alpha` is not a valid scale")
    if not isinstance(modules, list) or not modules or not all([isinstance(m, str) and m for m in modules]):
        raise _Bad(name, "`target_modules` is not a list of names")
    return rank, float(alpha), tuple(sorted(modules))


def _bad(code: str, folder: str, reason: str, help: str | None = None) -> ModelError:
    return ModelError(Diagnostic(code, f"the adapter {folder} cannot be used: {reason}", help=help), fatal=True)
