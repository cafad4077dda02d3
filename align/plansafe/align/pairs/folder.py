"""Write a folder completely or not at all.

The folder is written next to its place and moved there when everything is on the disk. An existing folder is replaced
only if this program made it (``report.json`` says so) and it contains nothing else.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from typing import Any

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.metrics.fields import read_line

KIND = "pairs of plans by safecheck"
REPORT = "report.json"
FILES = ("README.md", "train.jsonl", "test.jsonl", REPORT, "kto/train.jsonl", "kto/test.jsonl")
_MOST_REPORT = 4_000_000


class NotMade(Exception):
    """The folder cannot be made; ``diagnostic`` (SC640) says why."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def check_place(path: str) -> None:
    """Raise :class:`NotMade` if no folder can be made at ``path``; call it before a long computation."""
    parent = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(parent):
        raise _refused(path, f"the folder {parent} does not exist", "create it first")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise _refused(path, f"the folder {parent} is not writable", "name another place")
    if not os.path.lexists(path):
        return
    if os.path.islink(path) or not os.path.isdir(path):
        raise _refused(path, "it is not a folder", "name another place")
    files = sorted([os.path.relpath(os.path.join(at, name), path) for at, _, names in os.walk(path) for name in names])
    if files and not _is_ours(path):
        raise _refused(path, "it is not empty and was not created by `safecheck align pairs`", "name another place")
    foreign = [name for name in files if name.replace(os.sep, "/") not in FILES]
    if foreign:
        raise _refused(path, f"it contains another file: {foreign[0]}", "move it away, or name another place")


def make_folder(path: str, work: Callable[[str], None]) -> None:
    """Make the folder: ``work`` writes into an empty folder, which then replaces the old one.

    Raises :class:`NotMade`. After an error the old folder is unchanged and no temporary file is left.
    """
    check_place(path)
    place = os.path.abspath(path)
    try:
        new = tempfile.mkdtemp(prefix=f".{os.path.basename(place)[:80]}.", dir=os.path.dirname(place))
    except OSError as error:
        raise _refused(path, error.strerror or "it cannot be written", "name another place") from None
    try:
        work(new)
        os.chmod(new, stat.S_IMODE(os.stat(new).st_mode) | 0o055)
        check_place(path)
        _moved(new, place)
    except OSError as error:
        raise _refused(path, error.strerror or "it cannot be written", "name another place") from None
    finally:
        shutil.rmtree(new, ignore_errors=True)


def write_report(folder: str, report: dict[str, Any]) -> None:
    """Write the report, which marks the folder as made by this program."""
    text = json.dumps({"kind": KIND, "version": 1, **report}, indent=2, ensure_ascii=False, allow_nan=False)
    write_text(os.path.join(folder, REPORT), text + "\n")


def write_text(path: str, text: str) -> None:
    """Write a file of the folder."""
    with open(path, "x", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _moved(new: str, place: str) -> None:
    """Replace the old folder by the new one in two renames: a rename does not overwrite a folder with files."""
    if not os.path.lexists(place):
        os.rename(new, place)
        return
    old = tempfile.mkdtemp(prefix=f".{os.path.basename(place)[:80]}.", dir=os.path.dirname(place))
    try:
        os.rename(place, old)
        try:
            os.rename(new, place)
        except OSError:
            os.rename(old, place)
            raise
    finally:
        shutil.rmtree(old, ignore_errors=True)


def _is_ours(path: str) -> bool:
    try:
        with open(os.path.join(path, REPORT), "rb") as file:
            return read_line(file.read(_MOST_REPORT)).get("kind") == KIND
    except (OSError, ValueError):
        return False


def _refused(path: str, why: str, help_text: str) -> NotMade:
    return NotMade(Diagnostic(SC.NOT_WRITTEN, f"cannot create {path}: {why}", help=help_text))
