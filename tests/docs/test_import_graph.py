"""The picture of the imports is current, and every package is named in its folder's README."""

from __future__ import annotations

import pytest
from bench.import_graph import FOLDERS, draw_graph, read_modules, upward_imports
from doc_blocks import ROOT


@pytest.mark.slow
def test_the_picture_is_what_the_imports_are_and_none_points_upwards() -> None:
    files = read_modules(ROOT)
    drawn = (ROOT / "docs/import-graph.svg").read_text(encoding="utf-8")
    assert drawn == draw_graph(files), "draw it again: python -m bench.import_graph --svg docs/import-graph.svg"
    assert not upward_imports(files)


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_readme_of_a_folder_names_its_packages(folder: str) -> None:
    text = (ROOT / folder / "README.md").read_text(encoding="utf-8")
    home = ROOT / folder / "plansafe" / folder
    packages = [path.parent.relative_to(home).as_posix() for path in home.rglob("__init__.py") if path.parent != home]
    assert not [name for name in packages if f"{name.split('/')[-1]}/`" not in text and f"`{name}`" not in text]
