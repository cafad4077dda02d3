"""What lies in a folder, by content; and which folders are above a plan."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from plansafe.app.project.file_kinds import Heading, Kind, heading, heading_of_file

_USED = (Kind.DOMAIN, Kind.PROBLEM, Kind.SAFETY, Kind.MAPPING)


class Sibling(NamedTuple):
    """A file that plans can be checked with, and what its beginning says."""

    path: str
    heading: Heading


class Folders:
    """Looks at folders; each is read once. ``unsaved``: texts that stand for what is in files, by their real paths."""

    def __init__(self, unsaved: Mapping[str, str] | None = None) -> None:
        self._unsaved = unsaved or {}
        self._known: dict[str, tuple[Sibling, ...]] = {}

    def siblings(self, folder: str, kind: Kind) -> list[Sibling]:
        """The files of that kind in a folder, in order of their names, without hidden ones."""
        known = self._known.get(folder)
        if known is None:
            every = [Sibling(path, self._heading(path)) for path in _files(folder)]
            known = self._known[folder] = tuple([s for s in every if s.heading.kind in _USED])
        return [s for s in known if s.heading.kind is kind]

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
    """The folders above one, nearest first, up to the current folder; none if it does not lie below that."""
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
    """A folder in words."""
    return f"{folder}/" if folder else "the current folder"
