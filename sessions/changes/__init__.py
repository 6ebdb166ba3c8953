"""Which steps changed which files."""
