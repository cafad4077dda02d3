"""Make the helpers next to the tests of alignment importable, and sums equal on all processors."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
# MKL otherwise adds in an order that depends on the processor. It reads this when torch is imported.
os.environ.setdefault("MKL_CBWR", "COMPATIBLE")
