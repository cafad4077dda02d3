"""Makes this folder's helpers, and the random cases of ``tests/property``, importable by its tests."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "property")]
