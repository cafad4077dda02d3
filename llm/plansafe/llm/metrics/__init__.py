"""Metrics of published benchmarks, as pure functions over records: SAFEL's, SafePlan-Bench's, DESPITE's, shared parts.

docs/metrics.md has every formula with its source, and our decisions where a paper is not explicit.
"""
