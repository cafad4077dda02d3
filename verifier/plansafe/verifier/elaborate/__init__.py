"""Names and types: from syntax trees to the typed lifted model. Every mistake is reported, not the first alone."""
