"""The linter: mistakes in a specification, found before any plan is checked (docs/safety-rules.md)."""
