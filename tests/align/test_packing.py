"""Packs: what is packed comes out as it was, or nothing comes out."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import shutil
import struct
import subprocess
import sys
import zlib
from array import array
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import pytest

from plansafe.align.packing import contents
from plansafe.align.packing.__main__ import main as pack_run
from plansafe.align.packing.halving import halved, rounded
from plansafe.align.packing.pack import Member, NotPacked, pack
from plansafe.align.packing.unpack import MANIFEST, SCRIPT, Refused, content_problem, main, read_manifest, unpack

PART = 900


def tensors(numbers: dict[str, list[float]], kind: str = "F32", metadata: dict[str, str] | None = None) -> bytes:
    """A file of safetensors."""
    header: dict[str, Any] = {} if metadata is None else {"__metadata__": metadata}
    body = b""
    for name, values in numbers.items():
        piece = struct.pack(f"<{len(values)}f", *values)
        header[name] = {"dtype": kind, "shape": [len(values)], "data_offsets": [len(body), len(body) + len(piece)]}
        body += piece
    said = json.dumps(header).encode()
    return struct.pack("<Q", len(said)) + said + body


def written(root: Path, files: dict[str, bytes]) -> list[Member]:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    return [Member(name, str(root / name)) for name in files]


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    noise = Random(1)
    return {
        "code/plansafe/align/a.py": b"print('a')\n" * 60,
        "code/plansafe/align/py.typed": b"",
        "data/pairs.jsonl": b"".join([json.dumps({"n": noise.random()}).encode() + b"\n" for _ in range(60)]),
        "data/same.txt": b"x" * 5000,
        "weights/m/model.safetensors": tensors({"a": [noise.random() for _ in range(400)], "b": [1.0]}),
        "weights/m.gguf": b"GGUF" + noise.randbytes(1500),
    }


@pytest.fixture(scope="module")
def packed(files: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("packed")
    pack(written(root / "in", files), str(root / "pack"), PART)
    return root / "pack"


def found(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def refused(folder: Path, target: Path, sum: str | None = None) -> str:
    """What is said of a pack that is refused; nothing is left of it."""
    before = sorted(target.parent.iterdir())
    with pytest.raises(Refused) as error:
        unpack(str(folder), str(target), sum)
    assert sorted(target.parent.iterdir()) == before and not target.exists()
    return error.value.message


def resealed(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the manifest as an attacker would, who can make its sum anew."""
    path = folder / MANIFEST
    said = json.loads(path.read_bytes())
    del said["sum"]
    change(said)
    dumped = (json.dumps(said, sort_keys=True, indent=0) + "\n").encode()
    said["sum"] = hashlib.sha256(dumped).hexdigest()
    path.write_bytes((json.dumps(said, sort_keys=True, indent=0) + "\n").encode())


def copied(packed: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(packed, tmp_path / "copy", symlinks=True))


# -- there and back ---------------------------------------------------------------------------------------------------


def test_what_is_packed_comes_out_as_it_was(files: dict[str, bytes], packed: Path, tmp_path: Path) -> None:
    manifest = unpack(str(packed), str(tmp_path / "deep" / "out"))
    assert found(tmp_path / "deep" / "out") == files and os.listdir(tmp_path / "deep") == ["out"]
    assert len(manifest.parts) > 3 and all([os.path.getsize(packed / part.name) <= PART for part in manifest.parts])
    how = {file.path: file.how for file in manifest.files}
    assert how["weights/m/model.safetensors"] == how["code/plansafe/align/py.typed"] == "plain"
    assert how["code/plansafe/align/a.py"] == "zlib"


def test_the_same_files_give_the_same_bytes(files: dict[str, bytes], packed: Path, tmp_path: Path) -> None:
    members = written(tmp_path / "elsewhere", dict(reversed(files.items())))
    for number, member in enumerate(members):
        os.utime(member.source, (number, number))
        os.chmod(member.source, 0o700)
    pack(members, str(tmp_path / "again"), PART)
    assert found(tmp_path / "again") == found(packed)


def test_the_script_needs_no_package(files: dict[str, bytes], packed: Path, tmp_path: Path) -> None:
    """As on another machine: no site-packages, no settings, the script that lies in the pack."""
    command = [sys.executable, "-I", "-S", str(packed / SCRIPT), str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    assert done.returncode == 0, done.stderr
    assert read_manifest(str(packed)).sum in done.stdout and found(tmp_path / "out") == files
    tree = ast.parse((packed / SCRIPT).read_text(encoding="utf-8"))
    names = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    assert names and all([name.split(".")[0] in sys.stdlib_module_names for name in names])


def test_the_script_refuses_with_exit_code_2(packed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = copied(packed, tmp_path)
    (folder / "part-0002.pack").unlink()
    assert main([str(tmp_path / "o\x1but"), "--pack", str(folder)]) == 2
    assert "part-0002.pack is missing" in capsys.readouterr().err
    assert main([str(tmp_path / "out"), "--pack", str(packed), "--sum", "0" * 64]) == 2
    assert main([str(tmp_path / "copy"), "--pack", str(packed)]) == 2
    shown = capsys.readouterr().err
    assert "not the expected one" in shown and "exists already" in shown and "\x1b" not in shown


def test_an_empty_folder_is_filled_and_another_is_not(packed: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    unpack(str(packed), str(tmp_path / "empty"), read_manifest(str(packed)).sum)
    with pytest.raises(Refused, match="exists already"):
        unpack(str(packed), str(tmp_path / "empty"))
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(Refused, match="exists already"):
        unpack(str(packed), str(tmp_path / "link"))
    assert sorted(os.listdir(tmp_path)) == ["empty", "link"]


# -- what is refused --------------------------------------------------------------------------------------------------


def _swap(folder: Path) -> None:
    (folder / "part-0001.pack").rename(folder / "x")
    (folder / "part-0002.pack").rename(folder / "part-0001.pack")
    (folder / "x").rename(folder / "part-0002.pack")


def _link(folder: Path) -> None:
    (folder / "part-0001.pack").rename(folder.parent / "moved")
    (folder / "part-0001.pack").symlink_to(folder.parent / "moved")


def _pipe(folder: Path) -> None:
    (folder / "part-0001.pack").unlink()
    os.mkfifo(folder / "part-0001.pack")


def _cut(folder: Path) -> None:
    os.truncate(folder / "part-0003.pack", 17)


def _changed(folder: Path) -> None:
    with open(folder / "part-0003.pack", "r+b") as file:
        file.write(b"!!!!")


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (_swap, "part-0001.pack does not match its checksum"),
        (_link, "part-0001.pack cannot be read: it is a link"),
        (_pipe, "part-0001.pack cannot be read: it is not a regular file"),
        (_cut, "part-0003.pack has 17 bytes instead of 900"),
        (_changed, "part-0003.pack does not match its checksum"),
        (lambda folder: (folder / "part-0002.pack").unlink(), "part-0002.pack is missing"),
        (lambda folder: (folder / "part-0099.pack").write_bytes(b""), "part-0099.pack is not listed"),
        (lambda folder: (folder / "é\n").write_bytes(b""), r"'é\\n' is not listed"),
        (lambda folder: (folder / SCRIPT).write_bytes(b""), "unpack.py does not match its checksum"),
        (lambda folder: (folder / MANIFEST).unlink(), "manifest.json cannot be read: no such file"),
        (lambda folder: (folder / MANIFEST).write_bytes(b"[" * 100_000), "is not JSON"),
        (lambda folder: (folder / MANIFEST).write_bytes(b'{"kind": 1e999}'), "is not the manifest of a pack"),
        (lambda folder: (folder / MANIFEST).write_bytes(b"[]"), "is not the manifest of a pack"),
        (lambda folder: (folder / MANIFEST).write_bytes(b" " * ((32 << 20) + 1)), "has more than 33,554,432 bytes"),
    ],
)
def test_a_damaged_pack_is_refused_by_name(
    packed: Path, tmp_path: Path, damage: Callable[[Path], None], said: str
) -> None:
    folder = copied(packed, tmp_path)
    damage(folder)
    with_name = refused(folder, tmp_path / "out")
    assert said.replace("\\\\", "\\") in with_name


@pytest.mark.parametrize(
    "path",
    [
        "../out.py",
        "/etc/passwd",
        "code/../../x",
        "code//x",
        "code/",
        "",
        ".",
        "..",
        ".ssh/config",
        "C:\\x",
        "c:/x",
        "a\0b",
        "a\nb",
        "ä.py",
        "code/x.",
        "-rf",
        "x" * 241,
        "weights/model.bin",
        "weights/model.PT",
        "Code/plansafe/align/PY.typed",
        "data",
        "data/same.txt/inner",
    ],
)
def test_a_path_that_leads_elsewhere_is_refused(packed: Path, tmp_path: Path, path: str) -> None:
    folder = copied(packed, tmp_path)
    resealed(folder, lambda said: said["files"][0].update(path=path))
    assert "manifest.json" in refused(folder, tmp_path / "out")


@pytest.mark.parametrize(
    "change",
    [
        lambda said: said.update(version=2),
        lambda said: said.update(version=True),
        lambda said: said.update(more=1),
        lambda said: said.update(files=said["files"] * 17_000),
        lambda said: said.update(files={}),
        lambda said: said.update(script=7),
        lambda said: said["parts"][0].update(name="../part"),
        lambda said: said["parts"][0].update(bytes=60 << 20),
        lambda said: said["parts"][0].update(bytes=-1),
        lambda said: said["parts"][0].update(bytes=10**400),
        lambda said: said["parts"][0].update(bytes=True),
        lambda said: said["parts"].pop(),
        lambda said: said["parts"].reverse(),
        lambda said: said["files"].pop(),
        lambda said: said["files"].reverse(),
        lambda said: said["files"][0].update(how="exec"),
        lambda said: said["files"][0].update(stored=-5),
        lambda said: said["files"][0].update(bytes=2**40),
        lambda said: said["files"][0].update(sha256="0" * 64),
        lambda said: said["files"][0].update(mode="0777"),
    ],
)
def test_a_manifest_that_makes_no_sense_is_refused(
    packed: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    folder = copied(packed, tmp_path)
    resealed(folder, change)
    refused(folder, tmp_path / "out")


def _sealed(tmp_path: Path, stored: bytes, path: str, size: int, sha256: str, how: str) -> Path:
    """A pack of one file, with all sums as they should be but for what is said of the file."""
    folder = tmp_path / "made"
    pack(written(tmp_path / "in", {"data/a.txt": b"a"}), str(folder), PART)
    (folder / "part-0001.pack").write_bytes(stored)
    part = {"bytes": len(stored), "name": "part-0001.pack", "sha256": hashlib.sha256(stored).hexdigest()}
    file = {"path": path, "bytes": size, "sha256": sha256, "how": how, "stored": len(stored)}
    resealed(folder, lambda said: said.update(parts=[part], files=[file]))
    return folder


def test_a_bomb_is_refused_before_it_grows(tmp_path: Path) -> None:
    bomb = zlib.compress(b"\0" * (50 << 20), 9)
    told = _sealed(tmp_path, bomb, "data/a.txt", 50 << 20, "0" * 64, "zlib")
    assert "more than 100 times as large" in refused(told, tmp_path / "out")
    shutil.rmtree(told)
    untold = _sealed(tmp_path, bomb, "data/a.txt", 100, "0" * 64, "zlib")
    assert "does not match its checksum" in refused(untold, tmp_path / "out")


@pytest.mark.parametrize("tail", [b"more", zlib.compress(b"b")])
def test_what_stands_behind_a_compressed_file_is_refused(tmp_path: Path, tail: bytes) -> None:
    folder = _sealed(tmp_path, zlib.compress(b"a") + tail, "data/a.txt", 1, hashlib.sha256(b"a").hexdigest(), "zlib")
    assert "does not end at the expected position" in refused(folder, tmp_path / "out")


@pytest.mark.parametrize(
    ("path", "content", "said"),
    [
        ("data/a.txt", b"\x80\x04\x95\x00", "a pickle or an archive"),
        ("data/a.json", b"PK\x03\x04..", "a pickle or an archive"),
        ("data/a.json", b"\xff\xfe", "not text in UTF-8"),
        ("data/a.txt", b"a\0", "not text"),
        ("data/a.json.gz", b"{}", "not a gzip file"),
        ("weights/a.gguf", b"GGUF", "as GGUF does"),
        ("weights/a.safetensors", b"\x80\x04\x95\x00", "its header is longer than the file"),
        ("weights/a.safetensors", struct.pack("<Q", 2**63) + b"{}", "its header is longer than the file"),
        ("weights/a.safetensors", struct.pack("<Q", 9) + b'{"a": {}}', "its header is not a safetensors header"),
        ("weights/a.safetensors", struct.pack("<Q", 50_000) + b"[" * 50_000, "its header is not a safetensors header"),
        ("weights/a.safetensors", tensors({"a": [1.0]})[:-1], "it was cut"),
        ("weights/a.safetensors", tensors({"a": [1.0]}) + b"1234", "extended"),
        ("weights/a.safetensors", tensors({"a": [1.0]}).replace(b"[1]", b"[9]"), "one behind the other"),
        ("weights/a.safetensors", tensors({"a": [1.0]}).replace(b": [1]", b":[-1]"), "no shape"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_refused_on_both_sides(
    tmp_path: Path, path: str, content: bytes, said: str
) -> None:
    sealed = _sealed(tmp_path, content, path, len(content), hashlib.sha256(content).hexdigest(), "plain")
    assert said in refused(sealed, tmp_path / "out")
    with pytest.raises(NotPacked, match="cannot be packed") as error:
        pack(written(tmp_path / "wrong", {path: content}), str(tmp_path / "no"), PART)
    assert said in str(error.value) and not (tmp_path / "no").exists()


def test_depth_is_bounded_whatever_the_limit_of_recursion(packed: Path, tmp_path: Path) -> None:
    """Where the engine has raised it, the reader of the standard library would crash the process."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000_000)
    try:
        for text in (b"[" * 1_000_000, b'{"a":' * 200_000, b'["]]]]]]]]]",' * 200_000, rb'["\\\"]]]]",' * 99_999):
            folder = copied(packed, tmp_path)
            (folder / MANIFEST).write_bytes(text)
            assert "is not JSON" in refused(folder, tmp_path / "out")
            shutil.rmtree(folder)
            (tmp_path / "a.safetensors").write_bytes(struct.pack("<Q", len(text)) + text)
            assert content_problem(str(tmp_path / "a.safetensors")) == "its header is not a safetensors header"
            (tmp_path / "a.safetensors").unlink()
    finally:
        sys.setrecursionlimit(limit)


def test_500_random_corruptions_are_refused_or_change_nothing(
    files: dict[str, bytes], packed: Path, tmp_path: Path
) -> None:
    originals = found(packed)
    same = 0
    for seed in range(500):
        draw = Random(seed)
        folder, target = tmp_path / "pack", tmp_path / "out"
        folder.mkdir()
        broken = dict(originals)
        for _ in range(draw.choice((1, 1, 1, 2, 5))):
            name = draw.choice(sorted(broken))
            content = broken[name]
            at = draw.randrange(len(content) + 1)
            match draw.randrange(8):
                case 0:
                    broken[name] = content[:at]
                case 1:
                    broken[name] = content[:at] + draw.randbytes(draw.randint(1, 9)) + content[at:]
                case 2:
                    broken[name] = content[:at] + draw.randbytes(1) + content[at + 1 :]
                case 3:
                    broken[name] = content[:at] + content[at + draw.randint(1, 9) :]
                case 4:
                    other = draw.choice(sorted(broken))
                    broken[name], broken[other] = broken[other], content
                case 5:
                    broken[draw.choice(("part-0000.pack", "part-0050.pack", "x"))] = content
                case 6:
                    del broken[name]
                case _:
                    broken[name] = content[:at] + bytes(
                        [(content[at] ^ 1 << draw.randrange(8))] if content[at:] else []
                    )
                    broken[name] += content[at + 1 :]
            if not broken:
                break
        for name, content in broken.items():
            (folder / name).write_bytes(content)
        if broken == originals:
            same += 1
            unpack(str(folder), str(target))
            assert found(target) == files
            shutil.rmtree(target)
        else:
            refused(folder, target)
        shutil.rmtree(folder)
    assert same < 50


def test_hostile_manifests_write_what_they_say_or_nothing(packed: Path, tmp_path: Path) -> None:
    """Fields changed at random, the sum made anew: what comes out lies in the folder and has its sums."""
    values = ["", "..", "a/../b", "plain", "zlib", 0, 1, -1, 900, 1 << 40, None, [], {}, "code/x.py", "0" * 64, 1.5]
    taken = 0
    for seed in range(200):
        draw = Random(seed)
        folder = copied(packed, tmp_path)

        def change(said: dict[str, Any], draw: Random = draw) -> None:
            rows = draw.choice((said["parts"], said["files"]))
            row = draw.choice(rows)
            row[draw.choice(sorted(row))] = draw.choice(values)

        resealed(folder, change)
        target = tmp_path / "out"
        try:
            manifest = unpack(str(folder), str(target))
        except Refused:
            assert sorted(os.listdir(tmp_path)) == ["copy"]
        else:
            taken += 1
            assert {f.path: f.sha256 for f in manifest.files} == {
                name: hashlib.sha256(content).hexdigest() for name, content in found(target).items()
            }
            shutil.rmtree(target)
        shutil.rmtree(folder)
    assert 0 < taken < 100


# -- what is chosen ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_code_is_one_tree_that_runs_without_the_rest(tmp_path: Path) -> None:
    """Unpacked elsewhere, without site-packages: the engine draws, judges and packs, and the losses are importable."""
    pack(contents.code(), str(tmp_path / "pack"), 1 << 20)
    unpack(str(tmp_path / "pack"), str(tmp_path / "out"))
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import plansafe.align.packing.__main__, plansafe.align.losses, plansafe.align.tokens\n"
        "from plansafe.llm.instances.drawn import draw\n"
        "from plansafe.grammar.source import Source\n"
        "task = draw('fetch', 0)\n"
        "print(task.checker().check(Source('p', task.reference)).headline.value)\n"
        "ours = [m.__file__ for n, m in sys.modules.items() if n.startswith('plansafe.') and m.__spec__.origin]\n"
        "print(all(file.startswith(sys.argv[1]) for file in ours))\n"
    )
    command = [sys.executable, "-I", "-S", "-c", program, str(tmp_path / "out" / "code")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    assert done.stdout.split() == ["SAFE", "True"], done.stderr


def test_training_needs_no_more_than_a_gpu_machine_has(root: Path) -> None:
    """trl is for parity alone; and nothing heavy is loaded where a module is imported."""
    there = {"torch", "transformers", "tokenizers", "peft", "accelerate", "safetensors", "yaml"}
    for file in (root / "align" / "plansafe" / "align").rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        names = [(node.module or "", node.col_offset) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        names += [(a.name, n.col_offset) for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names]
        for name, column in names:
            package = name.split(".")[0]
            assert package in sys.stdlib_module_names | there | {"plansafe"}, f"{file} imports {name}"
            assert package not in there or column, f"{file} imports {name} where it is imported itself"


def test_packages_in_pure_python_travel_and_others_do_not() -> None:
    paths = [member.path for member in contents.package("typer")]
    assert "code/typer/__init__.py" in paths and any([path.endswith(".dist-info/METADATA") for path in paths])
    # One environment of the tests has the first, the other the second.
    compiled = next(name for name in ("mypy", "numpy") if find_spec(name))
    with pytest.raises(NotPacked, match="compiled code"):
        contents.package(compiled)
    with pytest.raises(NotPacked, match="is not installed"):
        contents.package("no-such-package-here")


def test_weights_are_safetensors_or_gguf_with_what_lies_beside(tmp_path: Path) -> None:
    model = {"config.json": b"{}", "model.safetensors": tensors({"a": [1.0]}), "pytorch_model.bin": b"\x80\x04"}
    written(tmp_path / "model", {**model, "tokenizer.json": b"{}", "optimizer.pt": b"\x80", ".secret": b""})
    chosen = [member.path for member in contents.weights(str(tmp_path / "model"))]
    assert chosen == ["weights/model/config.json", "weights/model/model.safetensors", "weights/model/tokenizer.json"]
    written(tmp_path / "old", {"config.json": b"{}", "pytorch_model.bin": b"\x80\x04"})
    with pytest.raises(NotPacked, match=r"only in pytorch_model\.bin, which can run code"):
        contents.weights(str(tmp_path / "old"))
    with pytest.raises(NotPacked, match="can run code"):
        contents.weights(str(tmp_path / "old" / "pytorch_model.bin"))
    with pytest.raises(NotPacked, match="has no weights"):
        contents.weights(str(tmp_path / "nowhere"))


def test_a_cache_of_downloads_is_read_through_its_own_links_alone(tmp_path: Path) -> None:
    written(tmp_path, {"hub/blobs/1": tensors({"a": [1.0]}), "hub/snapshots/x/config.json": b"{}", "key": b"secret"})
    snapshot = tmp_path / "hub" / "snapshots" / "x"
    (snapshot / "model.safetensors").symlink_to("../../blobs/1")
    assert len(contents.weights(str(snapshot))) == 2
    (snapshot / "vocab.txt").symlink_to(tmp_path / "key")
    with pytest.raises(NotPacked, match="leads out of its folder"):
        contents.weights(str(snapshot))


def test_data_follows_no_link_out_of_its_folder(tmp_path: Path) -> None:
    written(tmp_path, {"data/a/b.jsonl": b"{}\n", "data/.hidden": b"", "key": b"secret"})
    paths = [member.path for member in contents.data(str(tmp_path / "data"))]
    assert paths == ["data/data/a/b.jsonl"] and contents.data(str(tmp_path / "key"))[0].path == "data/key"
    (tmp_path / "data" / "key").symlink_to(tmp_path / "key")
    with pytest.raises(NotPacked, match="leads out of its folder"):
        contents.data(str(tmp_path / "data"))
    (tmp_path / "data" / "key").unlink()
    (tmp_path / "data" / "loop").symlink_to(tmp_path / "data")
    with pytest.raises(NotPacked, match="is a link to a folder"):
        contents.data(str(tmp_path / "data"))


def test_names_that_collide_or_are_not_everywhere_the_same_are_refused(tmp_path: Path) -> None:
    one, other = written(tmp_path, {"a.txt": b"1", "b.txt": b"2"})
    for first, second in (("data/x", "data/X"), ("data/x", "data/x/y"), ("data/x/y", "data/x")):
        with pytest.raises(NotPacked, match="would both be"):
            pack([Member(first, one.source), Member(second, other.source)], str(tmp_path / "no"), PART)
    for name in ("data/ä", "data/a b", "data/.x", "data/x.pkl"):
        with pytest.raises(NotPacked, match="cannot be packed"):
            pack([Member(name, one.source)], str(tmp_path / "no"), PART)
    for place in (tmp_path / "gone", tmp_path):
        with pytest.raises(NotPacked, match="not a regular file"):
            pack([Member("data/x", str(place))], str(tmp_path / "no"), PART)
    with pytest.raises(NotPacked, match="exists already"):
        pack([one], str(tmp_path), PART)
    assert not (tmp_path / "no").exists()


# -- what comes back --------------------------------------------------------------------------------------------------


def test_results_come_back_small_with_adapters_in_bf16(tmp_path: Path) -> None:
    values = [1.0, -2.5, 0.1, 3.4e38, float("inf"), float("-inf"), 1e-40]
    run = {
        "metrics.jsonl": b'{"loss":1}\n',
        "last/adapter_model.safetensors": tensors({"b": values, "a": [1.0]}, metadata={"format": "pt"}),
        "last/adapter_config.json": b"{}",
        "last/plansafe.json": json.dumps({"version": 1, "weights_sha256": "0" * 64}).encode(),
        "checkpoints/step-00000001/state.json": b"{}",
        "checkpoints/step-00000001/optimizer.safetensors": tensors({"m": [0.0]}),
    }
    written(tmp_path / "run", run)
    assert pack_run([str(tmp_path / "run"), "-o", str(tmp_path / "back")]) == 0
    assert max([path.stat().st_size for path in (tmp_path / "back").iterdir()]) < 16 << 20
    unpack(str(tmp_path / "back"), str(tmp_path / "home"))
    home = tmp_path / "home" / "results" / "run"
    inside = [f"last/{name}" for name in ("adapter_config.json", "adapter_model.safetensors", "plansafe.json")]
    assert sorted(found(home)) == [*inside, "metrics.jsonl"]
    adapter = (home / "last/adapter_model.safetensors").read_bytes()
    assert (
        json.loads((home / "last/plansafe.json").read_bytes())["weights_sha256"] == hashlib.sha256(adapter).hexdigest()
    )
    begin = 8 + struct.unpack("<Q", adapter[:8])[0]
    header = json.loads(adapter[8:begin])
    assert header["__metadata__"] == {"format": "pt"} and header["b"]["dtype"] == "BF16" and begin % 8 == 0
    first, last = header["b"]["data_offsets"]
    halves = struct.unpack(f"<{len(values)}H", adapter[begin + first : begin + last])
    back = [struct.unpack("<f", struct.pack("<I", half << 16))[0] for half in halves]
    assert back[:2] == values[:2] and abs(back[2] - 0.1) < 0.1 / 256 and back[3] == float("inf")
    assert back[4:6] == values[4:6] and abs(back[6] - 1e-40) < 1e-40


def test_rounding_is_to_the_nearest_and_ties_go_to_even() -> None:
    cases = {0x3F800000: 0x3F80, 0x3F808000: 0x3F80, 0x3F808001: 0x3F81, 0x3F818000: 0x3F82, 0x3F807FFF: 0x3F80}
    cases |= {0x7F7FFFFF: 0x7F80, 0x7F800001: 0x7FC0, 0xFFFFFFFF: 0xFFFF, 0x80000000: 0x8000, 0xFF800000: 0xFF80}
    words = struct.pack(f"<{len(cases)}I", *cases)
    assert struct.unpack(f"<{len(cases)}H", rounded(words)) == tuple(cases.values())


def test_rounding_is_that_of_torch() -> None:
    torch = pytest.importorskip("torch", reason="needs the extra `align`")
    draw = Random(3)
    words = array("I", [draw.getrandbits(32) for _ in range(20_000)])
    numbers = torch.frombuffer(bytearray(words.tobytes()), dtype=torch.float32)
    theirs = numbers.to(torch.bfloat16)
    ours = torch.frombuffer(bytearray(rounded(words.tobytes())), dtype=torch.bfloat16)
    assert torch.equal(theirs.isnan(), ours.isnan()) and theirs.isnan().any()
    assert torch.equal(theirs[~theirs.isnan()], ours[~ours.isnan()])


def test_an_adapter_in_bf16_stays_as_it_is_and_a_broken_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.safetensors").write_bytes(tensors({"a": [1.0]}, "I32"))
    assert halved(str(tmp_path / "a.safetensors")) is None
    (tmp_path / "a.safetensors").write_bytes(tensors({"a": [1.0]})[:-2])
    with pytest.raises(NotPacked, match="it was cut"):
        halved(str(tmp_path / "a.safetensors"))
    with pytest.raises(NotPacked, match="not the folder of a run"):
        contents.results(str(tmp_path / "nowhere"))
    assert content_problem(str(tmp_path / "a.safetensors")) is not None


def test_runs_of_one_name_are_refused(tmp_path: Path) -> None:
    written(tmp_path, {"a/run/metrics.jsonl": b"{}\n", "b/run/metrics.jsonl": b"{}\n"})
    assert pack_run([str(tmp_path / "a/run"), str(tmp_path / "b/run"), "-o", str(tmp_path / "back")]) == 2
    written(tmp_path, {"c/adapter_model.safetensors": tensors({"a": [1.0]}), "c/plansafe.json": b"["})
    assert pack_run([str(tmp_path / "c"), "-o", str(tmp_path / "back")]) == 2
    assert not (tmp_path / "back").exists()


@pytest.mark.parametrize("run", ["nowhere", "empty"])
def test_a_run_without_results_is_exit_code_2(tmp_path: Path, run: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    assert pack_run([str(tmp_path / run), "-o", str(tmp_path / "back")]) == 2
    assert run in capsys.readouterr().err and not (tmp_path / "back").exists()
