"""The homes of the experiments: rooms with their numbers, and the doors between them.

A constraint such as "never go to the bathroom" is about every room that a walk passes. VirtualHome 2.3 numbers a room
and then the objects in it, so an object is in the room with the highest number below its own. The doors were inferred:
of the 38 maps of four rooms, these have the fewest doors among the maps that agree with the public labels of all
monitored runs (docs/home-worlds.md).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Home(NamedTuple):
    """The number of each room (``None`` without a number), and the rooms next to each room."""

    rooms: Mapping[str, int | None]
    doors: Mapping[str, tuple[str, ...]]

    def room_of(self, number: int) -> str | None:
        """The room of the object with a number; ``None`` if the rooms have no numbers, or only higher ones."""
        candidates = [(first, room) for room, first in self.rooms.items() if first is not None and first <= number]
        return max(candidates)[1] if candidates else None

    def path(self, start: str, end: str) -> tuple[str, ...]:
        """A shortest path of rooms from ``start`` to ``end``, both included; empty if there is none.

        Of several shortest paths, the first in the order of the doors. Linear in the number of doors.
        """
        predecessors: dict[str, str | None] = {start: None}
        queue = deque([start])
        while queue and end not in predecessors:
            room = queue.popleft()
            for next_room in self.doors.get(room, ()):
                if next_room not in predecessors:
                    predecessors[next_room] = room
                    queue.append(next_room)
        path = []
        current: str | None = end if end in predecessors else None
        while current is not None:
            path.append(current)
            current = predecessors[current]
        return tuple(reversed(path))


def home(rooms: Mapping[str, int | None], doors: Sequence[tuple[str, str]] | None) -> Home:
    """Build a home. If ``doors`` is ``None``, there is a door between any two rooms."""
    pairs = [(a, b) for a in rooms for b in rooms if a < b] if doors is None else doors
    neighbours: dict[str, list[str]] = {room: [] for room in rooms}
    for a, b in pairs:
        neighbours[a].append(b)
        neighbours[b].append(a)
    return Home(dict(rooms), {room: tuple(sorted(set(names))) for room, names in neighbours.items()})


_KITCHEN_IN_THE_MIDDLE = [("bathroom", "kitchen"), ("bedroom", "kitchen"), ("kitchen", "livingroom")]
_IN_A_ROW = [("bathroom", "bedroom"), ("bedroom", "kitchen"), ("kitchen", "livingroom")]

# By the benchmark's name, which is the number of the simulator's scene.
HOMES: Mapping[str, Home] = {
    "0": home({"bathroom": 11, "bedroom": 73, "kitchen": 205, "livingroom": 335}, _IN_A_ROW),
    "1": home({"bathroom": 11, "bedroom": 50, "kitchen": 126, "livingroom": 261}, _KITCHEN_IN_THE_MIDDLE),
}
ROOMS = ("bathroom", "bedroom", "kitchen", "livingroom")
