"""Clients that train on verdicts: preference pairs and Safe-Align. A later stage; nothing lives here yet."""
