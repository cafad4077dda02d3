"""The commands ``safecheck scenario ..``."""
