"""Check that a built site loads nothing from the network, and that its links have targets.

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
_NETWORK_URL = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
_STYLE_URL = re.compile(r"(?:url\(|@import)\s*[\"']?\s*((?:https?:)?//[^\"')\s]+)", re.IGNORECASE)
_ALLOWED_RELATIONS = ("canonical",)  # link relations that load nothing


class Page(HTMLParser):
    """The URLs that a page loads, its links, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.in_style = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the URLs and anchors of a tag."""
        attributes = {name: value or "" for name, value in attrs}
        self.anchors.update([attributes[name] for name in ("id", "name") if name in attributes])
        self.in_style = tag == "style"
        if tag == "a" and "href" in attributes:
            self.links.append(attributes["href"])
        if tag != "link" or attributes.get("rel") not in _ALLOWED_RELATIONS:
            self.loads += [attributes[name] for name in LOADS.get(tag, ()) if name in attributes]
        self.loads += _STYLE_URL.findall(attributes.get("style", ""))

    def handle_data(self, data: str) -> None:
        """Collect the URLs that a style sheet in the page loads."""
        if self.in_style:
            self.loads += _STYLE_URL.findall(data)


def find_problems(folder: Path) -> Iterator[str]:
    """The problems of a built site, one message each."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    if not pages:
        yield f"no page in {folder}"
    for path in sorted(folder.rglob("*.css")):
        yield from [f"{path}: loads {url}" for url in _STYLE_URL.findall(path.read_text(encoding="utf-8"))]
    for path, page in pages.items():
        page_path = path.relative_to(folder)
        yield from [f"{page_path}: loads {url}" for url in page.loads if _NETWORK_URL.match(url)]
        for link in [*page.links, *[url for url in page.loads if not url.startswith("data:")]]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or path.name == "404.html":
                continue
            target = Path(os.path.normpath(path.parent / unquote(parts.path))) if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                yield f"{page_path}: {link}: no such file"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{page_path}: {link}: no such place"


def main() -> int:
    """Print the problems; exit code 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    problems = list(find_problems(folder))
    print("\n".join(problems) or f"{folder}: nothing is loaded from the network, and every link has a target")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
