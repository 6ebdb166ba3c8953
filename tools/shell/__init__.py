"""Shell lines, read before they run: what they call, and what that reaches."""
