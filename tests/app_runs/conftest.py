"""The folder of a house and a Ray cluster on this machine; makes this folder's modules importable."""

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

from runs_house import write_house


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with a domain, rules and two problems."""
    write_house(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def require_ray() -> Iterator[None]:
    """Skip the test if Ray is not installed (``make ray-test`` installs it) or does not start.

    Ray reads the authentication variables when it is imported, so they are set before any test imports it.
    """
    if importlib.util.find_spec("ray") is None:
        pytest.skip("ray is not installed: make ray-test installs it")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
        if not any(can_start_ray() for _ in range(3)):
            pytest.skip("Ray itself does not start on this machine")
        yield


def can_start_ray() -> bool:
    """Whether Ray with one worker computes a value on this machine within two minutes."""
    script = """if True:
        import ray
        ray.init(address="local", num_cpus=1, include_dashboard=False, object_store_memory=100 << 20)
        assert ray.get(ray.remote(lambda: 7).remote()) == 7
    """
    try:
        process = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        return False
    return process.returncode == 0


@pytest.fixture(scope="session")
def ray_address(require_ray: None) -> Iterator[str]:
    """The address of a Ray cluster with two processors."""
    with tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        log = Path(folder) / "log"
        for _ in range(3):  # Ray gives its own processes 30 s, which a busy machine exceeds
            head, address = start_head(folder, log)
            if head.poll() is None:
                break
        try:
            assert head.poll() is None, log.read_text()
            yield address
        finally:
            head.terminate()
            head.wait()
            with suppress(ProcessLookupError):
                os.killpg(head.pid, signal.SIGKILL)


def start_head(folder: str, log: Path) -> tuple[subprocess.Popen[bytes], str]:
    """Start a head; return its process, ready or ended, and its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        Path(sys.executable).with_name("ray"), "start", "--head", "--block", f"--port={port}", "--num-cpus=2",
        "--include-dashboard=false", f"--object-store-memory={150 << 20}", f"--temp-dir={folder}",
    ]  # fmt: skip
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "RAY_OBJECT_STORE_ALLOW_SLOW_STORAGE": "1"}
    with log.open("wb") as log_file:
        head = subprocess.Popen(command, env=environment, stdout=log_file, stderr=log_file, start_new_session=True)
    while head.poll() is None and b"Ray runtime started" not in log.read_bytes():
        time.sleep(0.2)
    return head, f"127.0.0.1:{port}"
