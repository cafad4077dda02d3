"""Executions as values: states, steps, monitors and replays, for audits, searches, repairs and robots."""
