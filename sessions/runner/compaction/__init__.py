"""Summaries that take the place of old history."""
