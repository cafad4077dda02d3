"""The page as one file: style, script and data in it, and nothing from elsewhere.

What plans say is data: JSON in a script element that is never run, in ASCII, without a character that HTML reads, and
with what cannot be seen as escapes. The script puts it into the page as text alone. The policy in the head lets the
browser run this one script and no other, and ask for nothing.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from plansafe.app.render.json import dumps
from plansafe.app.system.terminal_text import escaped

SCRIPTS = ("dom", "data", "inspector", "timeline", "gantt", "graph", "repair", "worlds", "plan", "run", "main")
LONGEST = 20_000
"""Letters of one text that are shown."""
_HTML = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026"}


def document(title: str, index: dict[str, Any], details: Iterable[str]) -> Iterator[str]:
    """The page in pieces. ``details`` are lines of :func:`embedded` data, one for each row of the index."""
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
        '<header class="top"></header>\n<main><noscript>Without its script this page shows nothing.</noscript></main>\n'
    )
    yield f'<script type="application/json" id="index">{embedded(index)}</script>\n'
    yield '<script type="application/json" id="details">'
    for line in details:
        yield line + "\n"
    yield f"</script>\n<script>{script}</script>\n</body>\n</html>\n"


def embedded(content: Any) -> str:
    """Data as JSON that can stand in HTML: one line of ASCII, in which what cannot be seen was escaped before."""
    return dumps(legible(content)).translate(_HTML)


def legible(content: Any) -> Any:
    """The same data with every text as it is to be shown: bounded, and what cannot be seen as an escape."""
    match content:
        case str():
            return escaped(content if len(content) <= LONGEST else f"{content[:LONGEST]}\u2026")
        case dict():
            return {legible(str(key)): legible(value) for key, value in content.items()}
        case list() | tuple():
            return [legible(one) for one in content]
        case _:
            return content


@cache
def _asset(name: str) -> str:
    return (files("plansafe.app.interfaces.pages") / "assets" / name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    """All scripts as one, in which names are known to this page alone."""
    return '(() => {\n"use strict";\n' + "\n".join([_asset(f"{name}.js") for name in SCRIPTS]) + "})();\n"


def _hash(text: str) -> str:
    return "sha256-" + b64encode(hashlib.sha256(text.encode()).digest()).decode()
