"""Formatters: programs that put a changed file into the form that its project wants.

They run in the session's sandbox, over one file, and only what is installed there is called.
`table` has the known ones, `spec` says which are for a file, `run` calls them.
"""
