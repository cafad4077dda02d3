"""The verdict in words: findings, the history behind them, summary, confirmation by the kernel, the report."""
