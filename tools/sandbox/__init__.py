"""Where commands run. `select.py` picks the sandbox; `bubblewrap.py` is the boundary."""
