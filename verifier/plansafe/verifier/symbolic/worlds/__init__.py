"""A plan over all worlds: initial state, steps, rules, verdict, causes, questions."""
