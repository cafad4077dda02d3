"""Structured answers: JSON, YAML, XML, tables, code and the like, parsed by libraries and read as one list of steps."""
