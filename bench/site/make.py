"""Write the sources of the site: the pages of docs/, reference pages generated from the code, and mkdocs.yml.

usage: python -m bench.site.make FOLDER

Writes all pages to FOLDER/pages, in the Markdown of mkdocs. `make docs` runs this script and builds the site.
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
from bench.site.index import PageEntry, index_problems, read_index
from bench.site.markdown import find_links, heading_anchors, to_mkdocs

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
ASSETS = Path(__file__).resolve().parent / "assets"
ROOT_PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
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
  - pymdownx.highlight: {pygments_lang_class: true}
  - pymdownx.superfences
  - toc:
      permalink: true
      slugify: !!python/object/apply:pymdownx.slugs.slugify {kwds: {case: lower}}
validation:
  nav: {omitted_files: warn, not_found: warn, absolute_links: warn}
  links: {not_found: warn, anchors: warn, absolute_links: warn, unrecognized_links: warn}
"""


def generated_pages() -> dict[str, str]:
    """The pages generated from the code, by file."""
    documented_pages = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
    texts_by_folder = {
        "commands": commands.command_pages(),
        "json": fields.schema_pages(),
        "diagnostics": diagnostics.diagnostic_pages(),
        "rules": rules.rule_pages(),
        "python": api.api_pages(documented_pages),
    }
    return {
        f"reference/{folder}/{name}": text for folder, pages in texts_by_folder.items() for name, text in pages.items()
    }


def handwritten_pages() -> dict[str, str]:
    """The handwritten pages, by file, with links adapted to the site."""
    texts = {}
    sources = {path.relative_to(ROOT).as_posix(): path.relative_to(DOCS).as_posix() for path in DOCS.glob("*.md")}
    sources |= ROOT_PAGES | {"docs/README.md": "pages.md"}
    for source, target in sources.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        texts[target] = to_mkdocs(text, lambda link, source=source: _site_link(source, link, sources))  # type: ignore[misc]
    introduction, add_heading, remainder = texts["pages.md"].removeprefix("# docs\n").partition("## To add a page")
    rows = "".join([f"- [{title}](reference/{folder}/index.md)\n" for title, folder in GENERATED.items()])
    texts["pages.md"] = f"# All pages\n{introduction}## Generated from the code\n\n{rows}\n{add_heading}{remainder}"
    texts["index.md"] = f"---\nhide: [navigation, toc]\n---\n\n{texts['index.md']}"
    return texts


def _site_link(source: str, link: str, sources: dict[str, str]) -> str | None:
    """The target of a page's link in the site, where all handwritten pages are in one folder."""
    path, _, anchor = link.partition("#")
    if not path:
        return link
    target = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    suffix = f"#{anchor}" if anchor else ""
    if target in sources:
        return sources[target] + suffix
    docs_path = target.removeprefix("docs/")
    return docs_path + suffix if docs_path != target and (ROOT / target).is_file() else None


def site_pages() -> dict[str, str]:
    """All pages of the site, by file. Raises ``ValueError`` if the index of the pages has problems."""
    problems = index_problems(DOCS, read_index(DOCS))
    if problems:
        raise ValueError("\n".join(problems))
    return handwritten_pages() | generated_pages()


def dead_links(texts: dict[str, str]) -> Iterator[str]:
    """A message for each link without a target."""
    page_anchors = {page: heading_anchors(text) for page, text in texts.items()}
    for page, text in texts.items():
        for link in find_links(text):
            path, _, anchor = link.partition("#")
            if ":" in path:
                continue
            target = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
            if target not in texts and not (DOCS / target).is_file():
                yield f"{page}: {link}: no such page"
            elif anchor and target in page_anchors and anchor not in page_anchors[target]:
                yield f"{page}: {link}: the page has no such heading"


def build_navigation(entries: list[PageEntry], texts: dict[str, str]) -> list[object]:
    """The navigation in the format of mkdocs."""
    top: list[object] = [{"Home": ["index.md", {"All pages": "pages.md"}]}]
    for kind in dict.fromkeys(entry.kind for entry in entries):
        items: list[object] = []
        kind_entries = [entry for entry in entries if entry.kind == kind]
        for group in dict.fromkeys(entry.group for entry in kind_entries):
            group_items: list[object] = [{entry.title: entry.page} for entry in kind_entries if entry.group == group]
            items += [{group: group_items}] if group else group_items
        if kind == "Reference":
            for title, folder in GENERATED.items():
                reference_pages = sorted(page for page in texts if page.startswith(f"reference/{folder}/"))
                group_index = f"reference/{folder}/index.md"
                items.append(
                    {title: [group_index, *[_navigation_item(page) for page in reference_pages if page != group_index]]}
                )
        top.append({kind: items})
    return [*top, {"Contributing": ["contributing.md", {"Changes": "changelog.md"}]}]


def _navigation_item(page: str) -> dict[str, str]:
    return {page.rpartition("/")[2].removesuffix(".md"): page}


def write_sources(folder: Path) -> int:
    """Write the sources, replacing existing ones; returns the number of pages."""
    texts = site_pages()
    problems = list(dead_links(texts))
    if problems:
        raise ValueError("\n".join(problems))
    target = folder / "pages"
    shutil.rmtree(target, ignore_errors=True)
    for page, text in texts.items():
        (target / page).parent.mkdir(parents=True, exist_ok=True)
        (target / page).write_text(text, encoding="utf-8")
    for path in DOCS.rglob("*"):
        if path.is_file() and path.suffix != ".md":
            (target / path.relative_to(DOCS)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target / path.relative_to(DOCS))
    (target / "assets").mkdir()
    shutil.copy(ASSETS / "site.css", target / "assets" / "site.css")
    shutil.copy(ASSETS / "worker.js", target / "assets" / "iframe-worker.js")
    settings = f"{THEME}nav: {json.dumps(build_navigation(read_index(DOCS), texts))}\n"
    (folder / "mkdocs.yml").write_text(settings, encoding="utf-8")
    return len(texts)


def main() -> int:
    """Write the sources, or print the problems."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    try:
        count = write_sources(folder)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{count} pages in {os.path.join(folder, 'pages')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
