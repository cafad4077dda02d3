"""Search for missing rules of a specification."""
