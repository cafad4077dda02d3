"""How a model's plan is held to the task: a grammar of typed steps, a shield, a guide."""
