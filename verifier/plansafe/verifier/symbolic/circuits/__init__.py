"""Circuits, numbers that depend on inputs, and the solvers that decide them."""
