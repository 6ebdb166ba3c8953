"""What people see of the files of a Location: folders, contents, search, and what git says.

    file_scope.py   the folder, and which of its files the caller may read
    ask.py          have an operation done where the files are: here, or by a worker of their host
    listing.py  content.py  view.py  search.py  changes.py    the operations, each bounded

Everything in a worktree is hostile, names included: files are reached by `tools.paths` alone, and
git runs in its box. Nothing here changes a row.
"""
