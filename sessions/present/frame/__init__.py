"""What stands around every session: the composer, choices, the rail."""
