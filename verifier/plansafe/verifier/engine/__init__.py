"""The explicit engine: states, compiled actions, axioms, and the replay of plans."""
