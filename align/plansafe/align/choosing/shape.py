"""Plans up to the names of their objects, and how their actions hang together: all from their text."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b


def parts(action: str) -> tuple[str, ...]:
    """Name and arguments of an action such as ``(go robot hall kitchen)``."""
    return tuple(action[1:-1].split())


def shape(*plans: Sequence[str]) -> bytes:
    """The same for plans that differ in the names of objects alone, whatever kinds these are.

    Objects are numbered as they occur first, over all the plans together. A hash of 16 bytes.
    """
    numbers: dict[str, int] = {}
    found = blake2b(digest_size=16)
    for plan in plans:
        for action in plan:
            name, *arguments = parts(action) or ("",)
            numbered = [str(numbers.setdefault(one, len(numbers))) for one in arguments]
            found.update(f"{name} {' '.join(numbered)}\n".encode())
        found.update(b"\0")
    return found.digest()


def chain(plan: Sequence[str]) -> int:
    """The length of the longest chain: each of its actions names an object of the one before.

    What all actions name (the robot) does not count.
    """
    named = [frozenset(parts(action)[1:]) for action in plan]
    everywhere = frozenset.intersection(*named) if len(named) > 1 else frozenset()
    longest: dict[str, int] = {}
    most = 0
    for objects in named:
        own = objects - everywhere
        length = 1 + max([longest.get(one, 0) for one in own], default=0)
        for one in own:
            longest[one] = max(longest.get(one, 0), length)
        most = max(most, length)
    return most
