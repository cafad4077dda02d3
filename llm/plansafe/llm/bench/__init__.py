"""Benchmarks of models: SAFEL, SafePlan-Bench, DESPITE and drawn tasks, from tasks and questions to tables."""
