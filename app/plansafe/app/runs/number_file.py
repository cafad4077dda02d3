"""Numbers of 64 bits in a temporary file: a run of any size has one or two for each plan."""

from __future__ import annotations

import struct
import tempfile
from array import array


class Numbers:
    """Numbers that are put at the end, all of them before the first is read."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def append(self, number: int) -> None:
        """Put a number at the end."""
        self._file.write(struct.pack("=Q", number))
        self._count += 1

    def __getitem__(self, place: int) -> int:
        (number,) = self.between(place, place + 1)
        return number

    def between(self, first: int, end: int) -> array[int]:
        """The numbers from one place to before another."""
        self._file.seek(8 * first)
        return array("Q", self._file.read(8 * (end - first)))

    def close(self) -> None:
        """Free the file."""
        self._file.close()
