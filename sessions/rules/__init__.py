"""Permission rules: where they come from, and those in force."""
