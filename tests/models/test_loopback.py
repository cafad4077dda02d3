"""Remote models against a real server of llama.cpp over loopback. See ``run_loopback.py``."""

from __future__ import annotations

from pathlib import Path

import pytest
from run_loopback import all_checks, smallest_weights


@pytest.fixture(scope="module")
def weights() -> Path:
    """Return the smallest GGUF in the folder ``PLANSAFE_MODELS``."""
    pytest.importorskip("httpx", reason="models over HTTP need httpx (extra `llm`)")
    pytest.importorskip("xllamacpp", reason="a server of llama.cpp needs the extra `llamacpp`")
    file = smallest_weights()
    if file is None:
        pytest.skip("PLANSAFE_MODELS names no folder with *.gguf")
    return file


def test_remote_answers_equal_local_answers(weights: Path) -> None:
    results = list(all_checks(weights))
    assert len(results) == 15
    assert [(check.name, check.observed) for check in results if not check.holds] == []
