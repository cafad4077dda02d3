"""What language models write: loose plans and scenarios, read against a task. Imported without any model."""
