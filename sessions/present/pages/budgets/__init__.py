"""The budgets of a team and of the server as people read them: `page` is the whole of it."""
