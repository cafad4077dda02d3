"""List the input files of a folder by content, and the folders above a plan."""

from __future__ import annotations

import os
from collections.abc import Mapping

from plansafe.app.project.file_kinds import Heading, Kind, heading, heading_of_file
from plansafe.grammar.named_tuple import NamedTuple

_USED = (Kind.DOMAIN, Kind.PROBLEM, Kind.SAFETY, Kind.MAPPING)


class Sibling(NamedTuple):
    """A file that can be an input of a check, with its heading."""

    path: str
    heading: Heading


class Folders:
    """Lists folders, each once. ``unsaved`` maps real paths to texts that replace the content of the files."""

    def __init__(self, unsaved: Mapping[str, str] | None = None) -> None:
        self._unsaved = unsaved or {}
        self._siblings: dict[str, tuple[Sibling, ...]] = {}

    def siblings(self, folder: str, kind: Kind) -> list[Sibling]:
        """The files of that kind in a folder, in order of their names, without hidden ones."""
        files = self._siblings.get(folder)
        if files is None:
            all_files = [Sibling(path, self._heading(path)) for path in _files(folder)]
            files = self._siblings[folder] = tuple([s for s in all_files if s.heading.kind in _USED])
        return [s for s in files if s.heading.kind is kind]

    def _heading(self, path: str) -> Heading:
        text = self._unsaved.get(os.path.realpath(path)) if self._unsaved else None
        return heading_of_file(path) if text is None else heading(text)


def _files(folder: str) -> list[str]:
    try:
        with os.scandir(folder or ".") as entries:
            names = sorted([e.name for e in entries if not e.name.startswith(".") and e.is_file()])
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names]


def above(folder: str) -> list[str]:
    """The folders above ``folder``, nearest first, up to the current folder; none if ``folder`` is not below it."""
    try:
        below = os.path.relpath(folder) if os.path.isabs(folder) else os.path.normpath(folder or ".")
    except OSError:  # the current folder is gone
        return []
    if below == os.curdir or below.split(os.sep)[0] == os.pardir:
        return []
    out = []
    while below:
        below = os.path.dirname(below)
        out.append(below)
    return out


def place(folder: str) -> str:
    """Name a folder in a message."""
    return f"{folder}/" if folder else "the current folder"
