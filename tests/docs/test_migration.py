"""The public names: none disappears without a former name, and the migration page lists every former name.

``public_names.txt`` lists the commands, the keys of the JSON schemas and the documented Python names.
``UPDATE_GOLDEN=1`` adds new names; remove a name by hand when docs/migration.md allows it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.site.api import documented_names
from bench.site.fields import read_schemas
from doc_blocks import ROOT

from plansafe.app.interfaces.cli.command_table import COMMANDS, former_names, is_replaced
from plansafe.specs import spec_names, spec_path
from plansafe.specs.former_names import FORMER_NAMES

NAMES = Path(__file__).parent / "public_names.txt"
PAGE = (ROOT / "docs" / "migration.md").read_text(encoding="utf-8")


def schema_keys(schema: Any, path: str = "") -> Iterator[str]:
    """The places of all keys that a schema declares."""
    if isinstance(schema, list):
        for part in schema:
            yield from schema_keys(part, path)
    elif isinstance(schema, dict):
        for word, part in schema.items():
            if word in ("properties", "$defs") and isinstance(part, dict):
                for key, inner in part.items():
                    if word == "properties":
                        yield f"{path}/{key}"
                    yield from schema_keys(inner, f"{path}/{key}")
            else:
                yield from schema_keys(part, path)


def public_names() -> set[str]:
    """The present names, and the former names that still work."""
    names = {f"command {command.name}" for command in COMMANDS}
    names |= {f"command {' '.join(words)}" for words in former_names()}
    names |= {f"json {name}{key}" for name, schema in read_schemas().items() for key in schema_keys(schema)}
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return names | {f"python {name.module}.{name.name}" for name in documented_names(pages)}


def is_importable(name: str) -> bool:
    """Whether a Python name exists, or has a former name that still works."""
    module, _, attribute = name.rpartition(".")
    try:
        return hasattr(import_module(module), attribute) or attribute in FORMER_NAMES
    except ModuleNotFoundError:
        return attribute in FORMER_NAMES


def test_no_public_name_disappears() -> None:
    listed, present = set(NAMES.read_text(encoding="utf-8").splitlines()), public_names()
    if os.environ.get("UPDATE_GOLDEN"):
        NAMES.write_text("\n".join(sorted(listed | present)) + "\n", encoding="utf-8")
        return
    gone = [name for name in listed - present if not (name.startswith("python ") and is_importable(name[7:]))]
    assert not gone, f"removed or renamed, see docs/migration.md: {sorted(gone)}"
    assert not present - listed, f"new names; UPDATE_GOLDEN=1 adds them: {sorted(present - listed)}"


def test_the_page_lists_every_former_command() -> None:
    rows = {(" ".join(words), present) for words, present in former_names().items()}
    rows |= {(command.name, command.replaced_by) for command in COMMANDS if is_replaced(command)}
    assert rows
    for former, present in rows:
        assert re.search(rf"^\| `{former}(?: FILE)?` \| `{present}` \|$", PAGE, re.MULTILINE), (former, present)


def test_the_page_lists_every_former_python_name() -> None:
    for former, (module, present) in FORMER_NAMES.items():
        rows = [line for line in PAGE.splitlines() if line.startswith("|") and re.search(rf"\b{former}\b", line)]
        assert any([present in row for row in rows]), (former, module, present)
        assert hasattr(import_module(module), present)


def test_the_page_names_rules_of_the_library_and_no_former_rule_is_in_it() -> None:
    texts = [Path(spec_path(name)).read_text(encoding="utf-8") for name in spec_names() if name.startswith("home-")]
    library = set(re.findall(r"\(:(?:process|trajectory|termination|obligation) ([\w-]+)", "\n".join(texts)))
    rows = re.findall(r"^\| (`[\w-]+`|\(none\)) \| (`.*`) \|$", PAGE.partition("## Rules")[2], re.MULTILINE)
    assert len(rows) == 40
    for present, former in rows:
        assert present.strip("`") in library | {"(none)"}, present
        assert not library & set(re.findall(r"`([\w-]+)`", former)), former
