"""Answers to the Embodied Agent Interface, evaluated by its own evaluator and by safecheck."""
