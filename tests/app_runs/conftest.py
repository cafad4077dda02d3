"""The folder of a house, and this folder's modules for its tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from runs_house import house


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with a domain, rules and two problems."""
    house(tmp_path)
    return tmp_path
