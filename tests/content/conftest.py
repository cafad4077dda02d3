"""Makes this folder's helpers importable by its tests, and ``bench``, which is no part of the package."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]
