"""Corrections by rule: one file for each group of rules, in the order in which :mod:`..fix` asks them."""
