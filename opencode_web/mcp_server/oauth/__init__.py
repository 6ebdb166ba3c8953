"""OAuth 2.1 for MCP clients, by the accounts of this server.

A client finds the documents of `metadata`, registers at `endpoints`, and sends a browser to
`authorize`, where a signed-in person chooses what it may do. It redeems the code of this (`codes`)
for an API token that is good for `/mcp` alone. Registrations and codes are signed, not stored.

Source: https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization
"""
