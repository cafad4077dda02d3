"""The commands ``safecheck bench ..`` and ``safecheck bench score``."""
