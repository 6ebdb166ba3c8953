"""Leaf modules that every app may use. They import nothing of ours."""
