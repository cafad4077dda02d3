"""Pairs with their mirror images: what the safe plan has more of in the one, the unsafe plan has more of in the other.

Whoever sees lengths and counts of actions alone has nothing to go by then, however they are combined.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from plansafe.align.choosing.lengths import side_of
from plansafe.align.choosing.pool import Sketch

Unit = tuple[Sketch, ...]
"""One pair, or two that are mirror images of each other."""
_TOLERANCES = ((True, 2), (False, 1), (True, 6), (False, 4), (False, 12), (False, 40))
"""Letters by which two differences may differ, first among pairs of a rule (true), then of all rules."""


def units(sketches: Sequence[Sketch], random: Random) -> tuple[list[Unit], list[Unit]]:
    """What tells nothing (pairs without a difference, and mirror images), and pairs that are left over.

    Both in an order that is drawn; mirror images agree in all counts, and in letters as nearly as there are such.
    """
    mixed = random.sample(sketches, len(sketches))
    even: list[Unit] = []
    left: list[Sketch] = []
    for sketch in mixed:
        if sketch.difference:
            left.append(sketch)
        else:
            even.append((sketch,))
    for of_a_rule, tolerance in _TOLERANCES:
        found, left = _coupled(left, (lambda one: one.rule) if of_a_rule else (lambda _: ""), tolerance)
        even += found
    return random.sample(even, len(even)), [(sketch,) for sketch in left]


def _coupled(
    sketches: Sequence[Sketch], group: Callable[[Sketch], str], tolerance: int
) -> tuple[list[Unit], list[Sketch]]:
    sides: dict[object, tuple[list[tuple[int, int]], list[tuple[int, int]]]] = {}
    for at, sketch in enumerate(sketches):
        kind, side, letters = side_of(sketch.difference)
        both = sides.setdefault((kind, group(sketch)), ([], []))
        both[side < 0].append((letters, at))
    out: list[Unit] = []
    gone: set[int] = set()
    for one, other in sides.values():
        one.sort()
        other.sort()
        mine = yours = 0
        while mine < len(one) and yours < len(other):
            apart = one[mine][0] - other[yours][0]
            if abs(apart) <= tolerance:
                numbers = one[mine][1], other[yours][1]
                gone.update(numbers)
                out.append((sketches[numbers[0]], sketches[numbers[1]]))
            mine += apart <= tolerance
            yours += -apart <= tolerance
    return out, [sketch for at, sketch in enumerate(sketches) if at not in gone]
