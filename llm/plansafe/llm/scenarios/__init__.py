"""Scenarios as data: what one folder holds, how it is read, and those that come with safecheck (docs/scenarios.md)."""
