"""Put this folder on the import path: tests import the modules of ``run.py``."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
