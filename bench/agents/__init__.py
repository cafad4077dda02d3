"""Measurements of the interfaces for agents and robots."""
