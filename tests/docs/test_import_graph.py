"""The import graph in the documentation is current, and the README of each folder names its packages."""

from __future__ import annotations

import pytest
from bench.import_graph import FOLDERS, draw_graph, find_upward_imports, read_modules
from doc_blocks import ROOT


@pytest.mark.slow
def test_the_drawn_import_graph_is_current_and_no_import_points_upwards() -> None:
    files = read_modules(ROOT)
    committed_drawing = (ROOT / "docs/import-graph.svg").read_text(encoding="utf-8")
    assert committed_drawing == draw_graph(files), "run: python -m bench.import_graph --svg docs/import-graph.svg"
    assert not find_upward_imports(files)


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_readme_of_a_folder_names_its_packages(folder: str) -> None:
    text = (ROOT / folder / "README.md").read_text(encoding="utf-8")
    home = ROOT / folder / "plansafe" / folder
    packages = [path.parent.relative_to(home).as_posix() for path in home.rglob("__init__.py") if path.parent != home]
    assert not [name for name in packages if f"{name.split('/')[-1]}/`" not in text and f"`{name}`" not in text]
