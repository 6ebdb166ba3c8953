"""Pages of the web as a model reads them."""
