"""Plans with faults of known kind, and what diagnosis and repair make of them (README.md)."""
