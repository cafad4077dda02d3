"""Read other answers than plans, within bounds: decisions, goals, models of actions, confidences."""
