"""The sources of the site: the pages of docs/, the reference made from the code, and mkdocs.yml.

usage: python -m bench.site.make FOLDER

The pages stay where they are; copies go to FOLDER/pages, in the Markdown of mkdocs. `make docs` does this and builds.
"""

from __future__ import annotations

import argparse
import json
import os
import posixpath
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.site import api, commands, diagnostics, fields, rules
from bench.site.index import Entry, mistakes, read_index
from bench.site.markdown import anchors, links, ready

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
ASSETS = Path(__file__).resolve().parent / "assets"
BESIDE = {"README.md": "overview.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
GENERATED = {
    "Command line": "commands",
    "JSON fields": "json",
    "Diagnostics": "diagnostics",
    "Rules": "rules",
    "Python API": "python",
}
THEME = """\
site_name: safecheck
docs_dir: pages
site_dir: ../site
use_directory_urls: false
theme:
  name: material
  font: false
  icon:
    logo: material/shield-check-outline
  features: [navigation.tabs, navigation.indexes, navigation.top, search.highlight, content.code.copy, toc.follow]
  palette:
    - media: "(prefers-color-scheme: light)"
      scheme: default
      primary: teal
      toggle: {icon: material/weather-night, name: dark}
    - media: "(prefers-color-scheme: dark)"
      scheme: slate
      primary: teal
      toggle: {icon: material/weather-sunny, name: light}
extra:
  generator: false
  polyfills: [assets/iframe-worker.js]
extra_css: [assets/site.css]
plugins:
  - search
  - offline
markdown_extensions:
  - admonition
  - tables
  - pymdownx.details
  - pymdownx.highlight
  - pymdownx.superfences
  - toc:
      permalink: true
      slugify: !!python/object/apply:pymdownx.slugs.slugify {kwds: {case: lower}}
validation:
  nav: {omitted_files: warn, not_found: warn, absolute_links: warn}
  links: {not_found: warn, anchors: warn, absolute_links: warn, unrecognized_links: warn}
"""


def generated() -> dict[str, str]:
    """The pages that are made from the code, by their files."""
    run = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
    made = {
        "commands": commands.pages(),
        "json": fields.pages(),
        "diagnostics": diagnostics.pages(),
        "rules": rules.pages(),
        "python": api.pages(run),
    }
    return {f"reference/{folder}/{name}": text for folder, pages in made.items() for name, text in pages.items()}


def copied() -> dict[str, str]:
    """The pages that are written by hand, with links as the site has them."""
    made = {}
    sources = {path.relative_to(ROOT).as_posix(): path.relative_to(DOCS).as_posix() for path in DOCS.glob("*.md")}
    sources |= BESIDE
    for source, target in sources.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        made[target] = ready(text, lambda link, source=source: _placed(source, link, sources))  # type: ignore[misc]
    before, adding, rest = made["README.md"].removeprefix("# docs\n").partition("## To add a page")
    rows = "".join([f"- [{title}](reference/{folder}/index.md)\n" for title, folder in GENERATED.items()])
    made["README.md"] = f"# safecheck\n{before}## Made from the code\n\n{rows}\n{adding}{rest}"
    return made


def _placed(source: str, link: str, sources: dict[str, str]) -> str | None:
    """Where a link of a page leads in the site, whose written pages lie side by side."""
    path, _, anchor = link.partition("#")
    if not path:
        return link
    target = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    end = f"#{anchor}" if anchor else ""
    if target in sources:
        return sources[target] + end
    inside = target.removeprefix("docs/")
    return inside + end if inside != target and (ROOT / target).is_file() else None


def pages() -> dict[str, str]:
    """All pages of the site, by their files. Raises ``ValueError`` where the index of the pages is wrong."""
    wrong = mistakes(DOCS, read_index(DOCS))
    if wrong:
        raise ValueError("\n".join(wrong))
    return copied() | generated()


def dead(made: dict[str, str]) -> Iterator[str]:
    """Each link of a page that leads nowhere."""
    named = {page: anchors(text) for page, text in made.items()}
    for page, text in made.items():
        for link in links(text):
            path, _, anchor = link.partition("#")
            if ":" in path:
                continue
            target = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
            if target not in made and not (DOCS / target).is_file():
                yield f"{page}: {link}: no such page"
            elif anchor and target in named and anchor not in named[target]:
                yield f"{page}: {link}: the page has no such heading"


def navigation(entries: list[Entry], made: dict[str, str]) -> list[object]:
    """The navigation, as mkdocs takes it."""
    top: list[object] = [{"Home": ["README.md", {"Overview": "overview.md"}]}]
    for kind in dict.fromkeys(entry.kind for entry in entries):
        here: list[object] = []
        of = [entry for entry in entries if entry.kind == kind]
        for group in dict.fromkeys(entry.group for entry in of):
            rows: list[object] = [{entry.title: entry.page} for entry in of if entry.group == group]
            here += [{group: rows}] if group else rows
        if kind == "Reference":
            for title, folder in GENERATED.items():
                inside = sorted(page for page in made if page.startswith(f"reference/{folder}/"))
                first = f"reference/{folder}/index.md"
                here.append({title: [first, *[_named(page) for page in inside if page != first]]})
        top.append({kind: here})
    return [*top, {"Contributing": ["contributing.md", {"Changes": "changelog.md"}]}]


def _named(page: str) -> dict[str, str]:
    return {page.rpartition("/")[2].removesuffix(".md"): page}


def write(folder: Path) -> int:
    """Write the sources; how many pages. What was there is replaced."""
    made = pages()
    wrong = list(dead(made))
    if wrong:
        raise ValueError("\n".join(wrong))
    out = folder / "pages"
    shutil.rmtree(out, ignore_errors=True)
    for page, text in made.items():
        (out / page).parent.mkdir(parents=True, exist_ok=True)
        (out / page).write_text(text, encoding="utf-8")
    for path in DOCS.rglob("*"):
        if path.is_file() and path.suffix != ".md":
            (out / path.relative_to(DOCS)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, out / path.relative_to(DOCS))
    (out / "assets").mkdir()
    shutil.copy(ASSETS / "site.css", out / "assets" / "site.css")
    shutil.copy(ASSETS / "worker.js", out / "assets" / "iframe-worker.js")
    settings = f"{THEME}nav: {json.dumps(navigation(read_index(DOCS), made))}\n"
    (folder / "mkdocs.yml").write_text(settings, encoding="utf-8")
    return len(made)


def main() -> int:
    """Say what was written, or what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    try:
        count = write(folder)
    except ValueError as wrong:
        print(wrong, file=sys.stderr)
        return 1
    print(f"{count} pages in {os.path.join(folder, 'pages')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
