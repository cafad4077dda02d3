"""Makes this folder's modules, and the generators that it uses, importable by its tests."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "property"), str(HERE.parent / "repair")]
