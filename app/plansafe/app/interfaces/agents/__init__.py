"""The interface for agents and robots: operations on texts, used by MCP and HTTP (docs/service.md)."""
