"""What the runner reads from the log and writes to it."""
