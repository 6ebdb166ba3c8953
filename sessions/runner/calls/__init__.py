"""Tool calls of a step: permission, context, sub-agents, questions."""
