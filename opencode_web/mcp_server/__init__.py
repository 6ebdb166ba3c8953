"""This server as an MCP server at `/mcp`, so that other agents can delegate to its sessions.

A request goes from `views` (who calls, how often, from which site) through the MCP library, which
answers each by itself (`transport`), to one tool of `tools`; these call the actions and fetches
that the API calls, so rights, budgets and the audit log are the same. Nothing is kept between
requests.
"""
