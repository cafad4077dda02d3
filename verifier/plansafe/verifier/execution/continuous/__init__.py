"""Continuous time: processes, events and continuous effects between the happenings of a plan (PDDL+)."""
