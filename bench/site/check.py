"""A built site asks nothing of a network, and its links lead somewhere.

usage: python -m bench.site.check FOLDER
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {
    "script": ("src",),
    "link": ("href",),
    "img": ("src", "srcset"),
    "iframe": ("src",),
    "source": ("src", "srcset"),
}
LOADS |= {"video": ("src", "poster"), "audio": ("src",), "object": ("data",), "embed": ("src",), "image": ("href",)}
_OUTSIDE = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
_STYLE = re.compile(r"(?:url\(|@import)\s*[\"']?\s*((?:https?:)?//[^\"')\s]+)", re.IGNORECASE)
_KEPT = ("canonical",)  # a link that is read by machines, and loads nothing


class Page(HTMLParser):
    """What a page loads, where it leads, and what in it can be led to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.leads: list[str] = []
        self.names: set[str] = set()
        self.style = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Read one tag."""
        given = {name: value or "" for name, value in attrs}
        self.names.update([given[name] for name in ("id", "name") if name in given])
        self.style = tag == "style"
        if tag == "a" and "href" in given:
            self.leads.append(given["href"])
        if tag != "link" or given.get("rel") not in _KEPT:
            self.loads += [given[name] for name in LOADS.get(tag, ()) if name in given]
        self.loads += _STYLE.findall(given.get("style", ""))

    def handle_data(self, data: str) -> None:
        """Read what a style sheet in the page loads."""
        if self.style:
            self.loads += _STYLE.findall(data)


def mistakes(folder: Path) -> Iterator[str]:
    """What is wrong with a built site."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    if not pages:
        yield f"no page in {folder}"
    for path in sorted(folder.rglob("*.css")):
        yield from [f"{path}: loads {url}" for url in _STYLE.findall(path.read_text(encoding="utf-8"))]
    for path, page in pages.items():
        where = path.relative_to(folder)
        yield from [f"{where}: loads {url}" for url in page.loads if _OUTSIDE.match(url)]
        for link in [*page.leads, *[url for url in page.loads if not url.startswith("data:")]]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or path.name == "404.html":
                continue
            target = Path(os.path.normpath(path.parent / unquote(parts.path))) if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                yield f"{where}: {link}: no such file"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].names:
                yield f"{where}: {link}: no such place"


def main() -> int:
    """Print what is wrong; 1 if anything is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    wrong = list(mistakes(folder))
    print("\n".join(wrong) or f"{folder}: nothing is loaded from outside, and every link leads somewhere")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
