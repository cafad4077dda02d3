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

sys.path.insert(0, str(Path(__file__).parent))  # modules that several test folders share

settings.register_profile("plansafe", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("plansafe")  # no test depends on how fast the machine is

gc.set_threshold(20_000, 20, 20)  # test collection allocates millions of objects that stay alive

# A background job of a shell ignores SIGINT, and its child processes inherit that; some tests interrupt commands.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Exempt the collected tests from garbage collection: thousands of objects live until the end of the run."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the root of the repository."""
    return ROOT


@pytest.fixture(autouse=True)
def process_settings() -> Iterator[None]:
    """Restore the memory limit and the garbage collection threshold, which commands change in this process."""
    memory, garbage = resource.getrlimit(resource.RLIMIT_AS), gc.get_threshold()
    yield
    resource.setrlimit(resource.RLIMIT_AS, memory)
    gc.set_threshold(*garbage)


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the folder of public data sets (``PLANSAFE_DATA``); skip the test if it is missing."""
    folder = Path(os.environ.get("PLANSAFE_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no data sets at {folder} (set PLANSAFE_DATA)")
    return folder
