"""From formulas to code: normal forms, joins over facts, and generated functions."""
