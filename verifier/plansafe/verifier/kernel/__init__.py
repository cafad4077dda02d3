"""The replay kernel: docs/language.md executed directly, with no code of the engine. Its coverage: README.md."""

from .kernel import Kernel, KernelVerdict
from .plan import World
from .reader import KernelLimit, KernelRejects
from .rule_instances import Finding

__all__ = ["Finding", "Kernel", "KernelLimit", "KernelRejects", "KernelVerdict", "World"]
