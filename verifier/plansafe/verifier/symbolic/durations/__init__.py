"""Timed plans whose durations have a tolerance: the verdict over all durations, exactly."""
