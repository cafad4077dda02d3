"""The two papers' benchmarks: SAFEL's four tests and SafePlan-Bench, from tasks to tables."""
