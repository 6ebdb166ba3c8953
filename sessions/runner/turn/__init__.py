"""One provider turn: its request, and the stream of its answer."""
