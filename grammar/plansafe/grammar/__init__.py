"""Text to trees with places, and diagnostics as data."""
