"""Language servers: programs that read a project and know what its code means.

They run in the session's sandbox, without network and with the worktree read-only, and only what is
installed there is started. `servers` says which server is for which file, `pool` starts and ends
them, `client` speaks to one, `workspace` is what tools use. A server runs code of the repository,
so everything it says is hostile: bounded, and never trusted with a path.
"""
