"""Plans as language models write them, read against the task at hand: to a plain plan with notes, or a refusal."""
