"""Answers to the Embodied Agent Interface, judged by its own evaluator and by us, side by side."""
