"""Verdicts as a page to look at: one file that needs no server and asks for nothing."""
