"""Typed model of a task: nodes, grounding, what they read and write, evaluation by definition, printing."""
