"""OpenCode's HTTP API as thin routers over the actions and the authorised fetches.

`opencode_web/api.py` mounts them at the root paths. Reads are synchronous; what waits (a turn, an
abort, a stream) is asynchronous and holds neither a thread nor a database connection meanwhile.
"""
