"""The replay kernel: docs/language.md executed directly, with no code of the engine. Its coverage: docs/kernel.md."""

from .kernel import Finding, Judgement, Kernel, World
from .reader import KernelLimit, KernelRejects

__all__ = ["Finding", "Judgement", "Kernel", "KernelLimit", "KernelRejects", "World"]
