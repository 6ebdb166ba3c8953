"""Git: its process and addresses, the sandboxed one, and the snapshots of worktrees."""
