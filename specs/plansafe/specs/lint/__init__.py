"""The linter: what is wrong with a specification before any plan is judged (docs/safety-rules.md)."""
