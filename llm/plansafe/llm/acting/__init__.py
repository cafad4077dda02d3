"""New scenarios by Multi-Agent Acting: roles talk about a hazard, a writer writes it down, checks decide."""
