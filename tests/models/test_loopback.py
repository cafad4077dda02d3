"""The remote path against a real server of llama.cpp over loopback. See ``run_loopback.py``."""

from __future__ import annotations

from pathlib import Path

import pytest
from run_loopback import checks, smallest_weights


@pytest.fixture(scope="module")
def weights() -> Path:
    """The smallest GGUF in the folder ``PLANSAFE_MODELS``."""
    pytest.importorskip("httpx", reason="models over HTTP need httpx (extra `llm`)")
    pytest.importorskip("xllamacpp", reason="a server of llama.cpp needs the extra `llamacpp`")
    found = smallest_weights()
    if found is None:
        pytest.skip("PLANSAFE_MODELS names no folder with *.gguf")
    return found


def test_the_remote_path_does_what_the_local_one_does(weights: Path) -> None:
    found = list(checks(weights))
    assert len(found) == 15
    assert [(check.what, check.seen) for check in found if not check.holds] == []
