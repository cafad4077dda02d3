"""Checkpoints: the trained weights and the optimizer's tensors as safetensors, the rest as JSON. Never a pickle.

A checkpoint is a folder that is renamed to its name when all of it is on the disk, so that a process that is killed
leaves none or a whole one. ``state.json`` has the sums of the others: what was changed or cut later is refused, not
passed over, since an older checkpoint in its place would hide that the disk loses data.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from typing import Any

from plansafe.align.training.devices import cut_like, whole
from plansafe.align.training.folder import CHECKPOINTS, PART, Folder, bad_run
from plansafe.llm.metrics.fields import BadField, only, read_line
from plansafe.llm.models.adapter import file_sum
from plansafe.llm.models.weights import PICKLES, opened

STATE, WEIGHTS, OPTIMIZER = "state.json", "weights.safetensors", "optimizer.safetensors"
_NAME = re.compile(r"step-(\d{8})\Z")
_FIELDS = ("version", "step", "run_sha256", "weights_sha256", "optimizer_sha256")
_VERSION = 1
_MOST_BYTES = 1 << 20
_HELP = "delete this checkpoint to continue from the one before it, or the folder of the run to start again"


def save(folder: Folder, step: int, weights: Mapping[str, Any], optimizer: Mapping[str, Any], keep: int) -> None:
    """Write the checkpoint of a step, and delete all but the last ``keep``. Raises ``OSError``."""
    from safetensors.torch import save_file  # noqa: PLC0415 - comes with torch's extra

    parent = folder.at(CHECKPOINTS)
    target = os.path.join(parent, f"step-{step:08d}")
    if os.path.isdir(target):
        return
    part = tempfile.mkdtemp(prefix=PART, dir=parent)
    os.chmod(part, 0o755)
    state: dict[str, Any] = {"version": _VERSION, "step": step, "run_sha256": folder.sha256}
    for name, tensors in ((WEIGHTS, weights), (OPTIMIZER, optimizer)):
        path = os.path.join(part, name)
        save_file({key: one.detach().cpu().contiguous().clone() for key, one in tensors.items()}, path)
        state[f"{name.partition('.')[0]}_sha256"] = file_sum(path)
        _synced(path)
    path = os.path.join(part, STATE)
    with open(path, "w", encoding="ascii") as file:
        file.write(json.dumps(state, indent=2) + "\n")
    _synced(path)
    os.rename(part, target)
    _synced(parent)
    for old in _steps(parent)[:-keep]:
        # Renamed first: a deletion that is interrupted must not leave a checkpoint without its weights.
        gone = os.path.join(parent, f"{PART}{old:08d}")
        os.rename(os.path.join(parent, f"step-{old:08d}"), gone)
        shutil.rmtree(gone, ignore_errors=True)


def last(folder: Folder) -> int:
    """The step of the last checkpoint, 0 if there is none. Raises :class:`BadTraining` for what is no checkpoint."""
    parent = folder.at(CHECKPOINTS)
    for name in sorted(os.listdir(parent)):
        if not _NAME.match(name) and not name.startswith(PART):
            reason = "it can run code when it is loaded" if name.lower().endswith(PICKLES) else "it is not a checkpoint"
            raise bad_run(os.path.join(parent, name), reason, "remove it")
    return max(_steps(parent), default=0)


def load(folder: Folder, step: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Weights and optimizer of a checkpoint by name, on the CPU. Raises :class:`BadTraining`."""
    from safetensors import SafetensorError  # noqa: PLC0415 - comes with torch's extra
    from safetensors.torch import load_file  # noqa: PLC0415

    path = os.path.join(folder.at(CHECKPOINTS), f"step-{step:08d}")
    state = _state(path)
    if state["run_sha256"] != folder.sha256 or state["step"] != step:
        raise bad_run(path, "it is the checkpoint of another run or step", _HELP)
    found = []
    for name in (WEIGHTS, OPTIMIZER):
        file = os.path.join(path, name)
        try:
            if file_sum(file) != state[f"{name.partition('.')[0]}_sha256"]:
                raise bad_run(file, f"it does not match {STATE}: it was changed or is incomplete", _HELP)
            found.append(load_file(file))
        except (SafetensorError, OSError, ValueError) as error:
            said = getattr(error, "strerror", None) or " ".join(str(error).split())[:200]
            raise bad_run(file, said, _HELP) from None
    return found[0], found[1]


def _state(path: str) -> dict[str, Any]:
    known = {STATE, WEIGHTS, OPTIMIZER}
    try:
        names = sorted(os.listdir(path))
    except OSError as error:
        raise bad_run(path, error.strerror or "cannot be read", _HELP) from None
    for name in names:
        if name not in known:
            pickle = name.lower().endswith(PICKLES)
            reason = "it can run code when it is loaded" if pickle else "it is not part of a checkpoint"
            raise bad_run(os.path.join(path, name), reason, "remove it")
    file = os.path.join(path, STATE)
    try:
        with opened(file) as stream:
            found = read_line(stream.read(_MOST_BYTES))
        only(found, _FIELDS)
    except OSError as error:
        raise bad_run(file, error.strerror or "cannot be read", _HELP) from None
    except BadField as error:
        raise bad_run(file, str(error), _HELP) from None
    if found.get("version") != _VERSION or any([field not in found for field in _FIELDS]):
        raise bad_run(file, "it is not the state of a checkpoint", _HELP)
    return found


def fill(parameters: Mapping[str, Any], tensors: Mapping[str, Any], path: str) -> None:
    """Put weights in their places. Raises :class:`BadTraining` where names or shapes are not the same."""
    _alike(parameters, tensors, path)
    for name, one in parameters.items():
        one.data.copy_(cut_like(one.data, tensors[name]))


def optimizer_tensors(optimizer: Any, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The state of Adam for each trained weight, by name."""
    found = {}
    for name, one in parameters.items():
        for key, value in optimizer.state[one].items():
            found[f"{name}|{key}"] = whole(value)
    return found


def fill_optimizer(optimizer: Any, parameters: Mapping[str, Any], tensors: Mapping[str, Any], path: str) -> None:
    """Give Adam back its state. Raises :class:`BadTraining` where names or shapes are not the same."""
    for name, one in parameters.items():
        state = {}
        for key in ("step", "exp_avg", "exp_avg_sq"):
            value = tensors.get(f"{name}|{key}")
            if value is None or (key != "step" and value.shape != one.shape):
                raise bad_run(path, f"it lacks the optimizer's `{key}` of {name[:80]}", _HELP)
            state[key] = value.clone() if key == "step" else cut_like(one.data, value)
        optimizer.state[one] = state


def _alike(parameters: Mapping[str, Any], tensors: Mapping[str, Any], path: str) -> None:
    for name in sorted({*parameters, *tensors}):
        if name not in parameters or name not in tensors or parameters[name].shape != tensors[name].shape:
            raise bad_run(path, f"{name[:80]} differs from the model", _HELP)


def _steps(parent: str) -> list[int]:
    return sorted([int(found[1]) for found in map(_NAME.match, os.listdir(parent)) if found is not None])


def _synced(path: str) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
