"""Agents: named system instructions, a model and permission rules. Built-in ones are the .md files here."""
