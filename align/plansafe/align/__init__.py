"""Clients that train on verdicts: preference pairs and Safe-Align."""
