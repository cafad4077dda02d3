"""Runs of real models over the drawn tasks, kept; ``safecheck bench tables`` shows them (docs/benchmarks.md)."""
