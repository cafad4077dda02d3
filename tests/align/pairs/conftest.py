"""Lets the tests of this folder import the module ``made_pairs``."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
