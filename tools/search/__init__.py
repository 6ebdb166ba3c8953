"""Search engines, each behind one adapter: a question goes in, text for a model comes out."""
