"""Language servers of worktrees: their rows, and those that run."""
