"""System Context: what the model is told beside the conversation, and when it is told that.

A Context Source watches one thing (the date, an instruction file, the agent). At each safe boundary
its value is observed and compared with what the model knows; `epoch.py` above this package keeps
that in the log. Rendering is pure: the same values give the same bytes, in whatever order and by
whichever worker they were observed.

`source.py`    what a source is; `registry.py` has all of them and puts their texts together
`documents.py` the renderers of sources that carry instruction files
`files.py`     reading such files from a hostile worktree, cached by stat
"""
