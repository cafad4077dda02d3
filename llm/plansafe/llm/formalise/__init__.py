"""From a sentence to a rule: samples of a model, grouped by meaning, shown in words and never used unseen."""
