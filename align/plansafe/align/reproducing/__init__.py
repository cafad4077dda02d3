"""Reproduction: data, SFT, preference runs by method and seed, tables and plots, in stages that resume."""
