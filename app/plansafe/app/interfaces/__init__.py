"""The interfaces of safecheck: command line, editor, agents, HTTP and HTML pages."""
