"""JSON Schema as the vendors take it, a module for each dialect."""
