"""What models want by their family, as data."""
