"""What the doors for agents and robots cost."""
