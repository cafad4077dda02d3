"""Benchmarks of models: tasks, what a model made of them, and tables. Runs are files that can be resumed."""
