"""The folder of the public data sets."""

from __future__ import annotations

import os
from pathlib import Path

DATA_SETS = Path(os.environ.get("PLANSAFE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
"""``PLANSAFE_DATA``, else ``../shared/data`` next to the project."""
