"""Diagnosis of a plan: classes of error, published labels, localisation, causes, regrets (docs/diagnose.md)."""
