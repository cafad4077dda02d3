"""What goes into a pack: the project's code, packages in pure Python, data, weights; and what comes back of a run."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
from collections.abc import Iterator, Sequence

from plansafe.align.packing.pack import Member, NotPacked
from plansafe.align.packing.unpack import PICKLES, WEIGHTS
from plansafe.llm.models.adapter import WEIGHTS as ADAPTER

FOLDERS = ("grammar", "verifier", "specs", "domains", "llm", "align", "app")
_BESIDE_WEIGHTS = (".json", ".jinja", ".model", ".txt")
_COMPILED = (".so", ".pyd", ".dll", ".dylib")
_NOT_OF_A_PACKAGE = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")
_RESULTS = (".json", ".jsonl", ".toml", ".csv", ".md", ".svg")


def code() -> list[Member]:
    """The project's own packages as one tree, ``code/plansafe/..``: put ``code`` on the path of Python."""
    members: dict[str, Member] = {}
    for name in FOLDERS:
        found = importlib.util.find_spec(f"plansafe.{name}")  # by its name: the command line is above this floor
        for root in [] if found is None else found.submodule_search_locations or []:
            for path, source in _walk(root):  # of several places the first counts, as for Python
                members.setdefault(f"{name}/{path}", Member(f"code/plansafe/{name}/{path}", source))
    try:
        files = importlib.metadata.distribution("plansafe").files or []
    except importlib.metadata.PackageNotFoundError:  # it runs from a folder
        files = []
    for file in files:
        if file.name == "METADATA":
            members[file.as_posix()] = Member(f"code/{file.as_posix()}", str(file.locate()))
    return list(members.values())


def package(name: str) -> list[Member]:
    """An installed package in pure Python, with what says its version. Raises :class:`NotPacked`."""
    try:
        files = importlib.metadata.distribution(name).files or []
    except importlib.metadata.PackageNotFoundError:
        raise NotPacked(
            f"the package {name[:60]} is not installed", "install it here, or remove it from the pack"
        ) from None
    members = []
    for file in files:
        hidden = any([part[0] == "." for part in file.parts])  # ``..`` leads to scripts
        if hidden or file.suffix == ".pyc" or file.name in _NOT_OF_A_PACKAGE:
            continue
        if file.name.endswith(_COMPILED):
            raise NotPacked(f"the package {name} has compiled code ({file.name}), which may not run elsewhere")
        members.append(Member(f"code/{file.as_posix()}", str(file.locate())))
    return members


def data(path: str) -> list[Member]:
    """A file of data, or all files of a folder: ``data/NAME..``. Raises :class:`NotPacked`."""
    name = os.path.basename(os.path.abspath(path))
    if os.path.isdir(path):
        return [Member(f"data/{name}/{inner}", source) for inner, source in _walk(path)]
    return [Member(f"data/{name}", path)]


def weights(path: str) -> list[Member]:
    """A model or an adapter: a file of GGUF, or a folder with safetensors. Raises :class:`NotPacked`.

    Of a folder, weights in other formats are left out where there are safetensors.
    """
    name = os.path.basename(os.path.abspath(path))
    if os.path.isfile(path) and path.lower().endswith(WEIGHTS):
        return [Member(f"weights/{name}", path)]
    if not os.path.isdir(path):
        what = "is a format that can run code when it is loaded" if path.lower().endswith(PICKLES) else "has no weights"
        raise NotPacked(f"{path} {what}", "name a folder with safetensors, or a file of GGUF")
    names = sorted([name for name in os.listdir(path) if os.path.isfile(os.path.join(path, name))])
    kept = [name for name in names if name.lower().endswith((*WEIGHTS, *_BESIDE_WEIGHTS)) and name[:1] != "."]
    if not any([name.lower().endswith(WEIGHTS) for name in kept]):
        pickles = [name for name in names if name.lower().endswith(PICKLES)]
        what = f"has weights only in {pickles[0]}, which can run code" if pickles else "has no weights"
        raise NotPacked(f"{path} {what}", "convert them to safetensors on the machine where they were created")
    # A cache of downloads has links out of a snapshot, into the folder of what was downloaded.
    above = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(path))), "blobs")
    for file in kept:
        _must_lie_in((os.path.realpath(path), above), os.path.join(path, file))
    return [Member(f"weights/{name}/{file}", os.path.join(path, file)) for file in kept]


def results(run: str) -> tuple[list[Member], list[str]]:
    """What comes back of a run: metrics, tables, configurations and adapters; and the paths that stay behind.

    Checkpoints and whole models stay behind. Raises :class:`NotPacked`.
    """
    if not os.path.isdir(run):
        raise NotPacked(f"{run} is not the folder of a run", "name the folder that was trained into")
    name = os.path.basename(os.path.abspath(run))
    members, left = [], []
    for inner, source in _walk(run):
        folders, _, file = f"/{inner}".rpartition("/")
        small = file.lower().endswith(_RESULTS) or file == ADAPTER
        if small and "checkpoints" not in folders.split("/"):
            members.append(Member(f"results/{name}/{inner}", source))
        else:
            left.append(inner)
    if not members:
        raise NotPacked(f"{run} has no results ({', '.join(_RESULTS)}, adapters)")
    return members, left


def _walk(root: str) -> Iterator[tuple[str, str]]:
    """The files below a folder with their paths from it, hidden ones and byte code left out."""
    real = os.path.realpath(root)
    for folder, inner, names in os.walk(root, onerror=_unread):
        inner[:] = sorted([name for name in inner if name != "__pycache__" and name[0] != "."])
        for name in inner:
            if os.path.islink(os.path.join(folder, name)):
                raise NotPacked(
                    f"{os.path.join(folder, name)} is a link to a folder", "replace the link with a copy of the files"
                )
        for name in sorted(names):
            if name[0] != "." and not name.endswith(".pyc"):
                source = os.path.join(folder, name)
                _must_lie_in((real,), source)
                yield os.path.relpath(source, root).replace(os.sep, "/"), source


def _unread(error: OSError) -> None:
    raise NotPacked(f"{error.filename} cannot be read: {error.strerror}")


def _must_lie_in(folders: Sequence[str], path: str) -> None:
    """What is not in the folder was not meant to travel. Raises :class:`NotPacked`."""
    real = os.path.realpath(path)
    if not any([os.path.commonpath((folder, real)) == folder for folder in folders]):
        raise NotPacked(f"{path} leads out of its folder through a link", "copy the files into the folder")
