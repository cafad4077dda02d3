"""The folder of a house, a Ray cluster of this machine, and this folder's modules for its tests."""

from __future__ import annotations

import importlib.util
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from runs_house import house


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with a domain, rules and two problems."""
    house(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def ray_is_there() -> Iterator[None]:
    """Skips where Ray is not installed (it has an environment of its own, and ``make ray-test``) or does not start.

    Ray reads how one is known to a cluster when it is imported, so that this is said before any test imports it.
    """
    if importlib.util.find_spec("ray") is None:
        pytest.skip("ray is not installed: make ray-test has it in an environment of its own")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
        if not any(starts() for _ in range(3)):
            pytest.skip("Ray by itself, without a line of ours, starts no process here")
        yield


def starts() -> bool:
    """Whether a plain Ray of one worker computes something on this machine, in bounded time."""
    script = """if True:
        import ray
        ray.init(address="local", num_cpus=1, include_dashboard=False, object_store_memory=100 << 20)
        assert ray.get(ray.remote(lambda: 7).remote()) == 7
    """
    try:
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


@pytest.fixture(scope="session")
def ray_address(ray_is_there: None) -> Iterator[str]:
    """The address of a real Ray of two processors."""
    with tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        said = Path(folder) / "said"
        for _ in range(3):  # Ray gives its own processes 30 s, which a busy machine exceeds
            head, address = started(folder, said)
            if head.poll() is None:
                break
        try:
            assert head.poll() is None, said.read_text()
            yield address
        finally:
            head.terminate()
            head.wait()
            with suppress(ProcessLookupError):
                os.killpg(head.pid, signal.SIGKILL)


def started(folder: str, said: Path) -> tuple[subprocess.Popen[bytes], str]:
    """A head that is ready, or has ended; and its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        Path(sys.executable).with_name("ray"), "start", "--head", "--block", f"--port={port}", "--num-cpus=2",
        "--include-dashboard=false", f"--object-store-memory={150 << 20}", f"--temp-dir={folder}",
    ]  # fmt: skip
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "RAY_OBJECT_STORE_ALLOW_SLOW_STORAGE": "1"}
    with said.open("wb") as out:
        head = subprocess.Popen(command, env=environment, stdout=out, stderr=out, start_new_session=True)
    while head.poll() is None and b"Ray runtime started" not in said.read_bytes():
        time.sleep(0.2)
    return head, f"127.0.0.1:{port}"
