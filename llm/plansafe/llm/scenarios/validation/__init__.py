"""Scenarios that language models wrote: which criteria they meet, and corrections by rule (docs/scenarios.md)."""
