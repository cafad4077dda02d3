"""Fixtures shared by all tests."""

from __future__ import annotations

import gc
import os
import resource
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent

sys.path.insert(0, str(Path(__file__).parent))  # what several folders of tests share

settings.register_profile("plansafe", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("plansafe")  # no test depends on how fast the machine is

gc.set_threshold(20_000, 20, 20)  # collecting tests makes millions of objects, and no garbage

# Jobs that a shell starts in the background ignore interrupts, and so would the commands that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Eleven thousand tests stay until the end: collections need not walk through them again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the repository."""
    return ROOT


@pytest.fixture(autouse=True)
def process_settings() -> Iterator[None]:
    """Commands called in this process bound its memory and collect garbage rarely; the tests after them do neither."""
    memory, garbage = resource.getrlimit(resource.RLIMIT_AS), gc.get_threshold()
    yield
    resource.setrlimit(resource.RLIMIT_AS, memory)
    gc.set_threshold(*garbage)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of public data sets (``PLANSAFE_DATA``); skips the test where it is missing."""
    folder = Path(os.environ.get("PLANSAFE_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no data sets at {folder} (set PLANSAFE_DATA)")
    return folder
