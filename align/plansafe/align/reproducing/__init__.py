"""Reproduction of the experiments: tasks, SFT, rounds of sampling, pairs and training, evaluation, report."""
