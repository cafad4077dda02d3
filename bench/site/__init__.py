"""The documentation site: navigation from ``docs/README.md``, reference pages generated from the code."""
