"""The pages of ``safecheck --explain``: one Markdown file per code, in this folder."""

from __future__ import annotations

import os
import re

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_CODE = re.compile(r"(?:SC)?(\d{3})\Z", re.IGNORECASE)


def page(code: str) -> str | None:
    """The page of a code (``SC201``, ``sc201`` or ``201``); ``None`` if there is no such code."""
    match = _CODE.match(code.strip())
    if match is None:
        return None
    try:
        with open(os.path.join(_FOLDER, f"SC{match[1]}.md"), encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None


def codes() -> tuple[str, ...]:
    """All codes that have a page, sorted."""
    return tuple(sorted(name[:-3] for name in os.listdir(_FOLDER) if name.endswith(".md")))
