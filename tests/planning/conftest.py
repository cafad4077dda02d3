"""Makes this folder's modules, and the random cases of ``tests/property`` and ``tests/diagnose``, importable."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
for folder in (HERE, HERE.parent / "property", HERE.parent / "diagnose"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
