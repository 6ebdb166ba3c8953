"""Tools beyond the built-in ones that a turn offers: MCP, custom tools, skills."""
