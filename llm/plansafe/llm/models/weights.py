"""Weights on the disk: looked at before a library is, since some formats run code when they are loaded.

Safetensors and GGUF hold numbers. Pickles (``.bin``, ``.pt``, ``.ckpt``, ..) hold programs, and are never loaded.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterable, Mapping
from io import BufferedReader

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, suggest_name
from plansafe.llm.models.port import ModelError

PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".joblib", ".msgpack", ".h5", ".npz")
_GGUF = b"GGUF"
_SMALLEST = 32
_MOST_NAMES = 1_000
_CHUNK = 1 << 22


def folder_of(environment: Mapping[str, str]) -> str:
    """The folder of converted weights, next to the cache of answers."""
    home = environment.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(environment.get("SAFECHECK_CACHE") or os.path.join(home, "safecheck"), "weights")


def checked_folder(path: str) -> list[str]:
    """The files that tell a model in a folder apart: all that is read of it. Raises :class:`ModelError`."""
    if not os.path.isdir(path):
        if os.path.isfile(path) and path.lower().endswith(".gguf"):
            raise _error(SC.NO_WEIGHTS, f"{path} is a file", f"write gguf/{path}")
        if os.path.isfile(path) and path.lower().endswith(PICKLES):
            raise _pickle(path)
        raise _absent(path)
    names = sorted(os.listdir(path))
    weights = [name for name in names if name.endswith(".safetensors") and not name.startswith("adapter_")]
    if "adapter_config.json" in names:
        raise _error(SC.NO_WEIGHTS, f"{path} contains an adapter, not a model", "name its base")
    if not weights:
        if any([name.lower().endswith(PICKLES) for name in names]):
            raise _pickle(path)
        raise _error(
            SC.NO_WEIGHTS, f"{path} has no weights (*.safetensors)", "name the folder that contains config.json"
        )
    if "config.json" not in names:
        raise _error(
            SC.NO_WEIGHTS, f"{path} has weights, but no config.json", "name the folder that save_pretrained wrote"
        )
    relevant = [name for name in names if name.endswith((".json", ".jinja", ".model", ".txt")) or name in weights]
    return [os.path.join(path, name) for name in relevant]


def checked_gguf(path: str) -> None:
    """See that a file begins as GGUF does. Raises :class:`ModelError`."""
    if os.path.isdir(path):
        raise _error(SC.NO_WEIGHTS, f"{path} is a folder", f"write hf/{path}, or name a file in it")
    if not os.path.isfile(path):
        raise _absent(path)
    try:
        with open(path, "rb") as file:
            head = file.read(_SMALLEST)
    except OSError as error:
        raise _error(SC.NO_WEIGHTS, f"cannot read {path}: {error.strerror}", "") from None
    if len(head) < _SMALLEST or not head.startswith(_GGUF):
        if path.lower().endswith(PICKLES):
            raise _pickle(path)
        raise _error(
            SC.UNREAD_WEIGHTS,
            f"{path} is not a GGUF file",
            "the download may be incomplete, or the file may be a pointer",
        )


def opened(path: str) -> BufferedReader:
    """A regular file, for reading; a pipe or a device is not waited for, and has no end. Raises ``OSError``."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file", path)
    return os.fdopen(descriptor, "rb")


def digest(paths: Iterable[str]) -> str:
    """The SHA-256 of some files with their names, read in full: retrained weights are another model."""
    total = hashlib.sha256()
    for path in paths:
        file_hash = hashlib.sha256()
        with opened(path) as file:
            while chunk := file.read(_CHUNK):
                file_hash.update(chunk)
        total.update(os.path.basename(path).encode("utf-8", "surrogateescape") + b"\0" + file_hash.digest())
    return total.hexdigest()


def broken(path: str, error: Exception) -> ModelError:
    """What a library says of weights that it cannot load, on one line."""
    reason = " ".join(str(error).split())[:300] or type(error).__name__
    return _error(SC.UNREAD_WEIGHTS, f"the weights in {path} cannot be loaded: {reason}", "the files may be incomplete")


def _absent(path: str) -> ModelError:
    folder, name = os.path.split(path.rstrip(os.sep))
    try:
        there = os.listdir(folder or os.curdir)[:_MOST_NAMES]
    except OSError:
        there = []
    suggestion = suggest_name(name, there) if there else None
    help = suggestion or "weights are read only from this machine; nothing is downloaded"
    return _error(SC.NO_WEIGHTS, f"no weights found at {path}", help)


def _pickle(path: str) -> ModelError:
    message = f"{path} has weights only in a format that can run code when it is loaded"
    return _error(
        SC.UNREAD_WEIGHTS, message, "convert them to safetensors or GGUF on the machine where they were created"
    )


def _error(code: str, message: str, help: str) -> ModelError:
    return ModelError(Diagnostic(code, message, help=help or None), fatal=True)
