"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of public data sets (``PLANSAFE_DATA``); skips the test where it is missing."""
    folder = Path(os.environ.get("PLANSAFE_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no data sets at {folder} (set PLANSAFE_DATA)")
    return folder
