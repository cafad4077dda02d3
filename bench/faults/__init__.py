"""Plans with seeded faults of known kinds, and the measurement of diagnosis and repair on them (README.md)."""
