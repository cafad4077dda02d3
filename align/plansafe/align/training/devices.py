"""Where a model is trained: accelerate places it on the CPU, a GPU, or several processes by its own configuration."""

from __future__ import annotations

from typing import Any

from plansafe.align.config import Config
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.models.port import ModelError
from plansafe.verifier.extras import how_to_install


def accelerator() -> Any:
    """Accelerate's view of this process: ``accelerate launch`` and its configuration decide. Raises ModelError."""
    try:
        from accelerate import Accelerator  # noqa: PLC0415 - seconds, and for training alone
    except ImportError as error:
        message = f"training needs accelerate, which is not installed: {how_to_install('align')}"
        raise ModelError(Diagnostic(SC.MODEL_PACKAGE_MISSING, message, help="see docs/alignment.md"), True) from error
    import torch  # noqa: PLC0415 - as above

    # On CPUs alone accelerate looks for other processes only if it is told so. Numbers are chosen in `autocast`.
    alone = not (torch.cuda.is_available() or torch.backends.mps.is_available())
    found = Accelerator(cpu=alone or None, mixed_precision="no")
    if str(found.distributed_type).endswith(("FSDP", "DEEPSPEED", "MEGATRON_LM")) and not found.is_fsdp2:
        message = "only version 2 of FSDP can split models among processes"
        raise ModelError(Diagnostic(SC.BAD_TRAINING_CONFIG, message, help="set `fsdp_version: 2` for accelerate"), True)
    return found


def whole(tensor: Any) -> Any:
    """A tensor without cuts: of one that is spread over processes, which all have to ask, the whole."""
    return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor


def cut_like(tensor: Any, whole: Any) -> Any:
    """This process's share of a whole tensor that is to be spread like another, or the whole, on its device."""
    if not hasattr(tensor, "full_tensor"):
        return whole.to(tensor.device)
    from torch.distributed.tensor import distribute_tensor  # noqa: PLC0415 - for several processes alone

    return distribute_tensor(whole.to(tensor.device_mesh.device_type), tensor.device_mesh, tensor.placements)


def autocast(config: Config, device: Any) -> Any:
    """The context in which forward passes are computed in the numbers of ``dtype``."""
    import torch  # noqa: PLC0415 - a second to load, and only where a model is trained

    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=config.dtype == "bfloat16")
