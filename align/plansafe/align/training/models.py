"""The model of a run: a base on the disk with a new or given adapter, and the folder written at the end.

Nothing is downloaded, no code of a folder is run, and peft loads no file: an adapter's matrices are put into modules
that are made here (``llm/models/adapter.py``).

Merge an adapter into its base, as a folder of safetensors that other programs load.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, NamedTuple

from plansafe.align.config import Config
from plansafe.align.files import new_folder, write_file
from plansafe.align.tokens import ModelTokenizer
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.models import adapter as adapters
from plansafe.llm.models.adapter import Adapter
from plansafe.llm.models.hf import folder_of_base
from plansafe.llm.models.port import ModelError
from plansafe.llm.models.torch_model import Libraries, libraries
from plansafe.llm.models.weights import broken, folder_of
from plansafe.verifier.extras import how_to_install


class Base(NamedTuple):
    """A base model that can be loaded: its name, folder of safetensors and SHA-256; the adapter that continues."""

    name: str
    folder: str
    sha256: str
    adapter: Adapter | None
    tokens: ModelTokenizer
    needs: Libraries


class Trained(NamedTuple):
    """A model in memory, with the shape of its adapter (rank 0: all weights are trained)."""

    model: Any
    rank: int
    alpha: float
    modules: tuple[str, ...]


def opened(config: Config, environment: Mapping[str, str]) -> Base:
    """Find base, adapter and tokenizer, and check that they belong together. Raises :class:`ModelError`."""
    kind, _, path = config.model.partition("/")
    name, adapter = config.model, None
    if kind == "hf" and adapters.is_adapter(path):
        adapter = adapters.read_adapter(path)
        name = adapters.base_of(adapter, environment)
        if config.adapter is not None:
            raise refused(f"{config.model} is an adapter, and `adapter` names another one", "remove one of them")
    elif config.adapter is not None:
        adapter = adapters.read_adapter(config.adapter)
        adapters.fits(adapter, name)
    base_sha256 = adapters.base_sum(name) if adapter is None else adapter.base_sha256
    _check_shape(config, adapter)
    needs = libraries(config.threads, config.dtype)
    folder = folder_of_base(name, needs, folder_of(environment))
    try:
        tokenizer = needs.transformers.AutoTokenizer.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False
        )
    except Exception as error:  # a library over files of the user: its complaints are about them
        raise broken(folder, error) from error
    if tokenizer.eos_token_id is None:
        message = f"the tokenizer of {name} has no token that ends a text"
        raise ModelError(Diagnostic(SC.UNREAD_WEIGHTS, message, help="name it in tokenizer_config.json"), True)
    if adapter is not None:
        adapters.fits_tokenizer(adapter, tokenizer)
    if config.chat_template and not tokenizer.chat_template:
        raise refused(f"the tokenizer of {name} has no chat template", "remove `chat_template`")
    if config.chat_template is False or (adapter is not None and not adapter.chat_template):
        tokenizer.chat_template = None
    return Base(name, folder, base_sha256, adapter, ModelTokenizer(tokenizer), needs)


def refused(message: str, help: str | None = None) -> ModelError:
    """SC660 about a configuration that does not fit the model or the machine."""
    return ModelError(Diagnostic(SC.BAD_TRAINING_CONFIG, message, help=help), True)


def require_package(name: str, purpose: str, help: str) -> None:
    """Raise :class:`ModelError` if a package is not installed."""
    if find_spec(name) is None:
        message = f"{purpose} needs {name}, which is not installed"
        raise ModelError(Diagnostic(SC.MODEL_PACKAGE_MISSING, message, help=help), True)


def _check_shape(config: Config, adapter: Adapter | None) -> None:
    if config.load_in_4bit:
        if config.lora_r == 0:
            raise refused("`load_in_4bit` trains an adapter, but `lora_r` is 0", "remove `lora_r`")
        require_package("bitsandbytes", "`load_in_4bit`", "pip install bitsandbytes, or remove the key")
    if adapter is None:
        return
    for key, value, expected in (
        ("lora_r", config.lora_r, adapter.rank),
        ("lora_alpha", config.lora_alpha, adapter.alpha),
    ):
        if value is not None and value != expected:
            raise refused(f"`{key}` is {value:g}, but the adapter {adapter.folder} has {expected:g}", f"remove `{key}`")


def loaded(config: Config, base: Base, device: Any = None) -> Trained:
    """The model in memory, with the adapter that the run continues. Raises :class:`ModelError`.

    The base is in ``dtype`` or 4 bits, trained weights are in 32 bits. ``device``: the GPU of a 4-bit base.
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
            **_loading_options(config, base, device),
        )
    except ImportError as error:  # the kernels of an attention implementation
        message, help = " ".join(str(error).split())[:200], "change `attn_implementation`"
        raise ModelError(Diagnostic(SC.MODEL_PACKAGE_MISSING, message, help=help), True) from error
    except Exception as error:  # as above
        raise broken(base.folder, error) from error
    model.config.use_cache = False
    if whole:
        return Trained(model, 0, 0.0, ())
    rank = base.adapter.rank if base.adapter is not None else config.lora_r or 16
    alpha = base.adapter.alpha if base.adapter is not None else config.lora_alpha or 2.0 * rank
    return _with_lora(model, rank, alpha, base, config)


def _loading_options(config: Config, base: Base, device: Any) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if config.attn_implementation is not None:
        options["attn_implementation"] = config.attn_implementation
    if config.load_in_4bit:
        options["quantization_config"] = base.needs.transformers.BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_use_double_quant=True,
            bnb_4bit_compute_dtype=getattr(base.needs.torch, config.dtype),
        )
        options["device_map"] = {"": device}
    return options


def _with_lora(model: Any, rank: int, alpha: float, base: Base, config: Config) -> Trained:
    try:
        from peft import LoraConfig, get_peft_model  # noqa: PLC0415 - takes five seconds to load
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
        warnings.simplefilter("ignore")  # peft calls deprecated functions of transformers
        adapted = get_peft_model(model, shape, autocast_adapter_dtype=False)
    named = dict(adapted.named_modules())
    for module in named.values():
        if hasattr(module, "lora_A"):
            # Under autocast the matrices of 32 bits meet activations of 16 bits, so that a cast only costs memory.
            # Generation within a run (grpo) has no autocast.
            module.cast_input_dtype_enabled = config.dtype == "float32" or config.method == "grpo"
            module.lora_A.float()
            module.lora_B.float()
    if adapter is not None:
        _copy_matrices(adapter, named, torch)
    return Trained(adapted, rank, alpha, tuple(sorted(adapted.peft_config["default"].target_modules)))


def _copy_matrices(adapter: Adapter, named: Mapping[str, Any], torch: Any) -> None:
    matrices = adapters.tensors_of(adapter)
    slots = {
        name.removeprefix("base_model.model."): module for name, module in named.items() if hasattr(module, "lora_A")
    }
    if set(slots) != set(matrices):
        odd = sorted(set(slots) ^ set(matrices))[0]
        message = f"the adapter {adapter.folder} does not fit its base: only one of them has {odd[:80]!a}"
        raise ModelError(Diagnostic(SC.UNREAD_WEIGHTS, message), True)
    with torch.no_grad():
        for name, (low, high) in matrices.items():
            for side, tensor in ((slots[name].lora_A, low), (slots[name].lora_B, high)):
                weight = side["default"].weight
                if weight.shape != tensor.shape:
                    message = f"the adapter {adapter.folder} does not fit its base: {name[:80]!a} has another shape"
                    raise ModelError(Diagnostic(SC.UNREAD_WEIGHTS, message), True)
                weight.copy_(tensor)


def parameters(module: Any) -> dict[str, Any]:
    """The trained weights by name, sorted."""
    return {name: weight for name, weight in sorted(module.named_parameters()) if weight.requires_grad}


def write_trained(folder: str, config: Config, base: Base, trained: Trained, state: Mapping[str, Any]) -> str:
    """Write the adapter or the whole model as a folder, atomically; its path. Raises ``OSError``.

    ``state``: the trained weights by their names in :attr:`Trained.model`.
    """
    target = os.path.join(folder, "adapter" if trained.rank else "model")
    dtype = getattr(base.needs.torch, config.dtype)
    tensors = {name: weight.detach().to("cpu", dtype).contiguous() for name, weight in state.items()}
    with new_folder(target) as part:
        if trained.rank:
            _write_adapter(part, config, base, trained, tensors)
        else:
            model = trained.model
            model.config.use_cache, model.config.dtype = True, dtype
            buffers = dict(model.named_buffers())
            kept = {name: tensor for name, tensor in model.state_dict().items() if name in buffers}
            model.save_pretrained(part, state_dict={**kept, **tensors})
            base.tokens.inner.save_pretrained(part)
    return target


def _write_adapter(part: str, config: Config, base: Base, trained: Trained, tensors: Mapping[str, Any]) -> None:
    from safetensors.torch import save_file  # noqa: PLC0415 - comes with torch's extra

    weights = os.path.join(part, adapters.WEIGHTS)
    save_file({name.replace(".default.", "."): tensor for name, tensor in tensors.items()}, weights, {"format": "pt"})
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
    kind, _, path = base.name.partition("/")
    identity = {
        "version": adapters.VERSION,
        "base": f"{kind}/{os.path.abspath(path)}",
        "base_sha256": base.sha256,
        "tokenizer_sha256": adapters.tokenizer_sum(base.tokens.inner),
        "weights_sha256": adapters.file_sum(weights),
        "method": config.method,
        "steps": config.max_steps,
        "chat_template": base.tokens.chat,
    }
    for name, value in ((adapters.CONFIG, shape), (adapters.IDENTITY, identity)):
        write_file(os.path.join(part, name), [json.dumps(value, indent=2, allow_nan=False) + "\n"])


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
