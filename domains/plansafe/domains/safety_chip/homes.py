"""The homes of the experiments: rooms with their numbers, and the doors between them.

A constraint such as "never go to the bathroom" sees every room on the way, so that a walk is judged by the home it is
in. Numbers are those of VirtualHome 2.3, which counts a room and then all that is in it: a thing is in the room with
the highest number below its own. Which rooms adjoin was inferred: of the 38 maps of four rooms, these have the fewest
doors among those that fit the public labels of all monitored runs (docs/home-worlds.md).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Home(NamedTuple):
    """Rooms by name with their numbers (``None`` where they have none), and for each room those next to it."""

    rooms: Mapping[str, int | None]
    doors: Mapping[str, tuple[str, ...]]

    def room_of(self, number: int) -> str | None:
        """The room of the thing with this number, if rooms are numbered and it is in one."""
        found = [(first, room) for room, first in self.rooms.items() if first is not None and first <= number]
        return max(found)[1] if found else None

    def way(self, start: str, end: str) -> tuple[str, ...]:
        """The rooms to pass from ``start`` to ``end``, both included; empty if there is no way.

        The shortest way; of several, the first in the order of doors. Linear in the doors.
        """
        before: dict[str, str | None] = {start: None}
        ahead = deque([start])
        while ahead and end not in before:
            room = ahead.popleft()
            for other in self.doors.get(room, ()):
                if other not in before:
                    before[other] = room
                    ahead.append(other)
        way = []
        room_or_none: str | None = end if end in before else None
        while room_or_none is not None:
            way.append(room_or_none)
            room_or_none = before[room_or_none]
        return tuple(reversed(way))


def home(rooms: Mapping[str, int | None], doors: Sequence[tuple[str, str]] | None) -> Home:
    """Build a home; ``doors`` ``None``: from every room straight into every other."""
    pairs = [(a, b) for a in rooms for b in rooms if a < b] if doors is None else doors
    beside: dict[str, list[str]] = {room: [] for room in rooms}
    for a, b in pairs:
        beside[a].append(b)
        beside[b].append(a)
    return Home(dict(rooms), {room: tuple(sorted(set(others))) for room, others in beside.items()})


_KITCHEN_IN_THE_MIDDLE = [("bathroom", "kitchen"), ("bedroom", "kitchen"), ("kitchen", "livingroom")]
_IN_A_ROW = [("bathroom", "bedroom"), ("bedroom", "kitchen"), ("kitchen", "livingroom")]

# By the name that the benchmark gives them, the number of the simulator's scene.
HOMES: Mapping[str, Home] = {
    "0": home({"bathroom": 11, "bedroom": 73, "kitchen": 205, "livingroom": 335}, _IN_A_ROW),
    "1": home({"bathroom": 11, "bedroom": 50, "kitchen": 126, "livingroom": 261}, _KITCHEN_IN_THE_MIDDLE),
}
ROOMS = ("bathroom", "bedroom", "kitchen", "livingroom")
