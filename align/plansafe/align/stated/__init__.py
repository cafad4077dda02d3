"""Household tasks whose prompts state the safety rules: 45 families, each with rules that do and do not matter.

A family and its goal do not determine whether the obvious plan is safe: tasks come in twins with the same words, goal
and home, and in exactly one of the two the shortest plan breaks the stated rule (docs/alignment.md).
"""
