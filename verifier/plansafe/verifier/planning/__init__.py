"""Planners with one interface: find a safe continuation to the goal, or a shortest one."""
