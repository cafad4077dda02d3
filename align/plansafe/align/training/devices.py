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
        message = f"training runs on accelerate, which is not installed: {how_to_install('align')}"
        raise ModelError(Diagnostic(SC.MODEL_PACKAGE_MISSING, message, help="see docs/training.md"), True) from error
    # Numbers are those of the configuration, in one place (`autocast`).
    return Accelerator(mixed_precision="no")


def autocast(config: Config, device: Any) -> Any:
    """The context in which forward passes are computed in the numbers of ``dtype``."""
    import torch  # noqa: PLC0415 - a second to load, and only where a model is trained

    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=config.dtype == "bfloat16")
