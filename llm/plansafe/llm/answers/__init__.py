"""Answers of models to what is no plan, read within bounds: decisions, goals, models of actions, confidences."""
