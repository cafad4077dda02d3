"""Models judged by what they plan: answers in batches, verdicts, figures with intervals, and runs side by side."""
