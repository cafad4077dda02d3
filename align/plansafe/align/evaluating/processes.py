"""Several processes of one evaluation, as ``torchrun`` and ``accelerate launch`` start them.

Process r of n answers every n-th task and writes its own file. The process that finishes last merges the files; the
merged file is the one that a single process writes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from plansafe.llm.bench.run_file import RunFile, bad_run, read_run

_Task = TypeVar("_Task")


class Share(NamedTuple):
    """The part of the tasks that this process answers: every ``processes``-th from ``rank`` on."""

    rank: int = 0
    processes: int = 1

    def of(self, tasks: Sequence[_Task]) -> Sequence[_Task]:
        """The tasks of this process."""
        return tasks[self.rank :: self.processes]

    def header(self, first: Mapping[str, Any]) -> Mapping[str, Any]:
        """The header of this process's file."""
        return first if self == ALONE else {**first, "share": [self.rank, self.processes]}

    def path(self, output: str) -> str:
        """This process's file."""
        return output if self == ALONE else f"{output}.part-{self.rank}-of-{self.processes}"


ALONE = Share()


def share_of(environment: Mapping[str, str]) -> Share:
    """The share that the launcher gave to this process, or everything. Raises ``ValueError`` for wrong numbers."""
    share = Share(int(environment.get("RANK", "0")), int(environment.get("WORLD_SIZE", "1")))
    if not 0 <= share.rank < share.processes:
        raise ValueError(f"RANK is {share.rank} of WORLD_SIZE {share.processes}")
    return share


def use_own_gpu(environment: Mapping[str, str]) -> None:
    """Make ``cuda`` mean the GPU of this process, where several processes share a machine with GPUs."""
    if "LOCAL_RANK" not in environment:
        return
    import torch  # noqa: PLC0415 - a second to load, and only for several processes

    if torch.cuda.is_available():
        torch.cuda.set_device(int(environment["LOCAL_RANK"]))


def merge(output: str, first: Mapping[str, Any], tasks: Sequence[str], samples: int, count: int) -> bool:
    """Merge the files of ``count`` processes into ``output`` if all are complete; false if one is still at work."""
    shares = [Share(rank, count) for rank in range(count)]
    names = [name for name in tasks for _ in range(samples)]

    def record(number: int) -> dict[str, Any]:
        task, sample = divmod(number, samples)
        return parts[task % count][(task // count) * samples + sample]

    with _locked(f"{output}.lock"):
        parts = [read_run(share.path(output)).records for share in shares if os.path.exists(share.path(output))]
        if len(parts) == count and sum(map(len, parts)) == len(names):
            with RunFile(output, first) as file:
                for _ in file.complete(names, record):
                    pass
            for share in shares:
                os.remove(share.path(output))
        elif not os.path.exists(output):
            return False
        with RunFile(output, first) as file:  # another process has merged the files: of this run, and all of it?
            if len(file.records) < len(names):
                raise bad_run(output, "one process began it", "continue with one process, or name another file")
    return True


@contextmanager
def _locked(path: str) -> Iterator[None]:
    """Hold a lock on a file; wait for another process that holds it. Without locks (Windows) hold none."""
    with open(path, "ab") as file:
        try:
            import fcntl  # noqa: PLC0415 - Windows has none
        except ImportError:
            yield
            return
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
