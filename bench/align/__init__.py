"""Measurements of what trains models: what regrets cost, how fast rewards are."""
