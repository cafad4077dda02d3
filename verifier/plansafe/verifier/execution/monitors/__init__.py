"""Incremental monitors: work proportional to what a step changes."""
