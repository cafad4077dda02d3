"""The commands ``safecheck align ..``."""
