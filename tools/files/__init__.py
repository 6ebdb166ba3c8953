"""Files as tools read, search and change them."""
