"""Packs: code, data and weights for a machine without a network, in small parts with sums (docs/alignment.md)."""
