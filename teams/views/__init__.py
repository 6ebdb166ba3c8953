"""Pages: parse, call an action, answer. The role in `request.access` decides what they show."""
