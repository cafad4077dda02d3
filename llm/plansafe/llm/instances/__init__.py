"""Household tasks drawn by seed: objects, rooms, people and goals, from families of tasks."""
