"""From a sentence to a rule: samples of a model, grouped by what they mean, shown in words and never used unseen."""
