"""Checkpoints: trained weights and the optimizer's tensors as safetensors, everything else as JSON; no pickle.

A checkpoint is a folder that is renamed to its name when all of it is on the disk, so a process that is killed leaves a
whole checkpoint or none. ``state.json`` has the SHA-256 of the other files: a file that was changed or truncated later
is refused, not replaced by an older checkpoint, since that would hide that the disk loses data.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping
from typing import Any, NamedTuple

from plansafe.align.files import PART, new_folder, write_file
from plansafe.align.training.folder import CHECKPOINTS, Folder, bad_run
from plansafe.llm.metrics.fields import BadField, only, read_line
from plansafe.llm.models.adapter import file_sum
from plansafe.llm.models.weights import PICKLES, opened

STATE, WEIGHTS, OPTIMIZER, TRAINER = "state.json", "weights.safetensors", "optimizer.safetensors", "trainer_state.json"
"""``trainer_state.json`` is written and read by transformers."""
_NAME = re.compile(r"step-(\d{8})\Z")
_SUMS = {name: f"{name.partition('.')[0]}_sha256" for name in (WEIGHTS, OPTIMIZER, TRAINER)}
_FIELDS = ("version", "step", "run_sha256", "scheduler", *_SUMS.values())
_VERSION = 2
_MOST_BYTES = 1 << 20
_HELP = "delete this checkpoint to continue from the one before it, or the folder of the run to start again"


class Checkpoint(NamedTuple):
    """A checkpoint that was read: its folder, and weights, optimizer and scheduler by name, on the CPU."""

    path: str
    weights: dict[str, Any]
    optimizer: dict[str, Any]
    scheduler: dict[str, Any]


def save(
    folder: Folder,
    step: int,
    weights: Mapping[str, Any],
    optimizer: Mapping[str, Any],
    scheduler: Mapping[str, Any],
    trainer_state: Any,
    keep: int,
) -> None:
    """Write the checkpoint of a step, and delete all but the last ``keep``. Raises ``OSError``.

    ``trainer_state``: an object with transformers' ``save_to_json``.
    """
    from safetensors.torch import save_file  # noqa: PLC0415 - comes with torch's extra

    parent = folder.at(CHECKPOINTS)
    target = os.path.join(parent, f"step-{step:08d}")
    if os.path.isdir(target):
        return
    with new_folder(target) as part:
        for name, tensors in ((WEIGHTS, weights), (OPTIMIZER, optimizer)):
            copies = {key: tensor.detach().cpu().contiguous().clone() for key, tensor in tensors.items()}
            save_file(copies, os.path.join(part, name))
        trainer_state.save_to_json(os.path.join(part, TRAINER))
        state: dict[str, Any] = {"version": _VERSION, "step": step, "run_sha256": folder.sha256, "scheduler": scheduler}
        state |= {field: file_sum(os.path.join(part, name)) for name, field in _SUMS.items()}
        write_file(os.path.join(part, STATE), [json.dumps(state, indent=2) + "\n"])
    for old in _steps(parent)[:-keep]:
        # Renamed first: an interrupted deletion must not leave a checkpoint without its weights.
        deleted = os.path.join(parent, f"{PART}{old:08d}")
        os.rename(os.path.join(parent, f"step-{old:08d}"), deleted)
        shutil.rmtree(deleted, ignore_errors=True)


def last(folder: Folder) -> int:
    """The step of the last checkpoint, 0 if there is none. Raises :class:`BadTraining` for an unknown file."""
    parent = folder.at(CHECKPOINTS)
    for name in sorted(os.listdir(parent)):
        if not _NAME.match(name) and not name.startswith(PART):
            reason = "it can run code when it is loaded" if name.lower().endswith(PICKLES) else "it is not a checkpoint"
            raise bad_run(os.path.join(parent, name), reason, "remove it")
    return max(_steps(parent), default=0)


def load(folder: Folder, step: int) -> Checkpoint:
    """Read the checkpoint of a step. Raises :class:`BadTraining`."""
    from safetensors import SafetensorError  # noqa: PLC0415 - comes with torch's extra
    from safetensors.torch import load_file  # noqa: PLC0415

    path = os.path.join(folder.at(CHECKPOINTS), f"step-{step:08d}")
    state = _state(path)
    if state["run_sha256"] != folder.sha256 or state["step"] != step or not isinstance(state["scheduler"], dict):
        raise bad_run(path, "it is the checkpoint of another run or step", _HELP)
    tensors = {}
    for name, field in _SUMS.items():
        file = os.path.join(path, name)
        try:
            if file_sum(file) != state[field]:
                raise bad_run(file, f"it does not match {STATE}: it was changed or is incomplete", _HELP)
            tensors[name] = {} if name == TRAINER else load_file(file)
        except (SafetensorError, OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or " ".join(str(error).split())[:200]
            raise bad_run(file, reason, _HELP) from None
    return Checkpoint(path, tensors[WEIGHTS], tensors[OPTIMIZER], state["scheduler"])


def _state(path: str) -> dict[str, Any]:
    expected = {STATE, *_SUMS}
    try:
        names = sorted(os.listdir(path))
    except OSError as error:
        raise bad_run(path, error.strerror or "cannot be read", _HELP) from None
    for name in names:
        if name not in expected:
            pickle = name.lower().endswith(PICKLES)
            reason = "it can run code when it is loaded" if pickle else "it is not part of a checkpoint"
            raise bad_run(os.path.join(path, name), reason, "remove it")
    file = os.path.join(path, STATE)
    try:
        with opened(file) as stream:
            state = read_line(stream.read(_MOST_BYTES))
        only(state, _FIELDS)
    except OSError as error:
        raise bad_run(file, error.strerror or "cannot be read", _HELP) from None
    except BadField as error:
        raise bad_run(file, str(error), _HELP) from None
    if state.get("version") != _VERSION or any([field not in state for field in _FIELDS]):
        raise bad_run(file, "it is not the state of a checkpoint", _HELP)
    return state


def restore(checkpoint: Checkpoint, parameters: Mapping[str, Any], optimizer: Any, scheduler: Any) -> None:
    """Restore weights, Adam and learning rate. Raises :class:`BadTraining` if names or shapes differ."""
    path, weights = checkpoint.path, checkpoint.weights
    for name in sorted({*parameters, *weights}):
        if name not in parameters or name not in weights or parameters[name].shape != weights[name].shape:
            raise bad_run(path, f"{name[:80]} differs from the model", _HELP)
    for name, parameter in parameters.items():
        parameter.data.copy_(shard_like(parameter.data, weights[name]))
        state = {}
        for key in ("step", "exp_avg", "exp_avg_sq"):
            value = checkpoint.optimizer.get(f"{name}|{key}")
            if value is None or (key != "step" and value.shape != parameter.shape):
                raise bad_run(path, f"it lacks the optimizer's `{key}` of {name[:80]}", _HELP)
            state[key] = value.clone() if key == "step" else shard_like(parameter.data, value)
        optimizer.state[parameter] = state
    scheduler.load_state_dict(checkpoint.scheduler)
    for group, rate in zip(optimizer.param_groups, scheduler.get_last_lr(), strict=True):
        group["lr"] = rate


def optimizer_tensors(optimizer: Any, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The state of Adam for each trained weight, by name."""
    return {
        f"{name}|{key}": gather(value)
        for name, parameter in parameters.items()
        for key, value in optimizer.state[parameter].items()
    }


def gather(tensor: Any) -> Any:
    """The whole tensor of one that is sharded over processes; all of them have to call this."""
    return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor


def shard_like(tensor: Any, whole: Any) -> Any:
    """This process's share of a whole tensor that is to be sharded like another, on its device."""
    if not hasattr(tensor, "full_tensor"):
        return whole.to(tensor.device)
    from torch.distributed.tensor import distribute_tensor  # noqa: PLC0415 - only for several processes

    return distribute_tensor(whole.to(tensor.device_mesh.device_type), tensor.device_mesh, tensor.placements)


def _steps(parent: str) -> list[int]:
    return sorted([int(match[1]) for match in map(_NAME.match, os.listdir(parent)) if match is not None])
