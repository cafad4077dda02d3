"""What comes back of runs, with adapters in bf16: 32-bit numbers rounded to their upper half, ties to even.

No library is needed: results are packed where few are installed.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from array import array
from collections.abc import Sequence
from typing import Any

from plansafe.align.packing.contents import results
from plansafe.align.packing.pack import Member, NotPacked, pack
from plansafe.align.packing.unpack import Manifest, content_problem
from plansafe.grammar.shallow_json import loads
from plansafe.llm.metrics.fields import BadField, read_line
from plansafe.llm.models.adapter import IDENTITY
from plansafe.llm.models.adapter import WEIGHTS as ADAPTER

_MOST_IDENTITY = 1 << 20


def halved(path: str) -> bytes | None:
    """A file of safetensors with all F32 tensors as BF16; ``None`` where it has none. Raises :class:`NotPacked`."""
    wrong = content_problem(path)
    if wrong is not None:
        raise NotPacked(f"{path} cannot be packed: {wrong}")
    with open(path, "rb") as file:
        content = file.read()
    begin = 8 + int.from_bytes(content[:8], "little")
    try:
        header = loads(content[8:begin])
    except RecursionError:
        raise NotPacked(f"{path} cannot be packed: its header is nested too deeplylyly") from None
    if all([tensor.get("dtype") != "F32" for tensor in header.values()]):
        return None
    kept: dict[str, Any] = {"__metadata__": header.pop("__metadata__")} if "__metadata__" in header else {}
    pieces: list[bytes] = []
    at = 0
    for name, tensor in sorted(header.items(), key=lambda item: tuple(item[1]["data_offsets"])):
        first, last = tensor["data_offsets"]
        piece, kind = content[begin + first : begin + last], tensor["dtype"]
        if kind == "F32":
            piece, kind = rounded(piece), "BF16"
        kept[name] = {"dtype": kind, "shape": tensor["shape"], "data_offsets": [at, at + len(piece)]}
        pieces.append(piece)
        at += len(piece)
    said = json.dumps(kept, separators=(",", ":")).encode("ascii")
    said += b" " * (-len(said) % 8)  # tensors are aligned to 8 bytes
    return b"".join([len(said).to_bytes(8, "little"), said, *pieces])


def rounded(numbers: bytes) -> bytes:
    """Little-endian numbers of 32 bits as bf16. What is no number stays none."""
    words = array("I", numbers)
    if words.itemsize != 4:
        raise NotPacked("this machine has no integers of 32 bits", "save the adapter in bf16")
    if sys.byteorder == "big":
        words.byteswap()
    halves = array(
        "H",
        [
            (word >> 16) | 0x40 if word & 0x7FFFFFFF > 0x7F800000 else (word + 0x7FFF + (word >> 16 & 1)) >> 16
            for word in words
        ],
    )
    if sys.byteorder == "big":
        halves.byteswap()
    return halves.tobytes()


def pack_results(runs: Sequence[str], target: str, part_bytes: int) -> tuple[Manifest, list[str]]:
    """A pack of what comes back of some runs, adapters in bf16; and the paths that stay behind. Raises as ``pack``."""
    members: dict[str, Member] = {}
    left: list[str] = []
    with tempfile.TemporaryDirectory(prefix="safecheck-pack-") as spare:

        def instead(path: str, content: bytes) -> None:
            source = os.path.join(spare, str(len(os.listdir(spare))))
            members[path] = Member(path, f"{source}{os.path.splitext(path)[1]}")
            with open(members[path].source, "xb") as file:
                file.write(content)

        for run in runs:
            found, behind = results(run)
            left += behind
            for member in found:
                if member.path in members:
                    raise NotPacked(f"{run} and another run have the same name", "rename one of the folders")
                members[member.path] = member
            for member in found:
                half = halved(member.source) if member.path.endswith(ADAPTER) else None
                if half is not None:
                    instead(member.path, half)
                    identity = members.get(member.path.removesuffix(ADAPTER) + IDENTITY)
                    if identity is not None:
                        instead(identity.path, _resealed(identity.source, half))
        return pack(list(members.values()), target, part_bytes), left


def _resealed(path: str, weights: bytes) -> bytes:
    """What says which adapter it is, with the sum of its new weights. Raises :class:`NotPacked`."""
    try:
        with open(path, "rb") as file:
            said = read_line(file.read(_MOST_IDENTITY))
    except (OSError, BadField) as error:
        raise NotPacked(f"{path} cannot be read: {error}") from None
    said["weights_sha256"] = hashlib.sha256(weights).hexdigest()
    return (json.dumps(said, indent=2, allow_nan=False) + "\n").encode("ascii")
