"""Preference pairs: a SAFE plan and an UNSAFE plan for the same task (docs/preference-pairs.md)."""
