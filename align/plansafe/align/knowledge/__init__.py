"""Questions about our worlds that the engine answers: effects, preconditions, places (docs/alignment.md)."""
