"""Settings: their model, and what is in force for a project."""
