"""Changed files: lists, diffs, comments, reverting."""
