"""Choosing among candidate pairs: duplicates, filters, balance, the split, and what comes out (docs/preference-pairs.md)."""
