"""MCP servers: programs that run in the sandbox, and servers at an address.

`stdio` and `remote` reach one, `exchange` is the protocol, `client` says what is asked, `content`
reads what a tool gave. What servers say is hostile: it is bounded, and not acted on.
Source: https://modelcontextprotocol.io/specification/2025-06-18, behaviour facts 1.15 and 7.1.
"""
