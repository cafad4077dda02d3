"""What to install where an optional package is missing.

The distribution is on no package index, so that ``pip install 'plansafe[solve]'`` finds nothing. The packages that an
extra stands for are; which they are, the installed metadata say, from a clone and from a wheel alike.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, requires

_NAME = "plansafe"
_EXTRA = re.compile(r"(?P<package>[^;]+);\s*extra\s*==\s*['\"](?P<extra>[\w-]+)['\"]\s*\Z")


def how_to_install(extra: str) -> str:
    """The command that installs the packages of an extra into the environment that is running.

    In a bare checkout, which has no metadata, it is the command that installs the checkout with the extra.
    """
    try:
        said: Iterable[str] = requires(_NAME) or ()
    except PackageNotFoundError:
        said = ()
    found = [match for match in map(_EXTRA.match, said) if match is not None and match["extra"] == extra]
    packages = [match["package"].strip() for match in found] or [f".[{extra}]"]
    return shlex.join([_python(), "-m", "pip", "install", *packages])


def _python() -> str:
    """The interpreter as a user would write it: another ``python`` may come first in the path."""
    here, there = os.getcwd(), sys.executable or "python"
    return os.path.relpath(there, here) if there.startswith(os.path.join(here, "")) else there
