"""Incremental monitors of rule parts, whose work is proportional to the changes of a step."""
