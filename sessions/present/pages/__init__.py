"""What single pages and panels show."""
