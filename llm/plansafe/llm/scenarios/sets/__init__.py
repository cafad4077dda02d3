"""Sets of scenarios in part files: reading, acceptance, splits and figures (docs/scenarios.md, "Sets")."""
