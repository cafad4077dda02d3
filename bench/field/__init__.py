"""Comparisons with published benchmarks (bench/results/field.md)."""
