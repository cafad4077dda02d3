"""Evaluation of models: answers in batches, verdicts, figures with intervals, comparisons of runs."""
