"""Shared sessions: who may see them, and what must not be in them."""
