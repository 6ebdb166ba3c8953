"""MCP servers of a project: which there are, where, and what was granted there."""
