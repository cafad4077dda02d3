"""Files and folders that are written completely or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

PART = ".part-"
"""The beginning of the name of a file or folder that is not complete."""


@contextmanager
def new_folder(path: str) -> Iterator[str]:
    """A folder to write into, which becomes ``path`` at the end; after an error nothing is left.

    Raises ``OSError`` if it cannot be written, if ``path`` exists, and if the folder above does not.
    """
    if os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
    parent = os.path.dirname(os.path.abspath(path))
    part = tempfile.mkdtemp(prefix=PART, dir=parent)
    try:
        yield part
        os.chmod(part, 0o755)
        for name in os.listdir(part):
            _sync(os.path.join(part, name))
        os.rename(part, path)
        _sync(parent)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def write_file(path: str, texts: Iterable[str]) -> int:
    """Write texts one after the other to a file, over an older one; return their number. Raises ``OSError``."""
    folder, name = os.path.split(os.path.abspath(path))
    part = os.path.join(folder, PART + name[:80])
    count = 0
    try:
        with open(part, "w", encoding="utf-8", newline="\n") as file:
            for text in texts:
                file.write(text)
                count += 1
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        with suppress(OSError):
            os.unlink(part)
    return count


def _sync(path: str) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
