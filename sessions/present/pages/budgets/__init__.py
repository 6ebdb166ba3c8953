"""The budgets of a team and of the server as people read them, from `notices` to the whole `page`."""
