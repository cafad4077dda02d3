"""The nearest safe plan: optimal alignment of a plan with the safe plans of its task (docs/repair.md)."""
