"""MCP servers that are programs: each runs in the sandbox and is spoken to over its pipes.

`stdio` carries one exchange, `client` says what a server is asked, `content` reads what a tool
gave. What servers say is hostile: it is bounded, and not acted on.
Source: https://modelcontextprotocol.io/specification/2025-06-18, behaviour facts 1.15 and 7.1.
"""
