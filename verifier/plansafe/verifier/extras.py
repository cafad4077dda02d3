"""The command that installs the optional packages of an extra.

No package index has the distribution, so ``pip install 'plansafe[solve]'`` does not work. The installed metadata list
the packages of each extra.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from importlib.metadata import PackageNotFoundError, requires

_NAME = "plansafe"
_EXTRA = re.compile(r"(?P<package>[^;]+);\s*extra\s*==\s*['\"](?P<extra>[\w-]+)['\"]\s*\Z")


def how_to_install(extra: str) -> str:
    """Return the command that installs the packages of an extra into the running environment.

    In a checkout without metadata, the command installs the checkout with the extra.
    """
    try:
        requirements = requires(_NAME) or []
    except PackageNotFoundError:
        requirements = []
    matches = [match for match in map(_EXTRA.match, requirements) if match is not None and match["extra"] == extra]
    packages = [match["package"].strip() for match in matches] or [f".[{extra}]"]
    return shlex.join([_python(), "-m", "pip", "install", *packages])


def _python() -> str:
    """Return the path of the interpreter, relative if it is below the current folder."""
    folder, executable = os.getcwd(), sys.executable or "python"
    return os.path.relpath(executable, folder) if executable.startswith(os.path.join(folder, "")) else executable
