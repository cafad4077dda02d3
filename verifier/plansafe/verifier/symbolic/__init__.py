"""The symbolic engine: one evaluation of a plan for all worlds that a description allows (docs/worlds.md)."""
