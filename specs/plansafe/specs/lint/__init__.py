"""The linter: what is wrong with a specification before any plan is judged (docs/lint.md)."""
