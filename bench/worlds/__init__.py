"""Benchmarks of verdicts over possible worlds."""
