"""Permission rules of tool calls: their form, defaults and evaluation."""
