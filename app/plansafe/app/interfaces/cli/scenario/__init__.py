"""The commands ``safecheck bench scenario ..``."""
