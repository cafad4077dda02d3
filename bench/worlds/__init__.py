"""Benchmarks of verdicts over worlds."""
