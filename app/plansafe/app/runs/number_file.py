"""A list of 64-bit numbers in a temporary file. A run of any size needs one or two for each plan."""

from __future__ import annotations

import struct
import tempfile
from array import array


class NumberFile:
    """A list of numbers. Append all numbers before reading the first."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def append(self, number: int) -> None:
        """Append a number."""
        self._file.write(struct.pack("=Q", number))
        self._count += 1

    def __getitem__(self, place: int) -> int:
        (number,) = self.between(place, place + 1)
        return number

    def between(self, first: int, end: int) -> array[int]:
        """The numbers from index ``first`` to before ``end``."""
        self._file.seek(8 * first)
        return array("Q", self._file.read(8 * (end - first)))

    def close(self) -> None:
        """Close the file, which deletes it."""
        self._file.close()
