"""Reports: findings, the history of facts, summary, coverage, and confirmation by the kernel."""
