"""Makes this folder's helpers, the small tasks of ``tests/planning``, and ``bench`` importable by its tests."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
for folder in (HERE, HERE.parent / "planning", HERE.parent / "property", HERE.parent / "diagnose", HERE.parents[1]):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
