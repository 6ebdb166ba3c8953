"""Files that a session changed, and how they are restored."""
