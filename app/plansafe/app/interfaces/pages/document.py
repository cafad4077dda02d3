"""The HTML page as one file that contains its style, script and data.

The data are ASCII JSON in a script element that is never executed. Characters with a meaning in HTML and invisible
characters are escaped, and the script inserts the data as text only. The content security policy allows only this one
script and no network requests.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from html import escape
from importlib.resources import files
from typing import Any

from plansafe.app.render.json import dumps
from plansafe.app.system.terminal_text import escaped

SCRIPTS = (
    "dom",
    "data",
    "inspector",
    "timeline",
    "gantt",
    "numbers",
    "graph",
    "repair",
    "worlds",
    "minimap",
    "findings",
    "plan",
    "run",
    "main",
)
LONGEST = 20_000
"""Maximum number of characters shown of one text."""
_HTML = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026"}


def document(title: str, index: dict[str, Any], details: Iterable[str]) -> Iterator[str]:
    """Yield the page in pieces. ``details`` are lines of :func:`embedded` data, one for each row of the index."""
    style, script = _asset("page.css"), _script()
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(escaped(title).encode('ascii', 'backslashreplace').decode())}</title>\n"
        f"<style>{style}</style>\n</head>\n<body>\n"
        '<header class="top"></header>\n<main><noscript>This page needs JavaScript.</noscript></main>\n'
    )
    yield f'<script type="application/json" id="index">{embedded(index)}</script>\n'
    yield '<script type="application/json" id="details">'
    for line in details:
        yield line + "\n"
    yield f"</script>\n<script>{script}</script>\n</body>\n</html>\n"


def embedded(content: Any) -> str:
    """Encode data as one line of ASCII JSON that is safe inside HTML."""
    return dumps(legible(content)).translate(_HTML)


def legible(content: Any) -> Any:
    """Return the data with every text cut to :data:`LONGEST` and invisible characters escaped."""
    match content:
        case str():
            return _legible_text(content)
        case dict():
            return {_legible_text(str(key)): legible(value) for key, value in content.items()}
        case list() | tuple():
            return [legible(value) for value in content]
        case _:
            return content


@lru_cache(maxsize=4096)  # a timeline repeats its facts and keys
def _legible_text(text: str) -> str:
    return escaped(text if len(text) <= LONGEST else f"{text[:LONGEST]}\u2026")


@cache
def _asset(name: str) -> str:
    return (files("plansafe.app.interfaces.pages") / "assets" / name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    """Return all scripts as one, with names local to this page."""
    return '(() => {\n"use strict";\n' + "\n".join([_asset(f"{name}.js") for name in SCRIPTS]) + "})();\n"


def _hash(text: str) -> str:
    return "sha256-" + b64encode(hashlib.sha256(text.encode()).digest()).decode()
