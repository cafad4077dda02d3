"""The replay kernel: the definitions of docs/language.md executed directly, with no code of the engine. See docs/kernel.md."""

from .judge import Finding, Judgement, Kernel
from .reader import KernelLimit, KernelRejects

__all__ = ["Finding", "Judgement", "Kernel", "KernelLimit", "KernelRejects"]
