"""Partially ordered plans: verdicts over all orders that a plan allows (docs/worlds.md)."""
