"""Partially ordered plans: what is so in all of the orders that a plan allows (docs/worlds.md)."""
