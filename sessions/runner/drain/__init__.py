"""The loop: what comes next, and how a drain ends."""
