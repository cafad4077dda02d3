"""The commands ``safecheck bench ..`` and ``safecheck score``."""
