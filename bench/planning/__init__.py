"""Runs of real models over the drawn tasks, kept; ``safecheck bench tables`` shows them (bench/results/models.md)."""
