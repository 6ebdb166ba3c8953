"""One tool per module, under its wire name; the description for the model lies beside it."""
