"""Choosing among candidate pairs: duplicates, filters, balance, split, data set (docs/preference-pairs.md)."""
