"""The papers' benchmarks: SAFEL's four tests, SafePlan-Bench and DESPITE, from tasks to tables."""
