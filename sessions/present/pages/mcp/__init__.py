"""MCP servers on pages: their lists, their tools with the rules for these, and sign-ins."""
