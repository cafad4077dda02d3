"""Making of pairs: safe plans, and unsafe partners aimed at a rule (docs/preference-pairs.md)."""
