"""Typed model of a task: nodes, operations, evaluation by definition, footprints, printing."""
