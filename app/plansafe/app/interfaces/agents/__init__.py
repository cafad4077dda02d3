"""Doors for agents and robots: operations over texts, and MCP and HTTP on top of them (docs/service.md)."""
