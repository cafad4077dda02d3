"""Make the modules of this folder and of ``tests/property`` importable by the tests."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "property")]
