"""The conversation: turns, tool calls, docks and the live blocks."""
