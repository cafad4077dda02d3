"""The model of a run: a base from the disk with a new or given adapter, and what is written of it at the end.

Nothing is downloaded, no code of a folder is run, and peft reads none: an adapter's matrices are put into modules that
are made here (``llm/models/adapter.py``).
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from plansafe.align.config import Config
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.models import adapter as adapters
from plansafe.llm.models.adapter import Adapter
from plansafe.llm.models.hf import folder_of_base
from plansafe.llm.models.port import ModelError
from plansafe.llm.models.torch_model import Libraries, libraries
from plansafe.llm.models.weights import broken, folder_of
from plansafe.verifier.extras import how_to_install

_SHORT, _MOST_KNOWN = 400, 200_000


class Tokens:
    """The tokenizer of a model, as ``tokens.py`` and ``examples.py`` want it. Lines that come again are remembered."""

    def __init__(self, tokenizer: Any) -> None:
        self.inner = tokenizer
        self._known: dict[str, list[int]] = {}
        marks = tokenizer.encode("a")
        self._begin = marks[:1] if marks and marks[0] == tokenizer.bos_token_id else []

    @property
    def end(self) -> int:
        """The token that ends a sequence."""
        return int(self.inner.eos_token_id)

    def encode(self, text: str) -> list[int]:
        """The tokens of a text, without marks for its beginning or end."""
        found = self._known.get(text)
        if found is None:
            found = list(self.inner.encode(text, add_special_tokens=False))
            if len(text) <= _SHORT and len(self._known) < _MOST_KNOWN:
                self._known[text] = found
        return list(found)

    def prompt(self, text: str) -> list[int]:
        """The tokens of a prompt, behind the mark of the beginning where the tokenizer puts one."""
        return self._begin + self.encode(text)


class Base(NamedTuple):
    """A base model that can be loaded: its name, its folder of safetensors, its sum; the adapter to begin with."""

    name: str
    folder: str
    sha256: str
    adapter: Adapter | None
    tokens: Tokens
    needs: Libraries


class Trained(NamedTuple):
    """A model in memory whose trainable weights are known; with the shape of its adapter, if it has one."""

    model: Any
    rank: int
    alpha: float
    modules: tuple[str, ...]


def opened(config: Config, environment: Mapping[str, str]) -> Base:
    """Find base, adapter and tokenizer, and see that they belong together. Raises :class:`ModelError`."""
    kind, _, path = config.model.partition("/")
    name, adapter = config.model, None
    if kind == "hf" and adapters.is_adapter(path):
        adapter = adapters.read_adapter(path)
        name = adapters.base_of(adapter, environment)
        if config.adapter is not None:
            message = f"{config.model} is an adapter, and `adapter` names another one"
            raise ModelError(Diagnostic(SC.BAD_TRAINING_CONFIG, message, help="remove one of them"), True)
    elif config.adapter is not None:
        adapter = adapters.read_adapter(config.adapter)
        adapters.fits(adapter, name)
    total = adapters.base_sum(name) if adapter is None else adapter.base_sha256
    _fits_shape(config, adapter)
    needs = libraries(config.threads, config.dtype)
    folder = folder_of_base(name, needs, folder_of(environment))
    try:
        tokenizer = needs.transformers.AutoTokenizer.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False
        )
    except Exception as error:  # a library over files of the user: any of its complaints is about them
        raise broken(folder, error) from error
    if tokenizer.eos_token_id is None:
        message = f"the tokenizer of {name} has no token that ends a text"
        raise ModelError(Diagnostic(SC.UNREAD_WEIGHTS, message, help="name it in tokenizer_config.json"), True)
    if adapter is not None:
        adapters.fits_tokenizer(adapter, tokenizer)
    return Base(name, folder, total, adapter, Tokens(tokenizer), needs)


def _fits_shape(config: Config, adapter: Adapter | None) -> None:
    if adapter is None:
        return
    for key, wanted, has in (
        ("lora_r", config.lora_r, adapter.rank),
        ("lora_alpha", config.lora_alpha, adapter.alpha),
    ):
        if wanted is not None and wanted != has:
            message = f"`{key}` is {wanted:g}, but the adapter {adapter.folder} has {has:g}"
            raise ModelError(Diagnostic(SC.BAD_TRAINING_CONFIG, message, help=f"remove `{key}`"), True)


def loaded(config: Config, base: Base) -> Trained:
    """The model in memory, with the adapter that it begins with. Raises :class:`ModelError`.

    The base is in the numbers of ``dtype``, what is trained in 32 bits.
    """
    torch = base.needs.torch
    whole = config.lora_r == 0
    try:
        model = base.needs.transformers.AutoModelForCausalLM.from_pretrained(
            base.folder,
            dtype=torch.float32 if whole else getattr(torch, config.dtype),
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
        )
    except Exception as error:  # as above
        raise broken(base.folder, error) from error
    model.config.use_cache = False
    if whole:
        found = Trained(model, 0, 0.0, ())
    else:
        rank = base.adapter.rank if base.adapter is not None else config.lora_r or 16
        alpha = base.adapter.alpha if base.adapter is not None else config.lora_alpha or 2.0 * rank
        found = _with_lora(model, rank, alpha, base, config)
    if config.gradient_checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return found


def _with_lora(model: Any, rank: int, alpha: float, base: Base, config: Config) -> Trained:
    try:
        from peft import LoraConfig, get_peft_model  # noqa: PLC0415 - five seconds, and for training alone
    except ImportError as error:
        message = f"LoRA needs peft, which is not installed: {how_to_install('align')}"
        raise ModelError(Diagnostic(SC.MODEL_PACKAGE_MISSING, message, help="see docs/alignment.md"), True) from error
    torch, adapter = base.needs.torch, base.adapter
    torch.manual_seed(config.seed)
    modules: str | list[str] = "all-linear" if adapter is None else list(adapter.modules)
    shape = LoraConfig(
        r=rank, lora_alpha=alpha, lora_dropout=0.0, bias="none", target_modules=modules, task_type="CAUSAL_LM"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # peft asks transformers in a way that is going to change
        made = get_peft_model(model, shape, autocast_adapter_dtype=False)
    named = dict(made.named_modules())
    for module in named.values():
        if hasattr(module, "lora_A"):
            # Under autocast the matrices of 32 bits meet activations of 16, and need no copies of them in 32.
            module.cast_input_dtype_enabled = config.dtype == "float32"
            module.lora_A.float()
            module.lora_B.float()
    if adapter is not None:
        _put(adapter, named, torch)
    found = made.peft_config["default"].target_modules
    return Trained(made, rank, alpha, tuple(sorted(found)))


def _put(adapter: Adapter, named: Mapping[str, Any], torch: Any) -> None:
    given = adapters.tensors_of(adapter)
    slots = {
        name.removeprefix("base_model.model."): module for name, module in named.items() if hasattr(module, "lora_A")
    }
    if set(slots) != set(given):
        odd = sorted(set(slots) ^ set(given))[0]
        message = f"the adapter {adapter.folder} does not fit its base: only one of them has {odd[:80]!a}"
        raise ModelError(Diagnostic(SC.UNREAD_WEIGHTS, message), True)
    with torch.no_grad():
        for name, (low, high) in given.items():
            for side, tensor in ((slots[name].lora_A, low), (slots[name].lora_B, high)):
                weight = side["default"].weight
                if weight.shape != tensor.shape:
                    message = f"the adapter {adapter.folder} does not fit its base: {name[:80]!a} has another shape"
                    raise ModelError(Diagnostic(SC.UNREAD_WEIGHTS, message), True)
                weight.copy_(tensor)


def parameters(module: Any) -> dict[str, Any]:
    """What is trained, by name, in a fixed order."""
    return {name: one for name, one in sorted(module.named_parameters()) if one.requires_grad}


def written(folder: str, config: Config, base: Base, trained: Trained, state: Mapping[str, Any]) -> str:
    """Write the adapter (or the whole model) as a folder that is there as a whole or not at all; its path.

    ``state``: the trained weights by their names in :attr:`Trained.model`. Raises ``OSError``.
    """
    target = os.path.join(folder, "adapter" if trained.rank else "model")
    part = tempfile.mkdtemp(prefix=".part-", dir=folder)
    try:
        os.chmod(part, 0o755)
        dtype = getattr(base.needs.torch, config.dtype)
        tensors = {name: one.detach().to("cpu", dtype).contiguous() for name, one in state.items()}
        if trained.rank:
            _write_adapter(part, config, base, trained, tensors)
        else:
            model = trained.model
            model.config.use_cache, model.config.dtype = True, dtype
            buffers = dict(model.named_buffers())
            kept = {name: one for name, one in model.state_dict().items() if name in buffers}
            model.save_pretrained(part, state_dict={**kept, **tensors})
            base.tokens.inner.save_pretrained(part)
        for name in os.listdir(part):
            _synced(os.path.join(part, name))
        shutil.rmtree(target, ignore_errors=True)
        os.rename(part, target)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return target


def _write_adapter(part: str, config: Config, base: Base, trained: Trained, tensors: Mapping[str, Any]) -> None:
    from safetensors.torch import save_file  # noqa: PLC0415 - comes with torch's extra

    weights = os.path.join(part, adapters.WEIGHTS)
    save_file({name.replace(".default.", "."): one for name, one in tensors.items()}, weights, {"format": "pt"})
    shape = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": base.name.partition("/")[2],
        "r": trained.rank,
        "lora_alpha": trained.alpha,
        "lora_dropout": 0.0,
        "bias": "none",
        "target_modules": list(trained.modules),
        "inference_mode": True,
    }
    identity = {
        "version": adapters.VERSION,
        "base": _absolute(base.name),
        "base_sha256": base.sha256,
        "tokenizer_sha256": adapters.tokenizer_sum(base.tokens.inner),
        "weights_sha256": adapters.file_sum(weights),
        "method": config.method,
        "steps": config.max_steps,
    }
    _write_json(os.path.join(part, adapters.CONFIG), shape)
    _write_json(os.path.join(part, adapters.IDENTITY), identity)


def _absolute(name: str) -> str:
    kind, _, path = name.partition("/")
    return f"{kind}/{os.path.abspath(path)}"


def _write_json(path: str, value: Mapping[str, Any] | Sequence[Any]) -> None:
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(json.dumps(value, indent=2, allow_nan=False) + "\n")


def _synced(path: str) -> None:
    with open(path, "rb") as file:
        os.fsync(file.fileno())
