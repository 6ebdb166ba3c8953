"""The sandboxes of sessions and projects."""
