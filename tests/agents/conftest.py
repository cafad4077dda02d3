"""One server for the tests of a file, and a client for it; makes this folder's modules importable."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from agents_server import serving


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving("--workers", "2", "--time-limit", "20", "--set", "serve.step_limit=5") as url:
        yield url


@pytest.fixture
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=120) as http_client:
        yield http_client
