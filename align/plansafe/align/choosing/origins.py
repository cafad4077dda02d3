"""In which order tasks are made pairs of: sources take turns, and so do the sides of the split."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from random import Random
from typing import Literal

from plansafe.align.choosing.scenes import rare_first
from plansafe.align.choosing.splits import split_of
from plansafe.align.records import SPLITS, Split
from plansafe.align.tasks import family_of, scenario_origins, virtualhome_origins
from plansafe.llm.instances.families import FAMILIES
from plansafe.llm.instances.home import MOST_ROOMS

From = Literal["drawn", "scenarios", "virtualhome"]
TURNS: dict[From, int] = {"drawn": 3, "scenarios": 1, "virtualhome": 3}
"""How many tasks of a source there are in a round, as long as it has as many: drawn ones never end."""


def origins(
    sources: Sequence[From],
    seed: int,
    data: str | None,
    wanted: Callable[[], Split],
    *,
    drawn: range | None = None,
    rooms: int = 0,
) -> Iterator[str]:
    """Origins of tasks, without end where households are drawn.

    ``wanted`` is asked which side is to be served; the other is where that has none left. ``drawn``: the numbers of
    drawn households; ``rooms``: how many they have at most beside the kitchen, 0 for as many as are drawn. Raises
    ``OSError`` for data that cannot be read.
    """
    queues = {
        (source, side): queue for source in sources for side, queue in _queues(source, seed, data, drawn, rooms).items()
    }
    while queues:
        for source in sources:
            for _ in range(TURNS[source]):
                side = wanted()
                order = (side, *[other for other in SPLITS if other != side])
                found = next((one for one in order if (source, one) in queues), None)
                if found is None:
                    break
                origin = next(queues[source, found], None)
                if origin is None:
                    del queues[source, found]
                else:
                    yield origin


def _queues(source: From, seed: int, data: str | None, drawn: range | None, rooms: int) -> dict[Split, Iterator[str]]:
    if source == "drawn":
        return {side: _drawn(side, seed, drawn, rooms) for side in SPLITS}
    found = list(scenario_origins() if source == "scenarios" else virtualhome_origins(data) if data else ())
    random = Random(f"{seed}/{source}")
    random.shuffle(found)
    if source == "virtualhome" and data is not None:
        found = rare_first(found, data, random)
    sides = [(split_of(family_of(origin, data)), origin) for origin in found]
    return {side: iter([origin for own, origin in sides if own == side]) for side in SPLITS}


def _drawn(side: Split, seed: int, drawn: range | None, rooms: int) -> Iterator[str]:
    families = [name for name in FAMILIES if split_of(name) == side]
    for number in count() if drawn is None else drawn:
        for family in families:
            full = f"/{rooms or MOST_ROOMS}/full" if number % 2 == 0 else f"/{rooms}" if rooms else ""
            yield f"drawn:{family}/{number}/{seed}{full}"
