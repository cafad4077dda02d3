"""The replay kernel: docs/language.md executed directly, with no code of the engine. Its coverage: README.md."""

from .judgement import Finding
from .kernel import Judgement, Kernel
from .plan import World
from .reader import KernelLimit, KernelRejects

__all__ = ["Finding", "Judgement", "Kernel", "KernelLimit", "KernelRejects", "World"]
