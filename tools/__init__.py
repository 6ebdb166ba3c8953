"""What the model can do, and what it may do.

A call runs in this order: the registry parses the arguments, the tool resolves its paths beneath
the worktree, asks for permission, acts, and the registry bounds the output. Nothing happens before
the ask returns, so a call that was suspended for an answer can be run again from its start.

Two walls: the permission ruleset (`permissions.py`) is what a person sees; the sandbox
(`sandbox/`) is the boundary. This package knows no session and no provider: it meets
them through `context.ToolContext`.
"""
