"""A lower bound on what is left to repair."""

from __future__ import annotations

from plansafe.verifier.repair.graph import Search


class GuidedSearch(Search):
    """A search that counts the faults ahead."""
