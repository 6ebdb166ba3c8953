"""Agents: named system instructions, a model and permission rules.

The built-in ones are the .md files here.
"""
