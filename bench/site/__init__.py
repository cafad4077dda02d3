"""The site of the documentation: its navigation from ``docs/README.md``, its reference from the code."""
