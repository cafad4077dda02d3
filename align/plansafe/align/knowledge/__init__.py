"""Questions about our worlds that the engine answers: effects, what is missing, places, rules (docs/alignment.md)."""
