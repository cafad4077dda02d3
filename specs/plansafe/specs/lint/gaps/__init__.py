"""What a search finds that a specification does not forbid."""
