"""What the steps of a turn came to: which files they changed, and what failed."""
